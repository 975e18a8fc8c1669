"""What follows a play: out, the next turn, a penalty and what may be put right."""

from __future__ import annotations

from majlis.engine.decider import Emitter
from majlis.engine.games.numbers.deals import emit_drawn, emit_if_stuck, emit_out
from majlis.engine.games.numbers.faults import (
    Fault,
    Judgement,
    right_answers,
)
from majlis.engine.games.numbers.scoring import bonus
from majlis.engine.games.numbers.state import (
    PENALTY,
    State,
)
from majlis.engine.vocabulary.numbers import (
    NumbersCalculate,
    NumbersCorrected,
    NumbersFaulted,
    NumbersGaveUp,
    NumbersKept,
    NumbersPlay,
    NumbersTurnEnded,
)


def emit_kept(emit: Emitter[State], seat: int) -> None:
    """The drawn card stays in the hand and the turn passes; or nobody can move any more (NUM-O35)."""
    emit(NumbersKept(seat=seat))
    emit_if_stuck(emit)


def emit_after_play(emit: Emitter[State], seat: int) -> None:
    """Out with the last card (NUM-O26); a bare joker passes the turn at once (NUM-O36)."""
    state = emit.state
    if not state.hands[seat]:
        emit_out(emit, seat)
    elif state.rights:
        emit(NumbersTurnEnded(seat=seat))


def emit_punished(
    emit: Emitter[State], seat: int, judgement: Judgement, cards: bytes, operations: bytes
) -> None:
    """What stays, stays; the rest goes back; three cards are drawn (NUM-32 to NUM-36, NUM-O6)."""
    emit(
        NumbersFaulted(
            seat=seat,
            fault=judgement.fault,
            cards=cards,
            operations=operations,
            stays=judgement.stays,
            correctable=judgement.asks,
        )
    )
    emit_drawn(emit, seat, PENALTY, penalty=True)
    if not judgement.asks:
        emit_turn_over(emit, seat, has_played=bool(judgement.stays))


def emit_turn_over(emit: Emitter[State], seat: int, *, has_played: bool) -> None:
    """NUM-O12: a punished play ends the turn."""
    state = emit.state
    if not state.hands[seat]:
        emit_out(emit, seat)
    elif not has_played or state.rights or state.frame.options.after_correction == "pass":
        emit(NumbersTurnEnded(seat=seat))
        emit_if_stuck(emit)


def emit_corrected(emit: Emitter[State], seat: int, cards: bytes, operations: bytes) -> None:
    """What puts the play right stays, the rest returns (NUM-36)."""
    counts = emit.state.frame.options.corrected_bonus == "yes"
    points = bonus(len(cards)) if counts else 0
    emit(NumbersCorrected(seat=seat, cards=cards, operations=operations, bonus=points))
    emit_turn_over(emit, seat, has_played=True)


def emit_given_up(emit: Emitter[State], state: State, seat: int, tried: NumbersCalculate) -> None:
    """Without a right answer all cards return; where several would do, the first stays (NUM-O9, NUM-O10)."""
    if state.fault is Fault.WRONG_RESULT:
        emit(NumbersGaveUp(seat=seat, cards=tried.cards, operations=tried.operations))
        emit_turn_over(emit, seat, has_played=False)
        return
    first = next(iter(right_answers(state)))
    if isinstance(first, NumbersPlay):
        emit_corrected(emit, seat, bytes([first.card]), b"")
    elif isinstance(first, NumbersCalculate):
        emit_corrected(emit, seat, first.cards, first.operations)
