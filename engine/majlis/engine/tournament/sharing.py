"""Exchanges that cost nothing else and make the seats of a round come out more evenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from majlis.engine.tournament.seats import crowding
from majlis.engine.tournament.swiss import Grouping

SEATINGS: Final = 3000
"""Seatings of a pod tried at most."""


def share_seats(grouping: Grouping, seat_counts: Sequence[Sequence[int]]) -> None:
    """Where members of a pod need the same seat, exchanges one of them for somebody of another pod.

    Only where that makes neither rematches nor score spread worse. `seat_counts[entrant][seat]` = how often it sat
    there.
    """
    crowded = [_crowding(grouping, seat_counts, pod) for pod in range(len(grouping.pods))]
    seatings = 0
    for pod in sorted(range(len(crowded)), key=lambda number: -crowded[number]):
        for one in tuple(grouping.pods[pod]):
            if not crowded[pod] or seatings >= SEATINGS:
                break
            for other in grouping.candidates(one):
                delta = grouping.delta(one, other)
                if delta > 0:
                    continue
                there = grouping.pod_of[other]
                grouping.exchange(one, other, delta)
                now = [_crowding(grouping, seat_counts, number) for number in (pod, there)]
                seatings += 2
                if sum(now) < crowded[pod] + crowded[there]:
                    crowded[pod], crowded[there] = now
                    break
                grouping.exchange(other, one, -delta)


def _crowding(grouping: Grouping, seat_counts: Sequence[Sequence[int]], pod: int) -> int:
    return crowding([seat_counts[one] for one in grouping.pods[pod]])
