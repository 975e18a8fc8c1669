"""Rounds are legal whatever happens, fair to those who rest or sit short, and repeat nobody who can be avoided."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.ids import shard_of
from majlis.engine.tournament import standings
from majlis.engine.tournament.sizes import choose_byes, pod_sizes
from majlis.engine.vocabulary.tournament import ReturnEntrant, TournamentStage, WithdrawEntrant
from tests.engine.tournament.played import Played, meetings, seat_counts, setup

BETWEEN_OR_OVER = (TournamentStage.BETWEEN_ROUNDS, TournamentStage.FINISHED)


def play(
    entrants: int, *, seed: int = 0, rounds: int = 5, pod_size: int = 4, min_pod_size: int = 0
) -> Played:
    played = Played(
        setup(rounds=rounds, pod_size=pod_size, min_pod_size=min_pod_size, seed=seed), entrants, seed=seed
    )
    for _ in range(rounds):
        played.play_round()
    return played


def assert_everybody_once(played: Played) -> None:
    """In the last round every active entrant plays or rests, exactly once, in a pod the game allows."""
    state, last = played.state, played.state.rounds[-1]
    seen = [one for pod in last.pods for one in pod.entrants] + list(last.byes)
    assert Counter(seen) == Counter(one.entrant_id for one in state.active)
    for pod in last.pods:
        assert state.min_pod_size <= len(pod.entrants) <= state.setup.pod_size


@pytest.mark.parametrize("seed", range(8))
def test_24_entrants_in_pods_of_4_meet_nobody_twice_in_5_rounds(seed: int) -> None:
    played = play(24, seed=seed)
    assert max(meetings(played).values()) == 1
    imbalances = Counter(max(counts) - min(counts) for counts in seat_counts(played).values())
    assert set(imbalances) <= {1, 2}
    assert imbalances[2] <= 2


def test_the_same_history_gives_the_same_round() -> None:
    assert [pod.pod for pod in play(14, rounds=3).pods()] == [pod.pod for pod in play(14, rounds=3).pods()]


def test_another_rng_seed_gives_another_first_round() -> None:
    one, other = (play(24, seed=seed, rounds=1) for seed in (1, 2))
    assert [pod.entrants for pod in one.pods()] != [pod.entrants for pod in other.pods()]


@settings(max_examples=10, deadline=None)
@given(
    entrants=st.integers(2, 40),
    pod_size=st.integers(2, 12),
    shortest=st.integers(2, 12),
    seed=st.integers(0, 1000),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 39)), max_size=12),
)
def test_every_active_entrant_plays_or_rests_once_a_round(
    entrants: int, pod_size: int, shortest: int, seed: int, moves: list[tuple[bool, int]]
) -> None:
    shortest = min(shortest, pod_size)
    if entrants < shortest:
        return
    played = Played(setup(rounds=4, pod_size=pod_size, min_pod_size=shortest, seed=seed), entrants, seed=seed)
    for _ in range(4):
        if len(played.state.active) < shortest:
            break
        played.pair()
        assert_everybody_once(played)
        for leaves, number in (moves.pop() for _ in range(min(3, len(moves)))):
            leave_or_return(played, f"e{number % entrants}", leaves=leaves)
        played.book_all()
        assert played.state.stage in BETWEEN_OR_OVER


def leave_or_return(played: Played, entrant_id: str, *, leaves: bool) -> None:
    if played.state.entrants[entrant_id].withdrawn is leaves:
        return
    played.do(WithdrawEntrant(entrant_id=entrant_id) if leaves else ReturnEntrant(entrant_id=entrant_id))


@given(entrants=st.integers(2, 400), pod_size=st.integers(2, 12), shortest=st.integers(2, 12))
def test_pods_differ_by_one_at_most_and_byes_are_as_few_as_can_be(
    entrants: int, pod_size: int, shortest: int
) -> None:
    shortest = min(shortest, pod_size)
    byes, sizes = pod_sizes(entrants, pod_size, shortest)
    assert byes + sum(sizes) == entrants
    if sizes:
        assert shortest <= min(sizes) <= max(sizes) <= pod_size
        assert max(sizes) - min(sizes) <= 1
    for fewer in range(byes):
        playing = entrants - fewer
        assert not any(pods * shortest <= playing <= pods * pod_size for pods in range(1, playing + 1))


@pytest.mark.parametrize(
    ("entrants", "pod_size", "shortest", "expected"),
    [
        (24, 4, 4, (0, [4] * 6)),
        (25, 4, 2, (0, [4, 4, 4, 4, 3, 3, 3])),
        (5, 4, 2, (0, [3, 2])),
        (5, 4, 4, (1, [4])),
        (25, 4, 4, (1, [4] * 6)),
        (26, 3, 3, (2, [3] * 8)),
        (3, 4, 4, (3, [])),
    ],
)
def test_pod_sizes_by_example(
    entrants: int, pod_size: int, shortest: int, expected: tuple[int, list[int]]
) -> None:
    assert pod_sizes(entrants, pod_size, shortest) == expected


def test_byes_go_to_the_lowest_ranked_of_those_without_one() -> None:
    ranking = ["first", "second", "third", "last"]
    assert choose_byes(ranking, [0, 0, 0, 0], 1) == {"last"}
    assert choose_byes(ranking, [0, 0, 0, 1], 1) == {"third"}
    assert choose_byes(ranking, [1, 0, 0, 1], 3) == {"third", "second", "last"}


def test_nobody_rests_twice_before_all_have_rested_once() -> None:
    played = play(7, rounds=7, pod_size=3, min_pod_size=3)
    rested = Counter(one for each in played.state.rounds for one in each.byes)
    assert set(rested.values()) == {1}
    assert len(rested) == 7


def test_leaving_and_returning_earns_no_second_bye() -> None:
    played = Played(setup(rounds=6, pod_size=3), 10)
    for _ in range(6):
        played.pair()
        (resting,) = played.state.rounds[-1].byes
        played.do(WithdrawEntrant(entrant_id=resting))
        played.do(ReturnEntrant(entrant_id=resting))
        played.book_all()
    rested = Counter(one for each in played.state.rounds for one in each.byes)
    assert set(rested.values()) == {1}


def test_a_withdrawn_entrant_is_paired_no_more_and_a_returned_one_again() -> None:
    played = Played(setup(rounds=3, min_pod_size=2), 9)
    played.pair()
    played.do(WithdrawEntrant(entrant_id="e3"))
    played.book_all()
    assert "e3" not in {one for pod in played.pair() for one in pod.entrants}
    played.do(ReturnEntrant(entrant_id="e3"))
    played.book_all()
    assert "e3" in {one for pod in played.pair() for one in pod.entrants}


def test_short_pods_are_shared_out() -> None:
    played = play(25, rounds=4, min_pod_size=3)
    short = Counter(one for pod in played.pods() if len(pod.entrants) == 3 for one in pod.entrants)
    assert max(short.values()) <= 2  # 36 short chairs for 25 entrants


def test_likes_play_likes_where_nothing_else_matters() -> None:
    played = Played(setup(rounds=2), 64)
    played.pair()
    for pod in played.state.rounds[-1].pods:
        played.book(pod.pod.pod, (1, 2, 3, 4))
    scores = {line.entrant_id: line.score for line in standings(played.state)}
    spreads = [
        max(scores[one] for one in pod.entrants) - min(scores[one] for one in pod.entrants)
        for pod in played.pair()
    ]
    assert set(spreads) == {0}
    assert max(meetings(played).values()) == 1


def test_match_ids_are_fixed_by_tournament_round_and_pod() -> None:
    played = play(24, rounds=2)
    ids = [pod.pod.match_id for pod in played.pods()]
    assert len(set(ids)) == 12
    assert all(0 <= int(shard_of(one)) < 8 for one in ids)
    assert ids == [pod.pod.match_id for pod in play(24, rounds=2).pods()]


def test_repeats_that_cannot_be_avoided_are_shared_out() -> None:
    met = meetings(play(8, rounds=5))  # each meets 15 of 7 others: two or three times
    assert set(met.values()) <= {1, 2, 3}


def test_a_thousand_entrants_meet_nobody_twice_in_seven_rounds() -> None:
    played = play(1000, rounds=7)
    assert max(meetings(played).values()) == 1
    imbalances = Counter(max(counts) - min(counts) for counts in seat_counts(played).values())
    assert imbalances[2] <= 20
    assert set(imbalances) <= {1, 2}
