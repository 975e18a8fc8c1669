"""Ladders are the fold of results, as the published algorithm has it."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from majlis.engine.ratings import NEWCOMER, Rated, fault, fold, human_share, rate
from majlis.engine.vocabulary.match import Controller, Termination
from majlis.engine.vocabulary.result import Result
from tests.support.results import result, season, seat


def weng_lin(players: list[Rated], places: list[int]) -> list[tuple[float, float]]:
    """Algorithm 4 of Weng & Lin (2011), written from the paper: mu and sigma of each player afterwards."""
    beta, kappa, tau = 25 / 6, 0.0001, 25 / 300
    variances = [player.sigma**2 + tau**2 for player in players]
    c = math.sqrt(sum(variance + beta**2 for variance in variances))
    after = []
    for i, player in enumerate(players):
        omega = delta = 0.0
        for q, place in enumerate(places):
            if place > places[i]:
                continue
            behind = sum(
                math.exp(p.mu / c) for p, other in zip(players, places, strict=True) if other >= place
            )
            share = math.exp(player.mu / c) / behind
            tied = places.count(place)
            omega += ((q == i) - share) / tied
            delta += share * (1 - share) / tied
        gamma = math.sqrt(variances[i]) / c
        mu = player.mu + variances[i] / c * omega
        sigma = math.sqrt(variances[i] * max(1 - variances[i] / c**2 * gamma * delta, kappa))
        after.append((mu, sigma))
    return after


ratings = st.builds(Rated, mu=st.floats(0, 50), sigma=st.floats(1, 9))


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[Rated], list[int]]:
    players = draw(st.lists(ratings, min_size=2, max_size=8))
    points = draw(st.lists(st.integers(0, 4), min_size=len(players), max_size=len(players)))
    return players, [1 + sum(other > own for other in points) for own in points]


@given(contests())
def test_the_numbers_are_those_of_the_paper(contest: tuple[list[Rated], list[int]]) -> None:
    players, places = contest
    names = [f"player-{index}" for index in range(len(players))]
    match = result(1, *(seat(name, place) for name, place in zip(names, places, strict=True)))
    changed = rate(match, dict(zip(names, players, strict=True)))
    for name, (mu, sigma) in zip(names, weng_lin(players, places), strict=True):
        assert changed[name].mu == pytest.approx(mu, rel=1e-9, abs=1e-9)
        assert changed[name].sigma == pytest.approx(sigma, rel=1e-9, abs=1e-9)


def test_a_newcomer_that_wins_rises_and_the_shown_number_is_careful() -> None:
    changed = rate(result(1, seat("a", 1), seat("b", 2)), {})
    assert NEWCOMER.rating == 1000
    assert changed["a"].mu > NEWCOMER.mu > changed["b"].mu
    assert changed["a"].rating > 1000
    assert changed["a"].sigma < NEWCOMER.sigma
    assert (changed["a"].matches, changed["a"].last_match_ms) == (1, result(1).ended_at_ms)


def test_equal_places_between_equals_change_both_alike() -> None:
    changed = rate(result(1, seat("a", 1), seat("b", 1)), {})
    assert changed["a"].mu == changed["b"].mu == pytest.approx(25)


def test_an_aborted_match_is_not_rated() -> None:
    aborted = result(1, seat("a", 0), seat("b", 0), termination=Termination.ABORTED)
    assert fault(aborted) == ""
    assert rate(aborted, {}) == {}


@pytest.mark.parametrize(
    "termination",
    [Termination.RESIGNED, Termination.FORFEITED, Termination.ADJUDICATED, Termination.TIMED_OUT],
)
def test_every_other_ending_is_rated_by_its_places(termination: Termination) -> None:
    ended = result(1, seat("a", 2), seat("b", 1), termination=termination)
    assert rate(ended, {}) == rate(replace(ended, termination=Termination.PLAYED_OUT), {})


def test_a_seat_counts_by_the_share_its_holder_played_mu_and_sigma_alike() -> None:
    whole = rate(result(1, seat("a", 1), seat("b", 2)), {})
    part = rate(result(1, seat("a", 1, own_moves=5, computer_moves=15), seat("b", 2)), {})
    assert part["a"].mu - 25 == pytest.approx((whole["a"].mu - 25) / 4)
    assert part["a"].sigma - NEWCOMER.sigma == pytest.approx((whole["a"].sigma - NEWCOMER.sigma) / 4)
    assert part["b"] == whole["b"]


def test_who_made_no_move_at_all_is_not_touched_and_the_others_are_rated() -> None:
    absent = seat("a", 1, own_moves=0, computer_moves=20, controller=Controller.COMPUTER)
    assert rate(result(1, absent, seat("b", 2)), {}) == {
        "b": rate(result(1, seat("a", 1), seat("b", 2)), {})["b"]
    }


def test_a_match_decided_before_any_move_counts_in_full() -> None:
    assert human_share(seat("a", 2, own_moves=0, computer_moves=0)) == 1.0


def test_a_seat_opened_as_a_computers_is_that_computers_own() -> None:
    computer = seat(
        "c", 1, own_moves=0, computer_moves=20, controller=Controller.COMPUTER, opened_as_computer=True
    )
    assert rate(result(1, computer, seat("b", 2)), {})["c"].mu > 25


def test_an_anonymous_computer_is_nobody_to_gain_on() -> None:
    nobody = seat("", 2, controller=Controller.COMPUTER, opened_as_computer=True)
    without = rate(result(1, seat("a", 1), seat("b", 3)), {})
    assert rate(result(1, seat("a", 1), nobody, seat("b", 3)), {}) == without
    assert rate(result(1, seat("a", 1), nobody), {}) == {}


def test_nobody_is_rated_against_himself() -> None:
    assert rate(result(1, seat("a", 1), seat("a", 2), seat("b", 3)), {}) == {}


FAULTS = {
    "no match": replace(result(1, seat("a", 1), seat("b", 2)), match_id=""),
    "no game": replace(result(1, seat("a", 1), seat("b", 2)), game=""),
    "revision": replace(result(1, seat("a", 1), seat("b", 2)), revision=0),
    "two seats": result(1, seat("a", 1)),
    "missing": result(1, seat("a", 1), seat("b", 0)),
    "above": result(1, seat("a", 1), seat("b", 3)),
    "first": result(1, seat("a", 2), seat("b", 2)),
    "aborted": result(1, seat("a", 1), seat("b", 2), termination=Termination.ABORTED),
}


@pytest.mark.parametrize("word", FAULTS)
def test_what_cannot_be_a_result_is_left_out(word: str) -> None:
    good = result(2, seat("a", 1), seat("b", 2))
    assert word in fault(FAULTS[word])
    assert fault(good) == ""
    assert fold([FAULTS[word], good]) == fold([good])


def test_the_ladder_is_the_fold_of_results_one_by_one_bit_for_bit() -> None:
    results = season(300)
    ladder: dict[str, Rated] = {}
    for each in results:
        ladder |= rate(each, ladder)
    assert fold(results) == {"sounding": ladder} == fold(results)


def test_each_game_has_a_ladder_of_its_own() -> None:
    ours, theirs = season(20), [replace(each, game="thousand") for each in season(30, rng_seed=2)]
    for number, each in enumerate(theirs):
        theirs[number] = replace(each, match_id=f"1-other{number}")
    mixed = [*ours, *theirs]
    random.Random(3).shuffle(mixed)
    in_order = [each for each in mixed if each.game == "sounding"]
    assert fold(mixed)["sounding"] == fold(in_order)["sounding"]


def swapped(match: Result, revision: int) -> Result:
    first, second, *rest = match.seats
    seats = (replace(first, place=second.place), replace(second, place=first.place), *rest)
    return replace(match, revision=revision, seats=seats)


def test_a_correction_takes_the_place_of_the_result_it_corrects() -> None:
    results = season(50)
    corrected = swapped(results[10], revision=2)
    at_once = [*results[:10], corrected, *results[11:]]
    assert fold([*results, corrected]) == fold(at_once) != fold(results)


def test_the_highest_revision_counts_however_often_and_late_others_come() -> None:
    first = result(1, seat("a", 1), seat("b", 2))
    third = swapped(first, revision=3)
    assert fold([first, third, swapped(first, 2), first, third]) == fold([third])


def test_a_correction_cannot_move_a_match_to_another_game() -> None:
    first = result(1, seat("a", 1), seat("b", 2))
    assert fold([first, replace(first, game="thousand", revision=2)]) == fold([first])


def test_the_better_player_ends_higher() -> None:
    ladder = fold(season(600, players=8))["sounding"]
    by_rating = sorted(ladder, key=lambda player: ladder[player].mu, reverse=True)
    assert by_rating[0] == "player-7"
    assert by_rating[-1] == "player-0"
