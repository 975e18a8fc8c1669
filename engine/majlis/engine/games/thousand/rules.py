"""What each command causes. The checks are those of `legal`: what is listed there is what is accepted here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from majlis.engine.decider import Emitter, Rejected
from majlis.engine.games.thousand.cards import CARDS, MARRIAGES, POINTS, SUIT_OF, card_name
from majlis.engine.games.thousand.deals import emit_after_answers, emit_auction, emit_end
from majlis.engine.games.thousand.evolve import evolve
from majlis.engine.games.thousand.legal import (
    best_of,
    bid_range,
    contract_range,
    declares,
    may_request,
    playable,
    waiting,
)
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    GIVE_LEFT,
    GIVE_RIGHT,
    LEFT,
    NOT_STARTED,
    OVER,
    REDEAL,
    SEATS,
    TRICK,
    UNANSWERED,
    State,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.thousand import (
    ThousandBid,
    ThousandBidMade,
    ThousandCardGiven,
    ThousandCardPlayed,
    ThousandContract,
    ThousandContractFixed,
    ThousandDeclineRedeal,
    ThousandGive,
    ThousandMarriageDeclared,
    ThousandPass,
    ThousandPassed,
    ThousandPhase,
    ThousandPlay,
    ThousandRedealDeclined,
    ThousandRedealRequested,
    ThousandRequestRedeal,
    ThousandTrickTaken,
)

_ASKED: Final = {
    NOT_STARTED: "Wait for the first deal.",
    REDEAL: "Decline a new deal, or ask for it where the hand entitles you.",
    AUCTION: "Bid or pass.",
    GIVE_LEFT: "Give a card to the left.",
    GIVE_RIGHT: "Give a card to the right.",
    CONTRACT: "Fix the contract.",
    TRICK: "Play a card.",
    OVER: "The match has ended.",
}


def decide(state: State, seat: int, command: Command) -> Emitter[State]:
    """The events the command causes, and the state they lead to; raises Rejected."""
    decide_one = _DECIDERS.get(type(command))
    if decide_one is None:
        raise Rejected(
            RejectionCode.WRONG_PHASE, "that is not a command of Thousand", "Send one that is legal now."
        )
    if seat != state.turn and seat not in waiting(state):
        raise Rejected(
            RejectionCode.NOT_YOUR_TURN, f"seat {seat} has nothing to decide now", "Wait for your turn."
        )
    emit = Emitter(evolve, state)
    decide_one(emit, state, seat, command)
    return emit


def _require(state: State, *phases: ThousandPhase) -> None:
    if state.phase not in phases:
        asked = _ASKED[state.phase]
        raise Rejected(RejectionCode.WRONG_PHASE, "that is not what is to be decided now", asked)


def _illegal(detail: str, remedy: str) -> NoReturn:
    raise Rejected(RejectionCode.ILLEGAL_MOVE, detail, remedy)


def _require_card(state: State, seat: int, card: int) -> None:
    if not 0 <= card < CARDS:
        raise Rejected(RejectionCode.MALFORMED, f"there is no card {card}", "Cards are numbered 0 to 23.")
    if not state.hands[seat] >> card & 1:
        _illegal(f"seat {seat} does not hold {card_name(card)}", "Choose a card of your hand.")


def _request_redeal(emit: Emitter[State], state: State, seat: int, _command: ThousandRequestRedeal) -> None:
    """THO-6: hidden until all have answered (THO-O12)."""
    _require(state, REDEAL)
    if not may_request(state, seat):
        _illegal("this hand does not entitle you to a new deal", "Decline.")
    emit(ThousandRedealRequested(seat=seat))
    _emit_if_answered(emit)


def _decline_redeal(emit: Emitter[State], state: State, seat: int, _command: ThousandDeclineRedeal) -> None:
    _require(state, REDEAL)
    emit(ThousandRedealDeclined(seat=seat))
    _emit_if_answered(emit)


def _emit_if_answered(emit: Emitter[State]) -> None:
    if UNANSWERED not in emit.state.frame.answers:
        emit_after_answers(emit)


def _bid(emit: Emitter[State], state: State, seat: int, command: ThousandBid) -> None:
    """THO-8, THO-10."""
    _require(state, AUCTION)
    amount, (least, most) = command.amount, bid_range(state, seat)
    if not least:
        _illegal("your limit does not exceed the bid that stands", "Pass.")
    _require_amount(state, amount, least, most)
    emit(ThousandBidMade(seat=seat, amount=amount))
    emit_auction(emit)


def _pass(emit: Emitter[State], state: State, seat: int, _command: ThousandPass) -> None:
    """THO-8."""
    _require(state, AUCTION)
    emit(ThousandPassed(seat=seat))
    emit_auction(emit)


def _require_amount(state: State, amount: int, least: int, most: int) -> None:
    step = state.frame.options.bid_step
    if not least <= amount <= most or (amount - least) % step:
        _illegal(f"{amount} cannot be named now", f"Name {least} to {most} in steps of {step}.")


def _give(emit: Emitter[State], state: State, seat: int, command: ThousandGive) -> None:
    """THO-13: to the left first, then to the right."""
    _require(state, GIVE_LEFT, GIVE_RIGHT)
    _require_card(state, seat, command.card)
    receiver = LEFT[seat] if state.phase is GIVE_LEFT else LEFT[LEFT[seat]]
    emit(ThousandCardGiven(seat=seat, receiver=receiver, card=command.card))


def _contract(emit: Emitter[State], state: State, seat: int, command: ThousandContract) -> None:
    """THO-14, THO-15. The declarer leads the first trick (THO-16)."""
    _require(state, CONTRACT)
    least, most = contract_range(state, seat)
    _require_amount(state, command.amount, least, most)
    emit(ThousandContractFixed(seat=seat, amount=command.amount))


def _play(emit: Emitter[State], state: State, seat: int, command: ThousandPlay) -> None:
    """THO-17 to THO-27; after the eighth trick the deal is scored."""
    if state.phase is not TRICK:
        _require(state, TRICK)
    card = command.card
    if not 0 <= card < CARDS or not playable(state, seat) >> card & 1:
        _require_card(state, seat, card)
        _refuse_card(state, seat, card)
    declared = not state.trick and declares(state, seat, card)
    if command.undeclared:
        if not declared or state.frame.options.marriage_declaration == "automatic":
            _illegal("there is no marriage to leave undeclared", "Play the card without saying so.")
        declared = False
    emit(ThousandCardPlayed(seat=seat, card=card))
    if declared:
        suit = SUIT_OF[card]
        emit(ThousandMarriageDeclared(seat=seat, suit=suit, points=MARRIAGES[suit]))
    if len(state.trick) == SEATS - 1:
        trick = emit.state.trick
        best = best_of(trick, state.trump)
        taker = (state.leader + trick.index(best)) % SEATS
        emit(ThousandTrickTaken(seat=taker, points=sum([POINTS[each] for each in trick])))
        if emit.state.turn is None:
            emit_end(emit)


def _refuse_card(state: State, seat: int, card: int) -> NoReturn:
    if not state.trick:
        _illegal("a pair is not led in the first trick (first_trick_pair_lead)", "Lead another card.")
    suit = SUIT_OF[state.trick[0]]
    if SUIT_OF[card] == suit:
        _illegal(f"{card_name(card)} does not go over, and you hold a card that does", "Play a higher card.")
    if any(SUIT_OF[held] == suit for held in range(CARDS) if state.hands[seat] >> held & 1):
        _illegal("the suit must be followed", "Play a card of the suit that was led.")
    _illegal(
        "without the suit you trump, and go over a trump where you can",
        "Play a trump, a higher one if you hold it.",
    )


_DECIDERS: Final[dict[type, Callable[[Emitter[State], State, int, Any], None]]] = {
    ThousandRequestRedeal: _request_redeal,
    ThousandDeclineRedeal: _decline_redeal,
    ThousandBid: _bid,
    ThousandPass: _pass,
    ThousandGive: _give,
    ThousandContract: _contract,
    ThousandPlay: _play,
}
