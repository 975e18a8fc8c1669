"""What may be done with a tournament, when, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from majlis.engine.decider import Rejected
from majlis.engine.tournament import ENTRANTS_MAX, decide
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import Controller
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AbortTournament,
    AdjudicatePod,
    CreateTournament,
    Entrant,
    EntrantReturned,
    ForfeitEntrant,
    PairRound,
    PauseTournament,
    PodDecided,
    RegisterEntrant,
    ResumeTournament,
    ReturnEntrant,
    RoundFinished,
    StartTournament,
    TournamentFinished,
    TournamentStage,
    WithdrawEntrant,
)
from tests.engine.tournament.played import Played, computer, kinds, person, refused, setup

DIRECTOR = ActorKind.DIRECTOR


# --- registration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"game": ""},
        {"rounds": 0},
        {"rounds": 101},
        {"pod_size": 1},
        {"pod_size": 13},
        {"min_pod_size": 5},
        {"min_pod_size": 1},
        {"rng_seed": b"short"},
        {"byes_score_percent": 101},
        {"max_entrants": ENTRANTS_MAX + 1},
    ],
)
def test_a_setup_that_cannot_be_played_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Rejected) as refusal:
        Played(replace(setup(), **change))
    assert refusal.value.code is Code.MALFORMED


def test_nothing_can_be_done_with_a_tournament_that_was_not_created() -> None:
    act = Played(setup()).act(StartTournament(), DIRECTOR)
    with pytest.raises(Rejected) as refusal:
        decide(None, act, "cup")
    assert refusal.value.code is Code.UNKNOWN_TOURNAMENT


def test_a_tournament_is_created_once() -> None:
    assert refused(Played(setup()), CreateTournament(setup=setup())) is Code.TOURNAMENT_EXISTS


def test_entrants_are_seeded_in_order_of_registration_where_nothing_else_is_said() -> None:
    played = Played(setup())
    played.do(RegisterEntrant(entrant=person(1)))
    played.do(RegisterEntrant(entrant=replace(person(2), seeding=9)))
    played.do(RegisterEntrant(entrant=computer(3)))
    assert [one.entrant.seeding for one in played.state.entrants.values()] == [1, 9, 3]


def test_registration_refuses_doubles_strangers_and_who_comes_too_late() -> None:
    played = Played(setup(max_entrants=4))
    for number in range(4):
        played.do(RegisterEntrant(entrant=person(number)))
    named = replace(person(9), name="e0")
    assert refused(played, RegisterEntrant(entrant=person(1))) is Code.ALREADY_REGISTERED
    assert refused(played, RegisterEntrant(entrant=person(5))) is Code.TOURNAMENT_FULL
    played.do(WithdrawEntrant(entrant_id="e3"))
    assert refused(played, RegisterEntrant(entrant=named)) is Code.NAME_TAKEN
    for broken in broken_entrants():
        assert refused(played, RegisterEntrant(entrant=broken)) is Code.MALFORMED
    assert refused(played, WithdrawEntrant(entrant_id="nobody")) is Code.UNKNOWN_ENTRANT
    assert refused(played, WithdrawEntrant(entrant_id="e3")) is Code.WRONG_STAGE
    assert refused(played, ReturnEntrant(entrant_id="e1")) is Code.WRONG_STAGE
    assert kinds(played.do(RegisterEntrant(entrant=person(3)))) == [EntrantReturned]
    played.do(StartTournament())
    assert refused(played, RegisterEntrant(entrant=person(6))) is Code.WRONG_STAGE


def broken_entrants() -> list[Entrant | None]:
    whole = person(8)
    return [
        None,
        replace(whole, entrant_id=""),
        replace(whole, name=""),
        replace(whole, player_ids=()),
        replace(whole, controller=Controller.VACANT),
        replace(whole, controller=Controller.COMPUTER),
    ]


def test_too_few_entrants_cannot_start() -> None:
    played = Played(setup(min_pod_size=3))
    for number in range(3):
        played.do(RegisterEntrant(entrant=person(number)))
    played.do(WithdrawEntrant(entrant_id="e0"))
    assert refused(played, StartTournament()) is Code.TOO_FEW_ENTRANTS


# --- rounds ----------------------------------------------------------------------------------------------------------


def test_a_round_ends_with_its_last_pod_and_the_tournament_with_its_last_round() -> None:
    played = Played(setup(rounds=2), 8)
    for last in (False, True):
        played.pair()
        assert refused(played, PairRound(round=played.state.round + 1, shards=8)) is Code.WRONG_STAGE
        assert kinds(played.book(1, (1, 2, 3, 4))) == [PodDecided]
        ending = [PodDecided, RoundFinished, TournamentFinished]
        assert kinds(played.book(2, (4, 3, 2, 1))) == ending[: 3 if last else 2]
    assert played.state.stage is TournamentStage.FINISHED
    assert [line.place for line in played.state.final_standings] == list(range(1, 9))


def test_rounds_are_paired_one_after_the_other() -> None:
    played = Played(setup(), 8)
    assert refused(played, PairRound(round=2, shards=8)) is Code.WRONG_STAGE
    assert refused(played, PairRound(round=1)) is Code.MALFORMED
    played.pair()
    assert refused(played, StartTournament()) is Code.WRONG_STAGE


def test_a_tournament_that_everybody_has_left_ends() -> None:
    played = Played(setup(), 4)
    played.pair()
    played.do(WithdrawEntrant(entrant_id="e0"))
    played.book_all()
    assert kinds(played.do(PairRound(round=2, shards=8))) == [TournamentFinished]


def test_pause_and_resume() -> None:
    played = Played(setup(), 8)
    played.pair()
    assert refused(played, ResumeTournament()) is Code.WRONG_STAGE
    played.do(PauseTournament(reason="fire alarm"), DIRECTOR)
    assert refused(played, PauseTournament(reason="again"), DIRECTOR) is Code.WRONG_STAGE
    played.book_all()  # what was played counts
    assert refused(played, PairRound(round=2, shards=8)) is Code.WRONG_STAGE
    played.do(ResumeTournament())
    played.pair()


def test_nothing_more_happens_to_an_aborted_tournament() -> None:
    played = Played(setup(), 8)
    pods = played.pair()
    played.do(AbortTournament(reason="power cut"), DIRECTOR)
    assert refused(played, played.result(1, (1, 2, 3, 4))) is Code.WRONG_STAGE
    assert refused(played, AbortTournament(reason="twice"), DIRECTOR) is Code.WRONG_STAGE
    assert refused(played, WithdrawEntrant(entrant_id=pods[0].entrants[0])) is Code.WRONG_STAGE


def test_directors_need_reasons() -> None:
    played = Played(setup(), 8)
    played.pair()
    for command in (
        PauseTournament(),
        AbortTournament(reason="  "),
        AdjudicatePod(round=1, pod=1, places=(1, 2, 3, 4)),
        ForfeitEntrant(round=1, pod=1, entrant_id="e1"),
        WithdrawEntrant(entrant_id="e1"),
    ):
        assert refused(played, command, DIRECTOR) is Code.REASON_REQUIRED
    assert refused(played, PauseTournament(reason="x" * 501), DIRECTOR) is Code.TOO_LARGE
    played.do(WithdrawEntrant(entrant_id="e1"), ActorKind.SEAT)
