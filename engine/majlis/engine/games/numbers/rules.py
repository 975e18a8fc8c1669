"""What each command causes. A play that breaks a rule of the calculation is accepted and punished (NUM-O1); what is not even a
play is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from majlis.engine.decider import Emitter, Rejected
from majlis.engine.games.numbers.aftermath import (
    emit_after_play,
    emit_corrected,
    emit_given_up,
    emit_kept,
    emit_punished,
)
from majlis.engine.games.numbers.checks import (
    UNFIT,
    check_again,
    check_calculate,
    check_draw,
    check_end,
    check_give_up,
    check_joker,
    check_keep,
    check_play,
    judged,
)
from majlis.engine.games.numbers.deals import can_draw, emit_drawn, emit_out
from majlis.engine.games.numbers.evolve import evolve
from majlis.engine.games.numbers.faults import (
    FAULTLESS,
    fits,
    is_right,
    judge_joker,
)
from majlis.engine.games.numbers.legal import may_keep
from majlis.engine.games.numbers.scoring import bonus
from majlis.engine.games.numbers.state import (
    CORRECTION,
    OVER,
    TURN,
    State,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersAgainPlayed,
    NumbersCalculate,
    NumbersCalculated,
    NumbersDraw,
    NumbersEnd,
    NumbersGiveUp,
    NumbersJoker,
    NumbersJokerPlayed,
    NumbersKeep,
    NumbersPlay,
    NumbersPlayed,
    NumbersTurnEnded,
)
from majlis.engine.vocabulary.rejection import RejectionCode

_PUNISHED: Final = NumbersCalculate(cards=b"", operations=b"")


def decide(state: State, seat: int, command: Command) -> Emitter[State]:
    """The events the command causes, and the state they lead to; raises Rejected."""
    emit = Emitter(evolve, state)
    _accepted(state, seat, command)(emit, state, seat, command)
    return emit


def is_accepted(state: State, seat: int, command: Any) -> bool:
    """Whether `decide` would take the command, be it to punish it."""
    try:
        _accepted(state, seat, command)
    except Rejected:
        return False
    return True


Step = Callable[[Emitter[State], State, int, Any], None]


def _accepted(state: State, seat: int, command: Any) -> Step:
    """How the command is carried out; raises Rejected where it is none."""
    rule = _RULES.get(type(command))
    if rule is None:
        raise Rejected(
            RejectionCode.WRONG_PHASE, "that is not a command of Numbers", "Send one that is legal now."
        )
    if seat != state.turn or not TURN <= state.phase < OVER:
        raise Rejected(
            RejectionCode.NOT_YOUR_TURN, f"seat {seat} has nothing to decide now", "Wait for your turn."
        )
    check, step = rule
    check(state, seat, command)
    return step


def _play(emit: Emitter[State], state: State, seat: int, command: NumbersPlay) -> None:
    card = command.card
    if state.phase is CORRECTION:
        emit_corrected(emit, seat, bytes([card]), b"")
    elif fits(state, card):
        emit(NumbersPlayed(seat=seat, card=card))
        emit_after_play(emit, seat)
    else:
        emit_punished(emit, seat, UNFIT, bytes([card]), b"")


def _calculate(emit: Emitter[State], state: State, seat: int, command: NumbersCalculate) -> None:
    cards, operations = command.cards, command.operations
    if state.phase is CORRECTION:
        _correct(emit, state, seat, command)
        return
    judgement = judged(state, seat, command)
    if judgement.fault:
        emit_punished(emit, seat, judgement, cards, operations)
        return
    emit(NumbersCalculated(seat=seat, cards=cards, operations=operations, bonus=bonus(len(cards))))
    emit_after_play(emit, seat)


def _correct(emit: Emitter[State], state: State, seat: int, command: NumbersCalculate) -> None:
    """NUM-36, NUM-O28: one try."""
    if is_right(state, command.cards, command.operations):
        emit_corrected(emit, seat, command.cards, command.operations)
    else:
        emit_given_up(emit, state, seat, command)


def _joker(emit: Emitter[State], state: State, seat: int, command: NumbersJoker) -> None:
    joker, cover = command.joker, command.cover
    judgement = UNFIT if state.rights else judge_joker(state, joker, cover)
    if judgement is not FAULTLESS:
        thrown = bytes([joker]) if cover is None else bytes([joker, cover])
        emit_punished(emit, seat, judgement, thrown, b"")
        return
    emit(NumbersJokerPlayed(seat=seat, joker=joker, cover=cover))
    emit_after_play(emit, seat)


def _again(emit: Emitter[State], state: State, seat: int, _command: NumbersAgain) -> None:
    """NUM-30: as the last card it obliges to draw, unless nothing can be drawn (NUM-O15)."""
    emit(NumbersAgainPlayed(seat=seat))
    after = emit.state
    is_last = not after.hands[seat] and after.frame.options.last_again == "out"
    if is_last and (may_keep(after) or not can_draw(after)):
        emit_out(emit, seat)


def _draw(emit: Emitter[State], _state: State, seat: int, command: NumbersDraw) -> None:
    emit_drawn(emit, seat, 1, penalty=False)
    if command.keep:
        emit_kept(emit, seat)


def _keep(emit: Emitter[State], _state: State, seat: int, _command: NumbersKeep) -> None:
    emit_kept(emit, seat)


def _end(emit: Emitter[State], _state: State, seat: int, _command: NumbersEnd) -> None:
    emit(NumbersTurnEnded(seat=seat))


def _give_up(emit: Emitter[State], state: State, seat: int, _command: NumbersGiveUp) -> None:
    emit_given_up(emit, state, seat, _PUNISHED)


Check = Callable[[State, int, Any], None]
_RULES: Final[dict[type, tuple[Check, Step]]] = {
    NumbersPlay: (check_play, _play),
    NumbersCalculate: (check_calculate, _calculate),
    NumbersJoker: (check_joker, _joker),
    NumbersAgain: (check_again, _again),
    NumbersDraw: (check_draw, _draw),
    NumbersKeep: (check_keep, _keep),
    NumbersEnd: (check_end, _end),
    NumbersGiveUp: (check_give_up, _give_up),
}
