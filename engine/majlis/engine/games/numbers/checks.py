"""What is refused: no play at all, or not now. A play that is one, but faulty, passes here and is punished (NUM-O1)."""

from __future__ import annotations

from typing import Final, NoReturn

from majlis.engine.decider import Rejected
from majlis.engine.games.numbers.arithmetic import ALLOWED
from majlis.engine.games.numbers.cards import (
    AGAIN as AGAIN_CARD,
)
from majlis.engine.games.numbers.cards import (
    CARDS,
    CHANGE_NUMBER,
    CHANGERS,
    NAME_OF,
    contains,
)
from majlis.engine.games.numbers.faults import (
    FAULTLESS,
    Fault,
    Judgement,
    fits,
    judge_calculation,
    judge_joker,
    right_answers,
)
from majlis.engine.games.numbers.legal import PLAYS, may_again, may_draw, may_keep
from majlis.engine.games.numbers.state import (
    AGAIN,
    CORRECTION,
    DREW,
    DREW_AGAIN,
    NOTHING,
    PLAYED,
    TURN,
    State,
)
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersCalculate,
    NumbersDraw,
    NumbersEnd,
    NumbersGiveUp,
    NumbersJoker,
    NumbersKeep,
    NumbersPlay,
)
from majlis.engine.vocabulary.rejection import RejectionCode

_ASKED: Final = {
    TURN: "Play, or draw a card.",
    DREW: "Play the card drawn, or keep it.",
    PLAYED: "Put down the joker play-again, or end your turn.",
    AGAIN: "Play on the card under the joker, or draw a card.",
    DREW_AGAIN: "Play the card drawn, or keep it.",
    CORRECTION: "Put the play right with the cards thrown, or give up.",
}


def wrong_phase(state: State) -> NoReturn:
    """Refuses a command that this phase does not ask for."""
    raise Rejected(RejectionCode.WRONG_PHASE, "that is not what is to be decided now", _ASKED[state.phase])


def _illegal(detail: str, remedy: str) -> NoReturn:
    raise Rejected(RejectionCode.ILLEGAL_MOVE, detail, remedy)


def _malformed(detail: str, remedy: str) -> NoReturn:
    raise Rejected(RejectionCode.MALFORMED, detail, remedy)


def _require_play(state: State, seat: int, cards: bytes) -> None:
    """These cards may be played in this phase: they are held, and the drawn one is among them (NUM-O3)."""
    if state.phase is PLAYED:
        wrong_phase(state)
    if not contains(state.hands[seat], cards):
        _illegal(f"seat {seat} does not hold these cards", "Play cards of your hand.")
    if state.drawn != NOTHING and state.drawn not in cards:
        _illegal("the play must contain the card drawn", f"Play {NAME_OF[state.drawn]}, or keep it.")


def _require_card(card: int) -> None:
    if not 0 <= card < CARDS:
        _malformed(f"there is no card {card}", f"Cards are numbered 0 to {CARDS - 1}.")


def _refuse_if_blocked(state: State, judgement: Judgement, unfit: bool = False) -> None:
    """NUM-O1, NUM-O31: without penalties a faulty play is refused."""
    if judgement.fault and state.frame.options.penalties == "off":
        _illegal("the play is faulty, and this match has no penalties", "Choose another play.")
    if unfit and state.frame.options.unfit_plays == "refuse":
        _illegal("that cannot be played on this card", "Play a card that fits, calculate, or draw.")


UNFIT: Final = Judgement(Fault.NOT_COMPATIBLE)


def check_play(state: State, seat: int, command: NumbersPlay) -> None:
    """NUM-11; on a bare joker NUM-25."""
    card = command.card
    _require_card(card)
    if state.phase is CORRECTION:
        if state.fault is not Fault.COMPATIBLE or PLAYS[card] not in right_answers(state):
            _illegal("that does not put the play right", _ASKED[CORRECTION])
        return
    _require_play(state, seat, bytes([card]))
    if card >= CHANGE_NUMBER:
        _malformed("a joker is not played as a number card", "Name it as a joker.")
    if not fits(state, card):
        _refuse_if_blocked(state, UNFIT, unfit=True)


def check_calculate(state: State, seat: int, command: NumbersCalculate) -> None:
    """Only what is wrong beyond a fault: see `faults`."""
    cards, operations = command.cards, command.operations
    if len(cards) < 2 or len(operations) != len(cards) - 1:
        _malformed("a calculation has two cards or more, and an operation between any two", "Send it so.")
    if max(cards) >= CARDS or max(operations) > 3:
        _malformed("there is no such card or operation", "Cards are 0 to 33, operations 0 to 3.")
    if not set(operations) <= set(ALLOWED[state.frame.options.operations]):
        _illegal("this match does not allow that operation", "Use the operations that are allowed.")
    if state.phase is CORRECTION:
        if state.fault is Fault.COMPATIBLE or not contains(state.thrown, cards):
            _illegal("a correction uses the cards thrown", _ASKED[CORRECTION])
        return
    _require_play(state, seat, cards)
    is_blocking = state.frame.options.penalties == "off"
    judgement = judged(state, seat, command) if is_blocking else FAULTLESS
    _refuse_if_blocked(state, judgement, unfit=_is_unfit(state, cards))


def _is_unfit(state: State, cards: bytes) -> bool:
    """NUM-O17, NUM-O31: on a bare joker nothing is calculated, and a joker has no number."""
    return bool(state.rights) or max(cards) >= CHANGE_NUMBER


def judged(state: State, seat: int, command: NumbersCalculate) -> Judgement:
    """The judgement of a calculation, or of what is none."""
    if _is_unfit(state, command.cards):
        return UNFIT
    return judge_calculation(state, seat, command.cards, command.operations)


def check_joker(state: State, seat: int, command: NumbersJoker) -> None:
    """NUM-22 to NUM-27; what NUM-35 punishes is judged in `faults`."""
    joker, cover = command.joker, command.cover
    _require_card(joker)
    cards = bytes([joker])
    if cover is not None:
        _require_card(cover)
        cards += bytes([cover])
    if joker not in CHANGERS:
        _malformed(f"{NAME_OF[joker]} is no joker that changes a number or a picture", "Name one that does.")
    if state.phase is CORRECTION:
        wrong_phase(state)
    _require_play(state, seat, cards)
    options = state.frame.options
    if cover == AGAIN_CARD:
        _illegal(
            "the joker play-again covers nothing", "Cover the joker with a number card, or leave it bare."
        )
    if state.phase in (AGAIN, DREW_AGAIN) and options.again_chain == "forbid":
        _illegal("no other joker follows the joker play-again", _ASKED[state.phase])
    if state.rights:
        _refuse_if_blocked(state, UNFIT, unfit=True)
    else:
        _refuse_if_blocked(state, judge_joker(state, joker, cover))


def check_again(state: State, seat: int, _command: NumbersAgain) -> None:
    """NUM-28, NUM-31."""
    if state.phase is CORRECTION:
        wrong_phase(state)
    if not may_again(state, seat):
        _illegal("the joker play-again cannot be played now", _ASKED[state.phase])


def check_draw(state: State, seat: int, command: NumbersDraw) -> None:
    """NUM-8, NUM-29. To draw and keep unseen is what a silent seat does: always possible (NUM-O27)."""
    if state.phase not in (TURN, AGAIN) or (command.keep and may_keep(state)):
        wrong_phase(state)
    if not command.keep and not may_draw(state, seat):
        _illegal("a card may not be drawn now", "Play, or keep what was drawn.")


def check_keep(state: State, _seat: int, _command: NumbersKeep) -> None:
    """Only what was drawn can be kept."""
    if not may_keep(state):
        wrong_phase(state)


def check_end(state: State, _seat: int, _command: NumbersEnd) -> None:
    """NUM-O36: only after a play."""
    if state.phase is not PLAYED:
        wrong_phase(state)


def check_give_up(state: State, _seat: int, _command: NumbersGiveUp) -> None:
    """Only where a correction is asked for."""
    if state.phase is not CORRECTION:
        wrong_phase(state)
