"""Scores and standings, counted a second time from the log by other means."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.tournament import standings
from majlis.engine.tournament.scoring import bye_score, pod_scores, ranked
from majlis.engine.tournament.seats import assignment
from majlis.engine.vocabulary.tournament import (
    EntrantForfeited,
    ForfeitEntrant,
    PodDecided,
    ReturnEntrant,
    RoundFinished,
    RoundPaired,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import decode_tournament_entry
from tests.engine.tournament.played import Played, setup

# --- scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "pod_size", "expected"),
    [
        ((1, 2, 3, 4), 4, (6, 4, 2, 0)),
        ((1, 1, 3, 4), 4, (5, 5, 2, 0)),
        ((1, 1, 1, 1), 4, (3, 3, 3, 3)),
        ((1, 2, 3), 4, (6, 3, 0)),
        ((1, 1, 3), 4, (4, 4, 0)),  # 4.5 each, halves towards the mean
        ((1, 2, 2), 4, (6, 2, 2)),
        ((2, 1), 4, (0, 6)),
        ((1, 2, 3, 4), 5, (8, 5, 3, 0)),
        ((1, 2), 2, (2, 0)),
    ],
)
def test_scores_by_example(places: tuple[int, ...], pod_size: int, expected: tuple[int, ...]) -> None:
    assert pod_scores(places, pod_size) == expected


@given(points=st.lists(st.integers(0, 6), min_size=2, max_size=12), longer=st.integers(0, 10))
def test_a_short_pod_stretches_scores_evenly_around_the_mean(points: list[int], longer: int) -> None:
    pod_size = min(12, len(points) + longer)
    found = pod_scores(ranked(points), pod_size)
    mirrored = pod_scores(ranked([-one for one in points]), pod_size)
    most = 2 * (pod_size - 1)
    for seat, own in enumerate(points):
        raw = sum(2 * (own < other) + (own == other) for other in points) - 1
        exact = Fraction(raw * (pod_size - 1), len(points) - 1)
        assert abs(found[seat] - exact) <= Fraction(1, 2)
        assert found[seat] + mirrored[seat] == most
        assert 0 <= found[seat] <= most


def test_a_bye_scores_its_share_of_the_most() -> None:
    assert bye_score(setup(pod_size=4)) == 3
    assert bye_score(setup(pod_size=4, byes_score_percent=100)) == 6
    assert bye_score(setup(pod_size=2)) == 1


@given(st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=5, max_size=5))
def test_seats_are_assigned_at_the_lowest_cost(cost: list[list[int]]) -> None:
    best = min(sum(cost[row][column] for row, column in enumerate(p)) for p in permutations(range(5)))
    found = assignment(cost)
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert sum(cost[row][column] for row, column in enumerate(found)) == best


# --- standings, counted from the events ------------------------------------------------------------------------------


class Brute:
    """Counts everything from the events alone, pair by pair, without looking at the decider's state."""

    def __init__(self, played: Played) -> None:
        self.size = played.state.setup.pod_size
        self.entrants = list(played.state.entrants)
        self.rounds: dict[int, RoundPaired] = {}
        self.decided: dict[tuple[int, int], PodDecided] = {}
        self.forfeited: set[tuple[int, int, str]] = set()
        self.finished: set[int] = set()
        for stored in played.stored:
            for event in decode_tournament_entry(stored).events:
                if isinstance(event, RoundPaired):
                    self.rounds[event.round] = event
                if isinstance(event, PodDecided):
                    self.decided[event.round, event.pod] = event
                if isinstance(event, EntrantForfeited):
                    self.forfeited.add((event.round, event.pod, event.entrant_id))
                if isinstance(event, RoundFinished):
                    self.finished.add(event.round)

    def rows(self, one: str) -> list[tuple[int, str, dict[str, int], bool]]:
        """For each round: score, what it was, places of those at the pod, and whether one had forfeited."""
        found: list[tuple[int, str, dict[str, int], bool]] = []
        for number, paired in self.rounds.items():
            row: tuple[int, str, dict[str, int], bool] = (0, "absent", {}, False)
            if one in paired.byes:
                row = (self.size - 1, "bye", {}, False)
            for pod in paired.pods:
                if one in pod.entrant_ids:
                    row = self.pod_row(number, pod.pod, pod.entrant_ids, one)
            found.append(row)
        return found

    def pod_row(
        self, number: int, pod: int, entrants: tuple[str, ...], one: str
    ) -> tuple[int, str, dict[str, int], bool]:
        event = self.decided.get((number, pod))
        gone = (number, pod, one) in self.forfeited
        if event is None:
            return 0, "open", {}, gone
        score = event.scores[entrants.index(one)]
        if not event.places:
            return score, "void", dict.fromkeys(entrants, 0), gone
        return score, "played", dict(zip(entrants, event.places, strict=True)), gone

    def score(self, one: str) -> int:
        return sum(score for score, *_ in self.rows(one))

    def strength(self, one: str) -> int:
        total = 0
        for number, (score, what, _, gone) in enumerate(self.rows(one), 1):
            if what == "played" and not gone:
                total += score
            elif what != "open" and not (what == "absent" and number not in self.finished):
                total += self.size - 1
        return total

    def opponents(self, one: str) -> list[int]:
        found = []
        for _, what, places, _ in self.rows(one):
            if what == "played":
                met = [self.strength(other) for other in places if other != one]
                found += met + [sum(met) // len(met)] * (self.size - 1 - len(met))
            elif what in ("bye", "void"):
                found += [self.strength(one)] * (self.size - 1)
        return found

    def ahead(self, one: str, other: str) -> int:
        net = 0
        for _, what, places, _ in self.rows(one):
            if what == "played" and other in places:
                net += (places[one] < places[other]) - (places[one] > places[other])
        return (net > 0) - (net < 0)

    def key(self, one: str) -> tuple[int, int, int]:
        opponents = self.opponents(one)
        return self.score(one), sum(opponents), sum(sorted(opponents)[1:])

    def lines(self) -> dict[str, tuple[int, ...]]:
        keys = {one: self.key(one) for one in self.entrants}
        found: dict[str, tuple[int, ...]] = {}
        for one in self.entrants:
            tied = [other for other in self.entrants if other != one and keys[other] == keys[one]]
            direct = sum(1 + self.ahead(one, other) for other in tied)
            rows = self.rows(one)
            firsts = sum(places[one] == 1 and not gone for _, what, places, gone in rows if what == "played")
            progressive = sum(sum(score for score, *_ in rows[:n]) for n in range(1, len(rows) + 1))
            found[one] = (*keys[one], direct, firsts, progressive)
        return found


def eventful(entrants: int, pod_size: int, shortest: int, seed: int, rounds: int) -> Played:
    """A tournament in which people leave, return and forfeit, matches are aborted and results corrected."""
    played = Played(
        setup(pod_size=pod_size, min_pod_size=shortest, rounds=rounds, seed=seed), entrants, seed=seed
    )
    chance = random.Random(seed)
    for _ in range(rounds):
        if len(played.state.active) < shortest:
            break
        pods = played.pair()
        for one in chance.sample(list(played.state.entrants), 2):
            gone = played.state.entrants[one].withdrawn
            played.do(ReturnEntrant(entrant_id=one) if gone else WithdrawEntrant(entrant_id=one))
        pod = chance.choice(pods)
        forfeit = ForfeitEntrant(
            round=played.state.round, pod=pod.pod.pod, entrant_id=chance.choice(pod.entrants), reason="left"
        )
        played.do(forfeit)
        if len(pods) > 2:
            spare = pods[0] if pod is not pods[0] else pods[1]
            played.book(spare.pod.pod, ())
        if chance.random() < 0.8:
            played.book_all()
            places = played.random_places(len(pod.entrants))
            played.book(pod.pod.pod, places, revision=2)
        else:
            break
    return played


@settings(max_examples=25, deadline=None)
@given(
    entrants=st.integers(6, 26),
    pod_size=st.integers(2, 6),
    shortest=st.integers(2, 6),
    seed=st.integers(0, 10_000),
    rounds=st.integers(1, 4),
)
def test_standings_agree_with_a_count_by_hand(
    entrants: int, pod_size: int, shortest: int, seed: int, rounds: int
) -> None:
    played = eventful(entrants, pod_size, min(shortest, pod_size), seed, rounds)
    lines = standings(played.state)
    expected = Brute(played).lines()
    for line in lines:
        found = (line.score, line.opponents, line.opponents_cut, line.direct, line.firsts, line.progressive)
        assert found == expected[line.entrant_id], line
    order = sorted(lines, key=lambda line: (*(-value for value in expected[line.entrant_id]), line.lot))
    assert [line.entrant_id for line in lines] == [line.entrant_id for line in order]
    assert [line.place for line in lines] == list(range(1, len(lines) + 1))
    assert sorted(line.lot for line in lines) == list(range(1, len(lines) + 1))


def test_the_draw_of_lots_decides_where_nothing_else_does() -> None:
    played = Played(setup(rounds=1, seed=5), 8)
    played.pair()
    for pod in (1, 2):
        played.book(pod, (1, 2, 3, 4))
    lines = standings(played.state)
    first, second = lines[:2]
    assert (first.score, first.opponents, first.direct) == (second.score, second.opponents, second.direct)
    assert first.lot < second.lot
    again = Played(setup(rounds=1, seed=5), 8)
    assert {one.entrant_id: one.lot for one in standings(again.state)} == {
        one.entrant_id: one.lot for one in lines
    }


def test_the_direct_encounter_decides_between_equals() -> None:
    played = Played(setup(rounds=1, pod_size=4), 4)
    played.pair()
    played.book(1, (1, 1, 3, 3))
    lines = standings(played.state)
    assert [line.direct for line in lines] == [1, 1, 1, 1]
    played.book(1, (1, 2, 3, 4), revision=2)
    assert [line.score for line in standings(played.state)] == [6, 4, 2, 0]


def test_who_rests_is_counted_as_resting() -> None:
    played = Played(setup(rounds=1, pod_size=4), 5)
    played.pair()
    (resting,) = played.state.rounds[0].byes
    played.book_all()
    line = next(line for line in played.state.final_standings if line.entrant_id == resting)
    assert (line.byes, line.played, line.score, line.opponents) == (1, 0, 3, 9)
