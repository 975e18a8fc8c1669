"""Grouping one round: entrants of like score together, nobody with the same opponents again.

Entrants are numbers 0..n-1 in order of rank. The cost of a round is, in this order of importance: the squares of
earlier meetings; the spread of scores within pods, together with the empty chairs that somebody gets again. The
search is deterministic for a given stream of chance and takes a bounded number of steps: it always ends with a
grouping, of the lowest cost it has seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from msgspec import Struct

from majlis.engine.shuffle import Stream

WINDOW: Final = 48
"""In large fields, how far from a place in the ranking exchanges are tried, in each direction."""
SMALL: Final = 64
"""Up to this many entrants everybody is tried."""

Pods = list[list[int]]


class Field(Struct, frozen=True):
    """The entrants of a round by rank: scores, who met whom how often, and empty chairs at earlier pods, squared."""

    scores: list[int]
    met: list[dict[int, int]]
    empty_chairs: list[int]
    pod_size: int

    @property
    def size(self) -> int:
        return len(self.scores)


def draw_order(field: Field, stream: Stream) -> list[int]:
    """The entrants by score, in drawn order within a score group."""
    drawn = stream.shuffled(range(field.size))
    return sorted(drawn, key=lambda one: -field.scores[one])


def slice_order(field: Field, order: Sequence[int], sizes: Sequence[int]) -> Pods:
    """Pods of neighbours. The smaller ones fall where their members have had the fewest empty chairs, else at the end."""
    large, small = max(sizes), min(sizes)
    smalls = sizes.count(small) if small < large else 0
    larges = len(sizes) - smalls
    chairs = [field.empty_chairs[one] for one in order]
    # best[s] = (cost, choices) of slices so far of which s are small; ties keep the small ones late.
    best: list[tuple[int, tuple[int, ...]] | None] = [(0, ())] + [None] * smalls
    for done in range(len(sizes)):
        after: list[tuple[int, tuple[int, ...]] | None] = [None] * (smalls + 1)
        for s, found in enumerate(best):
            if found is None:
                continue
            cost, choice = found
            start = s * small + (done - s) * large
            if done - s < larges:
                after[s] = _cheaper(after[s], (cost, (*choice, large)))
            if s < smalls:
                missing = sum(chairs[start : start + small])
                after[s + 1] = _cheaper(after[s + 1], (cost + missing, (*choice, small)))
        best = after
    final = best[smalls]
    pods, start = [], 0
    for size in final[1] if final is not None else sizes:
        pods.append(list(order[start : start + size]))
        start += size
    return pods


def _cheaper(
    one: tuple[int, tuple[int, ...]] | None, other: tuple[int, tuple[int, ...]]
) -> tuple[int, tuple[int, ...]]:
    if one is None or other[0] < one[0] or (other[0] == one[0] and other[1] > one[1]):
        return other
    return one


class Grouping:
    """A round being improved by exchanges of two entrants."""

    def __init__(self, field: Field, pods: Pods) -> None:
        self.field = field
        self.pods = [list(pod) for pod in pods]
        self.pod_of = [0] * field.size
        for number, pod in enumerate(self.pods):
            for one in pod:
                self.pod_of[one] = number
        spread = max(field.scores) - min(field.scores) if field.scores else 0
        chairs = max(field.empty_chairs, default=0)
        self._chair_weight = (field.pod_size - 1) ** 2
        most = field.size * field.pod_size * (spread * spread + self._chair_weight * chairs)
        self.rematch_weight = most + 1
        self.cost = sum(self.pod_cost(pod) for pod in self.pods)

    @property
    def rematches(self) -> int:
        """The sum of squared earlier meetings over all pairs that sit together."""
        return self.cost // self.rematch_weight

    def pod_cost(self, pod: Sequence[int]) -> int:
        """The cost of one pod."""
        met = self.field.met
        again = sum(met[a].get(b, 0) ** 2 for i, a in enumerate(pod) for b in pod[:i])
        return again * self.rematch_weight + self._soft(pod)

    def _soft(self, pod: Sequence[int]) -> int:
        scores, chairs = self.field.scores, self.field.empty_chairs
        total = squares = empty = 0
        for one in pod:
            score = scores[one]
            total += score
            squares += score * score
            empty += chairs[one]
        missing = self.field.pod_size - len(pod)
        return len(pod) * squares - total * total + self._chair_weight * missing * empty

    def delta(self, one: int, other: int) -> int:
        """What exchanging two entrants of different pods would add to the cost."""
        met_one, met_other = self.field.met[one], self.field.met[other]
        here, there = self.pods[self.pod_of[one]], self.pods[self.pod_of[other]]
        again = 0
        for mate in here:
            if mate != one:
                again += met_other.get(mate, 0) ** 2 - met_one.get(mate, 0) ** 2
        for mate in there:
            if mate != other:
                again += met_one.get(mate, 0) ** 2 - met_other.get(mate, 0) ** 2
        return again * self.rematch_weight + self._soft_delta(one, other, here, there)

    def _soft_delta(self, one: int, other: int, here: list[int], there: list[int]) -> int:
        """The same for the spread and the empty chairs: pod sums change by the difference of the two scores."""
        scores, chairs = self.field.scores, self.field.empty_chairs
        a, b = scores[one], scores[other]
        soft = self._chair_weight * (chairs[other] - chairs[one]) * (len(there) - len(here))
        if a == b:
            return soft
        change, squares = b - a, b * b - a * a
        sum_here = sum([scores[mate] for mate in here])
        sum_there = sum([scores[mate] for mate in there])
        soft += len(here) * squares - change * (2 * sum_here + change)
        return soft - len(there) * squares + change * (2 * sum_there - change)

    def exchange(self, one: int, other: int, delta: int) -> None:
        """Exchanges them; `delta` as computed."""
        here, there = self.pod_of[one], self.pod_of[other]
        self.pods[here][self.pods[here].index(one)] = other
        self.pods[there][self.pods[there].index(other)] = one
        self.pod_of[one], self.pod_of[other] = there, here
        self.cost += delta

    def troubled_in(self, pod: int) -> list[int]:
        """Everybody in that pod who sits with an earlier opponent."""
        met, members = self.field.met, self.pods[pod]
        return [one for one in members if not met[one].keys().isdisjoint(members)]

    def candidates(self, one: int) -> list[int]:
        """With whom `one` may be exchanged: everybody in a small field, else its neighbours in the ranking."""
        size, pod_of = self.field.size, self.pod_of
        near = range(size) if size <= SMALL else range(max(0, one - WINDOW), min(size, one + WINDOW + 1))
        own = pod_of[one]
        return [other for other in near if pod_of[other] != own]


def repair(grouping: Grouping, stream: Stream, steps: int) -> Grouping:
    """Exchanges troubled entrants (tabu search) until nobody meets an earlier opponent, or the steps are used up.

    Returns the best grouping seen.
    """
    best, best_pods = grouping.cost, [list(pod) for pod in grouping.pods]
    forbidden: dict[tuple[int, int], int] = {}
    trouble = {number: grouping.troubled_in(number) for number in range(len(grouping.pods))}
    for step in range(steps):
        troubled = [one for members in trouble.values() for one in members]
        if not troubled:
            break
        one = stream.choose(troubled)
        choice: tuple[int, int] | None = None
        for other in grouping.candidates(one):
            delta = grouping.delta(one, other)
            if forbidden.get((one, other), 0) > step and grouping.cost + delta >= best:
                continue
            if choice is None or delta < choice[0]:
                choice = (delta, other)
        if choice is None:
            continue
        delta, other = choice
        grouping.exchange(one, other, delta)
        forbidden[one, other] = forbidden[other, one] = step + 4 + stream.below(8)
        for number in (grouping.pod_of[one], grouping.pod_of[other]):
            trouble[number] = grouping.troubled_in(number)
        if grouping.cost < best:
            best, best_pods = grouping.cost, [list(pod) for pod in grouping.pods]
    return Grouping(grouping.field, best_pods)


def polish(grouping: Grouping, passes: int) -> None:
    """Exchanges between neighbouring pods as long as they lower the cost; at most that many passes."""
    for _ in range(passes):
        before = grouping.cost
        for upper, lower in pairwise(_by_score(grouping)):
            for one in tuple(grouping.pods[upper]):
                _first_improvement(grouping, one, lower)
        if grouping.cost == before:
            return


def _by_score(grouping: Grouping) -> list[int]:
    """The numbers of the pods, highest mean score first."""
    scores = grouping.field.scores
    means = [Fraction(sum(scores[one] for one in pod), len(pod)) for pod in grouping.pods]
    return sorted(range(len(means)), key=lambda number: -means[number])


def _first_improvement(grouping: Grouping, one: int, pod: int) -> None:
    for other in grouping.pods[pod]:
        delta = grouping.delta(one, other)
        if delta < 0:
            grouping.exchange(one, other, delta)
            return
