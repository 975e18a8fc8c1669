"""What becomes of commands: answers, and the refusals that are the table's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec import Struct
from prometheus_client import Counter

from majlis.chassis import metrics
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

from .live import LiveMatch


class Answer(Struct, frozen=True):
    """What became of a command: an entry's number, or a rejection."""

    entry: int = 0
    duplicate: bool = False
    rejected: Rejected | None = None


Reply = Callable[[Answer], None]


def moved(match_id: str) -> Rejected:
    """The answer to whoever waited when the shard was lost: the outcome is unknown."""
    return Rejected(
        RejectionCode.MOVED,
        f"match {match_id} is now at another table instance",
        "send the same command id again to the new owner (the lobby's FindMatch says where)",
    )


def finished(match_id: str) -> Rejected:
    return Rejected(
        RejectionCode.MATCH_FINISHED,
        f"match {match_id} has ended",
        "its record is in the archive: `majlis replay`",
    )


def unknown(match_id: str) -> Rejected:
    return Rejected(
        RejectionCode.UNKNOWN_MATCH,
        f"there is no match {match_id} at this table instance",
        "check the id; a match that ended over a day ago is found in the archive",
    )


def being_folded(match_id: str) -> Rejected:
    return Rejected(
        RejectionCode.UNAVAILABLE,
        f"match {match_id} is being folded from its first entry",
        "send the same command id again in a second",
    )


@cache
def _moves(game: str, result: str) -> Counter:
    return metrics.MOVES.labels(game, result)


def count_move(live: LiveMatch | None, result: str) -> None:
    """Counts an answered command: accepted, duplicate, rejected or moved."""
    if live is not None and live.decided is not None:
        _moves(live.decided.game, result).inc()
