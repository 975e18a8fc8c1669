"""What a director, or the lobby for one, may do to a match."""

from __future__ import annotations

from typing import Final

from majlis.engine.match.clock import check_running_clock
from majlis.engine.match.evolve import Draft
from majlis.engine.match.flow import end, reject, start_when_complete
from majlis.engine.match.seats import existing, not_yours
from majlis.engine.match.state import ABSENT, SUBSTITUTED, Act
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    Controller,
    MatchPaused,
    MatchResumed,
    Pause,
    Resume,
    SeatTakenOver,
    SubstituteComputer,
    Termination,
)
from majlis.engine.vocabulary.rejection import RejectionCode

REASON_MAX: Final = 200
"""Characters of a director's reason."""


def pause(draft: Draft, _act: Act, command: Pause) -> None:
    """Time stands still, and nobody may move."""
    _check_reason(command.reason, required=False)
    check_running_clock(draft.state)
    draft(MatchPaused(at_ms=draft.at_ms, reason=command.reason))


def resume(draft: Draft, _act: Act, command: Resume) -> None:
    """Time goes on: the running deadline has moved by the length of the pause."""
    _check_reason(command.reason, required=False)
    if not draft.state.paused:
        raise reject(RejectionCode.MATCH_NOT_PAUSED, "the match is not paused", "Nothing is to be done.")
    draft(MatchResumed(at_ms=draft.at_ms))
    start_when_complete(draft)


def adjudicate(draft: Draft, _act: Act, command: Adjudicate) -> None:
    """The director decides the match."""
    places = command.places
    _check_reason(command.reason, required=True)
    fair = tuple(1 + sum(other < place for other in places) for place in places)
    if len(places) != len(draft.state.seats) or places != fair:
        raise reject(
            RejectionCode.MALFORMED,
            f"{list(places)} are no places of {len(draft.state.seats)} seats",
            "Give each seat one more than the number of seats before it, e.g. 1 2 2 4.",
        )
    end(draft, Termination.ADJUDICATED, places, reason=command.reason)


def abort(draft: Draft, _act: Act, command: Abort) -> None:
    """The match ends without a result."""
    _check_reason(command.reason, required=True)
    end(draft, Termination.ABORTED, reason=command.reason)


def substitute(draft: Draft, _act: Act, command: SubstituteComputer) -> None:
    """The computer plays a person's seat until the director gives it back (no-show, withdrawal)."""
    _check_reason(command.reason, required=True)
    seat = draft.state.seats[existing(draft.state, command.seat)]
    if seat.holder is not Controller.PERSON or seat.away not in ("", ABSENT):
        raise not_yours(draft.state, command.seat)
    draft(SeatTakenOver(seat=command.seat, reason=SUBSTITUTED))
    start_when_complete(draft)


def _check_reason(reason: str, *, required: bool) -> None:
    if required and not reason.strip():
        raise reject(RejectionCode.REASON_REQUIRED, "no reason is given", "Say why, in a few words.")
    if len(reason) > REASON_MAX:
        raise reject(
            RejectionCode.TOO_LARGE, f"a reason of {len(reason)} characters", f"Use at most {REASON_MAX}."
        )
