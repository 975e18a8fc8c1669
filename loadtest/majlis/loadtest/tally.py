"""What the players saw, as figures that can be sent to another process and added up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from majlis.loadtest.measure import Latencies


class Tally(Struct):
    """Counts since the tally was begun."""

    sent: int = 0
    accepted: int = 0
    duplicates: int = 0
    """Accepted before: answers to repeated commands."""
    seen: int = 0
    """Moves that all seats' views hold."""
    rejected: dict[str, int] = field(default_factory=dict)
    """By rejection code."""
    moved: int = 0
    """Answers that the match is elsewhere now."""
    strange: int = 0
    """Answers and views that nobody had asked for, and view versions that went back."""
    unanswered: int = 0
    unseen: int = 0
    """Accepted moves that are missing in some seat's view."""
    views: int = 0
    ended: int = 0
    breaks: int = 0
    seconds: float = 0.0
    latencies: dict[int, int] = field(default_factory=dict)
    """From sending to all seats' views, as `Latencies.counts`."""

    def refuse(self, code: str) -> None:
        """Counts one rejection."""
        self.rejected[code] = self.rejected.get(code, 0) + 1


def added(tallies: Iterable[Tally]) -> tuple[Tally, Latencies]:
    """The sum of what several processes saw at the same time."""
    total, latencies = Tally(), Latencies()
    for tally in tallies:
        for name in _COUNTS:
            setattr(total, name, getattr(total, name) + getattr(tally, name))
        for code, count in tally.rejected.items():
            total.rejected[code] = total.rejected.get(code, 0) + count
        total.seconds = max(total.seconds, tally.seconds)
        latencies.add_counts(tally.latencies)
    return total, latencies


def as_json(tally: Tally) -> dict[str, Any]:
    """Without the latencies, which are told as percentiles."""
    counts: dict[str, Any] = msgspec.to_builtins(tally)
    del counts["latencies"]
    return counts


_COUNTS: Final = tuple(
    name for name in Tally.__struct_fields__ if name not in {"rejected", "seconds", "latencies"}
)
