"""Whether the rounds that are left can still be played without repeated opponents, after a round as proposed.

In a small field a round that looks good can make a repeat unavoidable later: of 24 entrants in pods of 4, a fifth
round chosen without foresight repeats in every second tournament. The schedule of the rounds left is searched for as
the "social golfer problem", by tabu search over exchanges within a round (Dotú and Van Hentenryck, 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from majlis.engine.shuffle import Stream
from majlis.engine.tournament.swiss import SMALL, Pods

EVALUATIONS: Final = 1_500_000
"""Meetings looked up in one search at most: some seconds."""


def worth_looking(entrants: int, sizes: Sequence[int], rounds: int, played: int) -> bool:
    """Whether a repeat is neither far away nor unavoidable, for so many rounds of which `played` are done."""
    largest = max(sizes)
    if entrants > SMALL or rounds - played < 2:
        return False
    opponents = rounds * (largest - 1)
    if len(sizes) < largest or opponents > entrants - 1:
        return False
    # A theorem of Hajnal and Szemerédi: where each entrant has met fewer than a pod's share, no foresight is needed.
    return (rounds - 1) * (largest - 1) + 1 > entrants // largest


class Schedule:
    """The rounds left as they might be played; `cost` counts the meetings beyond each pair's first."""

    def __init__(
        self, met: Sequence[dict[int, int]], sizes: Sequence[int], rounds: int, stream: Stream
    ) -> None:
        entrants = len(met)
        self.meetings = [[row.get(other, 0) for other in range(entrants)] for row in met]
        before = self._repeats()
        self.rounds: list[Pods] = []
        self.pod_of: list[list[int]] = []
        for _ in range(rounds):
            order = stream.shuffled(range(entrants))
            pods, pod_of = [], [0] * entrants
            for number, size in enumerate(sizes):
                pod, order = order[:size], order[size:]
                pods.append(pod)
                for one in pod:
                    pod_of[one] = number
                self._seat(pod)
            self.rounds.append(pods)
            self.pod_of.append(pod_of)
        self.cost = self._repeats() - before
        self._trouble = {
            (number, pod): self._troubled_in(number, pod)
            for number in range(rounds)
            for pod in range(len(sizes))
        }

    def _repeats(self) -> int:
        return sum(max(0, times - 1) for row in self.meetings for times in row) // 2

    def _seat(self, pod: Sequence[int]) -> None:
        for one in pod:
            for mate in pod:
                if mate != one:
                    self.meetings[one][mate] += 1

    def troubled(self) -> list[tuple[int, int]]:
        """Round and entrant of everybody who meets somebody again."""
        return [each for troubled in self._trouble.values() for each in troubled]

    def _troubled_in(self, number: int, pod: int) -> list[tuple[int, int]]:
        members, meetings = self.rounds[number][pod], self.meetings
        return [
            (number, one)
            for one in members
            if any(meetings[one][mate] > 1 for mate in members if mate != one)
        ]

    def deltas(self, number: int, one: int) -> list[tuple[int, int]]:
        """What exchanging `one` with each entrant of another pod of that round would add to the cost."""
        pods, pod_of = self.rounds[number], self.pod_of[number]
        row = self.meetings[one]
        mates = [mate for mate in pods[pod_of[one]] if mate != one]
        relief = sum([row[mate] > 1 for mate in mates])
        found = []
        for pod_number, pod in enumerate(pods):
            if pod_number == pod_of[one]:
                continue
            joining = sum([row[mate] > 0 for mate in pod])
            for other in pod:
                row_other = self.meetings[other]
                delta = joining - (row[other] > 0) - relief
                delta += sum([row_other[mate] > 0 for mate in mates])
                delta -= sum([row_other[mate] > 1 for mate in pod if mate != other])
                found.append((delta, other))
        return found

    def exchange(self, number: int, one: int, other: int, delta: int) -> None:
        """Exchanges them in that round; `delta` as computed."""
        pods, pod_of = self.rounds[number], self.pod_of[number]
        here, there = pods[pod_of[one]], pods[pod_of[other]]
        for pod, leaves, comes in ((here, one, other), (there, other, one)):
            for mate in pod:
                if mate != leaves:
                    self.meetings[leaves][mate] -= 1
                    self.meetings[mate][leaves] -= 1
                    self.meetings[comes][mate] += 1
                    self.meetings[mate][comes] += 1
        here[here.index(one)] = other
        there[there.index(other)] = one
        pod_of[one], pod_of[other] = pod_of[other], pod_of[one]
        self.cost += delta
        # Every pair whose meetings have changed holds one of these two: only their pods can be better or worse now.
        for each, pod_of in enumerate(self.pod_of):
            for entrant in (one, other):
                self._trouble[each, pod_of[entrant]] = self._troubled_in(each, pod_of[entrant])


def can_complete(
    met: Sequence[dict[int, int]], sizes: Sequence[int], rounds: int, stream: Stream, evaluations: int
) -> tuple[bool, int]:
    """Whether a schedule of `rounds` more rounds without repeats was found, and how many evaluations that took."""
    schedule = Schedule(met, sizes, rounds, stream)
    each = len(met) * 2 * max(sizes)
    forbidden: dict[tuple[int, int, int], int] = {}
    lowest = schedule.cost
    for step in range(evaluations // each):
        if not schedule.cost:
            return True, step * each
        number, one = stream.choose(schedule.troubled())
        choices: list[tuple[int, int]] = []
        for delta, other in schedule.deltas(number, one):
            if forbidden.get((number, one, other), 0) > step and schedule.cost + delta >= lowest:
                continue
            if not choices or delta < choices[0][0]:
                choices = [(delta, other)]
            elif delta == choices[0][0]:
                choices.append((delta, other))
        if not choices:
            continue
        delta, other = stream.choose(choices)
        schedule.exchange(number, one, other, delta)
        forbidden[number, one, other] = forbidden[number, other, one] = step + 4 + stream.below(8)
        lowest = min(lowest, schedule.cost)
    return not schedule.cost, evaluations
