"""What a pod, a bye and a missing decision score: integers, in half points per opponent.

* A full pod of K: 2 for each opponent left behind, 1 for each on the same place. The mean is K - 1, the most 2(K - 1).
* A short pod of k < K: the distance from its mean is stretched by (K - 1)/(k - 1), so that last, middle and first
  score what they score in a full pod; rounded to the nearest half point, halves towards the mean. So whoever beats
  every second opponent expects the same wherever the short pods fall, and mirrored places have mirrored scores.
* A bye scores a share of the most (default 50 %: the mean). A void pod gives everybody the mean.
* Who forfeits has the last place and scores nothing; the others' places close up as if the forfeiter had lost to them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from majlis.engine.tournament.state import DEFAULT_BYE_PERCENT
from majlis.engine.vocabulary.tournament import TournamentSetup


def mean_score(pod_size: int) -> int:
    """What everybody of a full pod scores on average, and a missed or void decision counts."""
    return pod_size - 1


def bye_score(setup: TournamentSetup) -> int:
    """What a bye scores."""
    percent = setup.byes_score_percent or DEFAULT_BYE_PERCENT
    return 2 * (setup.pod_size - 1) * percent // 100


def ranked(places: Sequence[int], last: Collection[int] = ()) -> tuple[int, ...]:
    """The same order in competition ranking (1, 2, 2, 4); the seats in `last` share the last place."""
    keys = [(seat in last, 0 if seat in last else place) for seat, place in enumerate(places)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def pod_scores(places: Sequence[int], pod_size: int, forfeited: Collection[int] = ()) -> tuple[int, ...]:
    """The score of each seat of a pod; `places` in competition ranking, `forfeited` seats score nothing."""
    return tuple(
        0 if seat in forfeited else _stretched(_half_points(places, seat), len(places), pod_size)
        for seat in range(len(places))
    )


def void_scores(seats: int, pod_size: int, forfeited: Collection[int] = ()) -> tuple[int, ...]:
    """The scores of a pod that nobody decided."""
    return tuple(0 if seat in forfeited else mean_score(pod_size) for seat in range(seats))


def _half_points(places: Sequence[int], seat: int) -> int:
    own = places[seat]
    return sum(2 if own < place else 1 for place in places if own <= place) - 1


def _stretched(half_points: int, seats: int, pod_size: int) -> int:
    opponents = seats - 1
    distance = half_points - opponents
    stretched = (2 * abs(distance) * (pod_size - 1) + opponents - 1) // (2 * opponents)
    return mean_score(pod_size) + (stretched if distance > 0 else -stretched)
