"""Events folded into the state: total and silent. What an event means is decided in `rules`, not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.games.thousand.cards import BIT, ONE, set_of
from majlis.engine.games.thousand.scoring import attempts_after, is_over, line
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    DECLINED,
    GIVE_LEFT,
    GIVE_RIGHT,
    HAND,
    LEFT,
    NOBODY,
    OVER,
    REDEAL,
    REQUESTED,
    SEATS,
    TRICK,
    State,
    put,
)
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.thousand import (
    ThousandBidMade,
    ThousandCardGiven,
    ThousandCardPlayed,
    ThousandContractFixed,
    ThousandDealerDrawn,
    ThousandDealScored,
    ThousandDealt,
    ThousandMarriageDeclared,
    ThousandPassed,
    ThousandRedealDeclined,
    ThousandRedealGranted,
    ThousandRedealRequested,
    ThousandTalonTaken,
    ThousandTrickTaken,
)


def evolve(state: State, event: Event) -> State:
    """The state after the event; events of other kinds leave it as it is."""
    fold = _FOLDS.get(type(event))
    return state if fold is None else fold(state, event)


def _dealer_drawn(state: State, event: ThousandDealerDrawn) -> State:
    return replace(state, frame=replace(state.frame, dealer=event.dealer))


def _dealt(state: State, event: ThousandDealt) -> State:
    order, frame = event.order, state.frame
    first, second, third, talon = [set_of(order[i : i + HAND]) for i in range(0, HAND * SEATS + 1, HAND)]
    frame = replace(
        frame,
        deal=event.deal,
        redeals=event.redeals,
        dealer=event.dealer,
        shown=frame.shown if event.redeals else None,
        answers=NOBODY,
        bids=NOBODY,
        passed=0,
        declarer=None,
        bid=0,
        contract=0,
        shown_talon=0,
        given=(),
    )
    return State(frame, REDEAL, state.decision_id + 1, hands=(first, second, third), talon=talon)


def _redeal_requested(state: State, event: ThousandRedealRequested) -> State:
    return _answered(state, event.seat, REQUESTED)


def _redeal_declined(state: State, event: ThousandRedealDeclined) -> State:
    return _answered(state, event.seat, DECLINED)


def _answered(state: State, seat: int, answer: int) -> State:
    return replace(state, frame=replace(state.frame, answers=put(state.frame.answers, seat, answer)))


def _redeal_granted(state: State, event: ThousandRedealGranted) -> State:
    return replace(state, frame=replace(state.frame, shown=event))


def _bid_made(state: State, event: ThousandBidMade) -> State:
    frame, seat = state.frame, event.seat
    frame = replace(frame, bid=event.amount, bids=put(frame.bids, seat, event.amount))
    return _next_bidder(replace(state, frame=frame, phase=AUCTION), seat)


def _passed(state: State, event: ThousandPassed) -> State:
    frame = replace(state.frame, passed=state.frame.passed | 1 << event.seat)
    return _next_bidder(replace(state, frame=frame), event.seat)


def _next_bidder(state: State, seat: int) -> State:
    """The next seat that has not passed; nobody when only one is left, who is the declarer (THO-9)."""
    passed = state.frame.passed
    if passed.bit_count() == SEATS - 1:
        return replace(state, turn=None)
    turn = LEFT[seat]
    if passed >> turn & 1:
        turn = LEFT[turn]
    return replace(state, turn=turn, decision_id=state.decision_id + 1)


def _talon_taken(state: State, event: ThousandTalonTaken) -> State:
    seat, cards = event.seat, set_of(event.cards)
    return replace(
        state,
        frame=replace(state.frame, declarer=seat, bid=event.bid, shown_talon=cards),
        phase=GIVE_LEFT,
        decision_id=state.decision_id + 1,
        turn=seat,
        hands=put(state.hands, seat, state.hands[seat] | cards),
        talon=0,
    )


def _card_given(state: State, event: ThousandCardGiven) -> State:
    bit, hands = BIT[event.card], state.hands
    hands = put(hands, event.seat, hands[event.seat] & ~bit)
    return replace(
        state,
        frame=replace(state.frame, given=(*state.frame.given, event.card)),
        phase=GIVE_RIGHT if state.phase is GIVE_LEFT else CONTRACT,
        decision_id=state.decision_id + 1,
        hands=put(hands, event.receiver, hands[event.receiver] | bit),
    )


def _contract_fixed(state: State, event: ThousandContractFixed) -> State:
    return replace(
        state,
        frame=replace(state.frame, contract=event.amount),
        phase=TRICK,
        decision_id=state.decision_id + 1,
        leader=event.seat,
    )


def _card_played(state: State, event: ThousandCardPlayed) -> State:
    """The next seat's decision opens, unless the trick is complete."""
    seat, card, hands, trick = event.seat, event.card, state.hands, state.trick
    last = len(trick) == SEATS - 1
    return State(
        state.frame,
        state.phase,
        state.decision_id if last else state.decision_id + 1,
        None if last else LEFT[seat],
        put(hands, seat, hands[seat] & ~BIT[card]),
        0,
        state.leader,
        trick + ONE[card],
        state.trump,
        state.tricks,
        state.won,
        state.declared,
        state.last_trick,
        state.last_leader,
    )


def _marriage_declared(state: State, event: ThousandMarriageDeclared) -> State:
    suit = event.suit
    return replace(state, trump=suit, declared=state.declared + bytes([event.seat * 4 + suit]))


def _trick_taken(state: State, event: ThousandTrickTaken) -> State:
    """Who took it leads the next; after the eighth nobody does."""
    seat, won = event.seat, state.won
    over = state.tricks == 7
    return State(
        state.frame,
        state.phase,
        state.decision_id if over else state.decision_id + 1,
        None if over else seat,
        state.hands,
        0,
        seat,
        b"",
        state.trump,
        state.tricks + 1,
        put(won, seat, won[seat] | set_of(state.trick)),
        state.declared,
        state.trick,
        state.leader,
    )


def _deal_scored(state: State, event: ThousandDealScored) -> State:
    frame = state.frame
    first, second, third = event.scores
    frame = replace(
        frame,
        scores=(first, second, third),
        attempts=attempts_after(frame.options, frame.attempts, frame.scores, event.scores),
        sheet=frame.sheet + line(event),
        last=event,
    )
    return replace(
        state, frame=frame, phase=OVER if is_over(frame.options, event.deal, event.scores) else state.phase
    )


_FOLDS: Final[dict[type, Callable[[State, Any], State]]] = {
    ThousandDealerDrawn: _dealer_drawn,
    ThousandDealt: _dealt,
    ThousandRedealRequested: _redeal_requested,
    ThousandRedealDeclined: _redeal_declined,
    ThousandRedealGranted: _redeal_granted,
    ThousandBidMade: _bid_made,
    ThousandPassed: _passed,
    ThousandTalonTaken: _talon_taken,
    ThousandCardGiven: _card_given,
    ThousandContractFixed: _contract_fixed,
    ThousandCardPlayed: _card_played,
    ThousandMarriageDeclared: _marriage_declared,
    ThousandTrickTaken: _trick_taken,
    ThousandDealScored: _deal_scored,
}
