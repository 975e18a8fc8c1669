"""Pairing a round: who rests, who plays whom, and on which seat.

Score groups, as in every Swiss tournament, but in pods. In order of importance: byes as few and as fair as can be; no
repeated opponents, also not in the rounds to come (`lookahead`); like scores together, short pods shared out
(`swiss`); everybody in each seat equally often (`seats`). Everything is drawn from the tournament's rng_seed, so the
same history gives the same round. It ends after a bounded number of steps and always with a legal round.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from msgspec import Struct

from majlis.engine.ids import match_id
from majlis.engine.shuffle import Chance
from majlis.engine.tournament.lookahead import EVALUATIONS, can_complete, worth_looking
from majlis.engine.tournament.seats import balanced_seats
from majlis.engine.tournament.sharing import share_seats
from majlis.engine.tournament.sizes import choose_byes, pod_sizes
from majlis.engine.tournament.standings import chance, standings
from majlis.engine.tournament.state import TournamentState
from majlis.engine.tournament.swiss import (
    SMALL,
    Field,
    Grouping,
    Pods,
    draw_order,
    polish,
    repair,
    slice_order,
)
from majlis.engine.vocabulary.tournament import Pod, Standing

TRIES: Final = 8
"""Groupings drawn in a small field, of which the best is taken; in a large one the first is as good."""
HARD_TRIES: Final = 40
"""Groupings drawn at most as long as all of them repeat; fewer where a grouping is large."""
HARD_SIZE: Final = 6_000
"""The same counted in entrants times pod size."""


def pair(state: TournamentState, shards: int) -> tuple[tuple[Pod, ...], tuple[str, ...]]:
    """The pods of the next round, top score first, in seat order, with their match ids; and the byes."""
    number = state.round + 1
    table = standings(state)
    ranking = _ranking(state, table)
    byes, sizes = pod_sizes(len(ranking), state.setup.pod_size, state.min_pod_size)
    history = _History(state, table)
    resting = choose_byes(ranking, [history.byes.get(one, 0) for one in ranking], byes)
    playing = [entrant_id for entrant_id in ranking if entrant_id not in resting]
    field = history.field(playing, state.setup.pod_size)
    seat_counts = [history.seat_counts(one, state.setup.pod_size) for one in playing]
    search = Search(field, seat_counts, sizes, number, state.setup.rounds, chance(state))
    pods = search.best() if sizes else []
    pods.sort(key=sorted)
    stream = chance(state).stream(number, "seats")
    seated = [
        history.seat([playing[one] for one in stream.shuffled(pod)], state.setup.pod_size) for pod in pods
    ]
    return (
        tuple(
            Pod(
                pod=pod_number,
                entrant_ids=tuple(entrant_ids),
                match_id=match_id(shards, state.tournament_id, number, pod_number),
            )
            for pod_number, entrant_ids in enumerate(seated, 1)
        ),
        tuple(entrant_id for entrant_id in ranking if entrant_id in resting),
    )


def _ranking(state: TournamentState, table: Sequence[Standing]) -> list[str]:
    """The active entrants, best first: by the standings; before the first round by seeding."""
    if not state.rounds:
        order = sorted(state.active, key=lambda entrant: entrant.seeding)
        return [entrant.entrant_id for entrant in order]
    active = {entrant.entrant_id for entrant in state.active}
    return [line.entrant_id for line in table if line.entrant_id in active]


class _History:
    """What earlier rounds mean for the next one, by entrant id."""

    def __init__(self, state: TournamentState, table: Sequence[Standing]) -> None:
        self.met: dict[str, dict[str, int]] = {}
        self.byes: dict[str, int] = {}
        self.empty_chairs: dict[str, int] = {}
        self.seats: dict[str, list[int]] = {}
        self._scores = {line.entrant_id: line.score for line in table}
        for one in state.rounds:
            for entrant_id in one.byes:
                self.byes[entrant_id] = self.byes.get(entrant_id, 0) + 1
            for pod in one.pods:
                self._add(pod.entrants, state.setup.pod_size)

    def _add(self, entrants: Sequence[str], pod_size: int) -> None:
        for one, other in combinations(entrants, 2):
            for a, b in ((one, other), (other, one)):
                row = self.met.setdefault(a, {})
                row[b] = row.get(b, 0) + 1
        for seat, entrant_id in enumerate(entrants):
            missing = pod_size - len(entrants)
            self.empty_chairs[entrant_id] = self.empty_chairs.get(entrant_id, 0) + missing
            self.seat_counts(entrant_id, pod_size)[seat] += 1

    def seat_counts(self, entrant_id: str, pod_size: int) -> list[int]:
        """How often it sat on each seat."""
        return self.seats.setdefault(entrant_id, [0] * pod_size)

    def field(self, playing: Sequence[str], pod_size: int) -> Field:
        """The entrants of a round, numbered in the given order."""
        numbers = {entrant_id: number for number, entrant_id in enumerate(playing)}
        met = [
            {numbers[other]: times for other, times in self.met.get(one, {}).items() if other in numbers}
            for one in playing
        ]
        scores = [self._scores[one] for one in playing]
        return Field(scores, met, [self.empty_chairs.get(one, 0) ** 2 for one in playing], pod_size)

    def seat(self, pod: Sequence[str], pod_size: int) -> list[str]:
        """The members of a pod in seat order."""
        seats = balanced_seats([self.seat_counts(entrant_id, pod_size) for entrant_id in pod])
        return [entrant_id for _, entrant_id in sorted(zip(seats, pod, strict=True))]


class Search(Struct, frozen=True):
    """The search for the pods of one round."""

    field: Field
    seat_counts: list[list[int]]
    sizes: list[int]
    number: int
    rounds: int
    draws: Chance

    def best(self) -> Pods:
        """The cheapest grouping found; where foresight is needed, the cheapest that leaves the rounds to come free."""
        tries = TRIES if self.field.size <= SMALL else 1
        groupings = [self._grouping(attempt) for attempt in range(tries)]
        size = self.field.size * self.field.pod_size
        hard = min(HARD_TRIES, HARD_SIZE // size) if self.field.size <= SMALL else 0
        while len(groupings) < hard and all(one.rematches for one in groupings):
            groupings.append(self._grouping(len(groupings)))
        groupings.sort(key=lambda one: one.cost)
        free = [one for one in groupings if not one.rematches]
        if free and worth_looking(self.field.size, self.sizes, self.rounds, self.number - 1):
            return self._farsighted(free).pods
        return groupings[0].pods

    def _grouping(self, attempt: int) -> Grouping:
        stream = self.draws.stream(self.number, "pairing", attempt)
        order = draw_order(self.field, stream)
        grouping = Grouping(self.field, slice_order(self.field, order, self.sizes))
        grouping = repair(grouping, stream, 60 + 4 * self.field.size)
        polish(grouping, 4)
        share_seats(grouping, self.seat_counts)
        return grouping

    def _farsighted(self, groupings: Sequence[Grouping]) -> Grouping:
        """The first after which the rounds left can be played without repeats; the first of all where none is found."""
        budget = EVALUATIONS
        for attempt in range(4 * len(groupings)):
            grouping = groupings[attempt % len(groupings)]
            stream = self.draws.stream(self.number, "lookahead", attempt)
            share = min(budget, EVALUATIONS // 3)
            left = self.rounds - self.number
            found, used = can_complete(_met_after(grouping), self.sizes, left, stream, share)
            if found:
                return grouping
            budget -= used
            if budget <= 0:
                break
        return groupings[0]


def _met_after(grouping: Grouping) -> list[dict[int, int]]:
    """Who will have met whom after that round."""
    met = [dict(row) for row in grouping.field.met]
    for pod in grouping.pods:
        for one in pod:
            for mate in pod:
                if mate != one:
                    met[one][mate] = met[one].get(mate, 0) + 1
    return met
