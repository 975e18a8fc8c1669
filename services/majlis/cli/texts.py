"""Small things that several commands write the same way."""

from __future__ import annotations

import time


def words(name: str, prefix: str = "") -> str:
    """An enum's name as words: TOURNAMENT_STAGE_BETWEEN_ROUNDS -> between rounds."""
    return name.removeprefix(prefix).lower().replace("_", " ")


def clock_of(unix_ms: int) -> str | None:
    """A point in time as this machine's clock shows it; None for 0."""
    return time.strftime("%H:%M:%S", time.localtime(unix_ms / 1000)) if unix_ms else None


def halves(half_points: int) -> str:
    """Half points as people write them: 7 -> 3½."""
    whole, half = divmod(half_points, 2)
    return f"{whole or ''}½" if half else str(whole)


def duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"
