"""What a deal and a match are worth (SND-19 to SND-23)."""

from __future__ import annotations

from collections.abc import Sequence

from majlis.engine.games.sounding.state import OFFSET, SWALLOWED


def grid_points(grid: bytes) -> int:
    """SND-19: the sum of the values face up; swallowed cells count nothing."""
    return sum([card - OFFSET for card in grid if card < SWALLOWED])


def penalised(raw: Sequence[int], closer: int) -> bool:
    """SND-20, SND-21: whether the closer's result is doubled, by the results before doubling (SND-O17)."""
    own = raw[closer]
    return own > 0 and any(own >= other for seat, other in enumerate(raw) if seat != closer)


def results(raw: Sequence[int], closer: int) -> tuple[int, ...]:
    """The deal's results: the closer's is doubled, once (SND-O16), where the penalty falls."""
    doubled = penalised(raw, closer)
    return tuple([2 * own if doubled and seat == closer else own for seat, own in enumerate(raw)])


def places(totals: Sequence[int]) -> tuple[int, ...]:
    """SND-23, SND-O15: the lowest total is first, equal totals share the place, the next one is left out."""
    return tuple([1 + sum(other < own for other in totals) for own in totals])
