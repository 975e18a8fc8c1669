"""The clock's commands: deadlines that have passed, and time that nobody could use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from majlis.engine.decider import Emitter, Game, Rejected
from majlis.engine.match.evolve import MATCH_COMMANDS, Draft
from majlis.engine.match.flow import game_of, miss, reject, settle, start_when_complete, waiting_for
from majlis.engine.match.state import ABSENT, SEATING, Act, MatchState
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import Command, Observed
from majlis.engine.vocabulary.match import (
    ClockCredited,
    CreditClock,
    DeadlinePassed,
    SeatMove,
    SeatTakenOver,
)
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import decode_command, seal_command


def check_running_clock(state: MatchState) -> None:
    """Raises Rejected(MATCH_PAUSED) where time stands still."""
    if state.paused:
        raise reject(RejectionCode.MATCH_PAUSED, "the match is paused", "Wait until the director resumes it.")


def check_current(state: MatchState, decision_id: int) -> None:
    """Whether this is the last decision opened. Raises Rejected (MATCH_PAUSED, STALE_ or UNKNOWN_DECISION)."""
    check_running_clock(state)
    current = state.decision.decision_id if state.decision is not None else 0
    if decision_id == current and current:
        return
    # The seating comes before the game's decisions, which count from 1.
    if 0 < decision_id < current != SEATING or (decision_id == SEATING and state.started):
        raise reject(
            RejectionCode.STALE_DECISION, f"decision {decision_id} is closed", "Look at the newest view."
        )
    raise reject(
        RejectionCode.UNKNOWN_DECISION,
        f"decision {decision_id} was never open",
        "Name the decision_id of the newest view.",
    )


def moves_for_silent(state: MatchState, by_computer: Mapping[int, Command]) -> DeadlinePassed:
    """The command of the clock for the open decision: for each silent seat the computer's move where one is given
    and legal, the game's fallback otherwise."""
    moves: list[SeatMove] = []
    if state.started:
        game, game_state = game_of(state), state.game_state
        for seat in waiting_for(state):
            chosen = by_computer.get(seat)
            emitted = _tried(game, game_state, seat, chosen, state.last_ms) if chosen is not None else None
            move = chosen if chosen is not None and emitted is not None else game.fallback(game_state, seat)
            emitted = emitted or _tried(game, game_state, seat, move, state.last_ms)
            game_state = emitted.state if emitted is not None else game_state
            moves.append(SeatMove(seat=seat, command=seal_command(move), by_computer=move is chosen))
    return DeadlinePassed(moves=tuple(moves))


def _tried(game: Game[Any], game_state: Any, seat: int, move: Command, at_ms: int) -> Emitter[Any] | None:
    try:
        return game.decide(game_state, seat, move, Observed(received_at_ms=at_ms))
    except Rejected:
        return None


def deadline_passed(draft: Draft, act: Act, command: DeadlinePassed) -> None:
    """The open decision's time is over: what the command brings is done for every silent seat."""
    state = draft.state
    check_current(state, act.decision_id)
    due_ms = state.decision.due_ms if state.decision is not None else 0
    if not due_ms or draft.at_ms < due_ms:
        raise reject(
            RejectionCode.NOT_DUE, f"decision {act.decision_id} is open until {due_ms}", "Wait until then."
        )
    silent = waiting_for(state)
    if state.started:
        game = game_of(state)
        deal_before = game.deal(state.game_state)
        _move(draft, game, command.moves, silent, act.observed)
        settle(draft, game, deal_before)
        return
    if command.moves:
        raise reject(RejectionCode.MALFORMED, "nobody moves before the match has started", "Send no moves.")
    for seat in silent:
        draft(SeatTakenOver(seat=seat, reason=ABSENT))
    start_when_complete(draft)


def _move(
    draft: Draft, game: Game[Any], moves: tuple[SeatMove, ...], silent: tuple[int, ...], observed: Observed
) -> None:
    if tuple(move.seat for move in moves) != silent:
        raise reject(
            RejectionCode.MALFORMED,
            f"moves for seats {[move.seat for move in moves]}, silent are {list(silent)}",
            "Give one move for each silent seat, in the decision's order.",
        )
    deadline = game.deadline(draft.state.game_state)
    is_offer = deadline is not None and deadline.optional
    for move in moves:
        try:
            command = decode_command(move.command)
        except Unreadable as error:
            raise reject(
                RejectionCode.MALFORMED, str(error), "Give a command that this version knows."
            ) from error
        if type(command) in MATCH_COMMANDS:
            raise reject(
                RejectionCode.MALFORMED, "a move for a silent seat is no move", "Give a command of the game."
            )
        if not is_offer:
            miss(draft, move.seat)
        draft.take(game.decide(draft.state.game_state, move.seat, command, observed))


def credit(draft: Draft, _act: Act, command: CreditClock) -> None:
    """Time that was lost to the platform, not to the players: the running deadline moves by it."""
    check_running_clock(draft.state)
    if not 0 <= command.from_ms <= command.to_ms <= draft.at_ms:
        raise reject(
            RejectionCode.MALFORMED,
            f"credit from {command.from_ms} to {command.to_ms} at {draft.at_ms}",
            "Give a span that ends now or before.",
        )
    draft(ClockCredited(from_ms=command.from_ms, to_ms=command.to_ms, cause=command.cause))
