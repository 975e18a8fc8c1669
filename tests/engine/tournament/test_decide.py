"""What may be done with a tournament, when, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from majlis.engine.decider import Rejected
from majlis.engine.tournament import ENTRANTS_MAX, accepted_before, decide, fold, transact
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import Controller
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AbortTournament,
    AdjudicatePod,
    BookNoShow,
    CreateTournament,
    Entrant,
    EntrantForfeited,
    EntrantReturned,
    ForfeitEntrant,
    NoShowPolicy,
    NoShowRecorded,
    PairRound,
    PauseTournament,
    PodDecided,
    PodStatus,
    RegisterEntrant,
    ResumeTournament,
    ReturnEntrant,
    RoundFinished,
    StartTournament,
    TournamentFinished,
    TournamentSetup,
    TournamentStage,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import decode_tournament_entry
from tests.engine.tournament.played import Played, computer, person, setup

DIRECTOR = ActorKind.DIRECTOR


def refused(played: Played, command: Any, kind: ActorKind = ActorKind.LOBBY) -> Code:
    """The code; the log is as before."""
    before = played.state
    with pytest.raises(Rejected) as refusal:
        played.do(command, kind)
    assert played.state is before
    assert refusal.value.detail
    assert refusal.value.remedy
    return refusal.value.code


def kinds(events: Sequence[object]) -> list[type]:
    return [type(event) for event in events]


def scores(played: Played, pod: int, round_number: int = 1) -> dict[str, int]:
    found = played.state.pod(round_number, pod)
    assert found is not None
    return dict(zip(found.entrants, found.scores, strict=True))


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


# --- results ---------------------------------------------------------------------------------------------------------


def test_a_result_is_booked_once_and_only_of_the_right_match() -> None:
    played = Played(setup(), 8)
    played.pair()
    booking = played.result(1, (1, 2, 3, 4))
    assert refused(played, replace(booking, match_id="0-abcd")) is Code.UNKNOWN_MATCH
    assert refused(played, replace(booking, pod=3)) is Code.UNKNOWN_POD
    assert refused(played, replace(booking, round=2)) is Code.UNKNOWN_POD
    for places in ((1, 2, 3), (1, 2, 3, 5), (0, 1, 2, 3)):
        assert refused(played, replace(booking, places=places)) is Code.MALFORMED
    played.do(booking)
    assert refused(played, booking) is Code.POD_DECIDED


def test_an_aborted_match_gives_everybody_the_draw_score() -> None:
    played = Played(setup(), 8)
    played.pair()
    played.book(1, ())
    assert set(scores(played, 1).values()) == {3}
    assert played.state.rounds[0].pods[0].status is PodStatus.VOID


def test_a_higher_revision_corrects_the_score_also_after_the_end() -> None:
    played = Played(setup(rounds=1), 4)
    played.pair()
    (event, *_) = played.book(1, (1, 2, 3, 4))
    assert isinstance(event, PodDecided)
    assert event.scores == (6, 4, 2, 0)
    before = played.state.final_standings
    assert kinds(played.book(1, (4, 2, 3, 1), revision=2)) == [PodDecided, TournamentFinished]
    assert played.state.final_standings[0].entrant_id == before[-1].entrant_id
    assert refused(played, played.result(1, (1, 2, 3, 4), revision=2)) is Code.POD_DECIDED


def test_a_correction_of_an_earlier_round_changes_no_pairing() -> None:
    played = Played(setup(rounds=3), 8)
    played.play_round()
    pods = [pod.entrants for pod in played.pair()]
    places = played.state.rounds[0].pods[0].places
    assert kinds(played.book(1, places[::-1], round_number=1, revision=2)) == [PodDecided]
    assert [pod.entrants for pod in played.state.rounds[1].pods] == pods
    assert played.state.stage is TournamentStage.PLAYING


def test_an_adjudication_stands_against_the_result_it_overrules() -> None:
    played = Played(setup(), 8)
    played.pair()
    decision = AdjudicatePod(round=1, pod=1, places=(1, 1, 3, 4), reason="marked cards")
    played.do(decision, DIRECTOR)
    assert list(scores(played, 1).values()) == [5, 5, 2, 0]
    assert refused(played, played.result(1, (1, 2, 3, 4))) is Code.POD_DECIDED
    played.book(2, (1, 2, 3, 4))
    assert played.state.rounds[0].finished
    played.do(replace(decision, pod=2, places=(4, 3, 2, 1)), DIRECTOR)
    assert list(scores(played, 2).values()) == [0, 2, 4, 6]
    played.book(1, (4, 3, 2, 1), revision=2)
    assert list(scores(played, 1).values()) == [0, 2, 4, 6]


def test_places_are_put_in_order_where_the_ranking_has_gaps() -> None:
    played = Played(setup(), 4)
    played.pair()
    (event, *_) = played.book(1, (2, 2, 4, 4))
    assert isinstance(event, PodDecided)
    assert event.places == (1, 1, 3, 3)


# --- forfeits and no-shows -------------------------------------------------------------------------------------------


def test_who_forfeits_is_last_and_scores_nothing_whatever_the_computer_does() -> None:
    played = Played(setup(), 8)
    (pod, _) = played.pair()
    gone = pod.entrants[2]
    forfeit = ForfeitEntrant(round=1, pod=1, entrant_id=gone, reason="left")
    assert kinds(played.do(forfeit, DIRECTOR)) == [EntrantForfeited]
    assert refused(played, forfeit, DIRECTOR) is Code.POD_DECIDED
    played.book(1, (2, 3, 1, 4))
    assert played.state.rounds[0].pods[0].places == (1, 2, 4, 3)
    assert list(scores(played, 1).values()) == [6, 4, 0, 2]


def test_a_forfeit_after_the_result_corrects_it() -> None:
    played = Played(setup(), 8)
    (pod, _) = played.pair()
    played.book(1, (2, 3, 1, 4))
    forfeit = ForfeitEntrant(round=1, pod=1, entrant_id=pod.entrants[2], reason="had help")
    assert kinds(played.do(forfeit, DIRECTOR)) == [EntrantForfeited, PodDecided]
    assert list(scores(played, 1).values()) == [6, 4, 0, 2]


def test_a_pod_ends_when_all_but_one_have_forfeited() -> None:
    played = Played(setup(pod_size=2), 4)
    (pod, _) = played.pair()
    events = played.do(ForfeitEntrant(round=1, pod=1, entrant_id=pod.entrants[0], reason="left"), DIRECTOR)
    assert kinds(events) == [EntrantForfeited, PodDecided]
    assert list(scores(played, 1).values()) == [0, 2]
    assert refused(played, played.result(1, (1, 2))) is Code.POD_DECIDED


def test_in_a_void_pod_who_had_forfeited_scores_nothing() -> None:
    played = Played(setup(), 8)
    (pod, _) = played.pair()
    played.do(ForfeitEntrant(round=1, pod=1, entrant_id=pod.entrants[0], reason="left"), DIRECTOR)
    played.book(1, ())
    assert list(scores(played, 1).values()) == [0, 3, 3, 3]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (NoShowPolicy.COMPUTER, [NoShowRecorded]),
        (NoShowPolicy.FORFEIT, [NoShowRecorded, EntrantForfeited]),
    ],
)
def test_a_no_show_is_recorded_and_costs_what_the_tournament_says(
    policy: NoShowPolicy, expected: list[type]
) -> None:
    played = Played(setup(no_show=policy), 8)
    (pod, other) = played.pair()
    no_show = BookNoShow(round=1, pod=1, entrant_id=pod.entrants[1])
    assert kinds(played.do(no_show)) == expected
    assert refused(played, no_show) is Code.POD_DECIDED
    stranger = replace(no_show, entrant_id=other.entrants[0])
    assert refused(played, stranger) is Code.UNKNOWN_ENTRANT


# --- the log ---------------------------------------------------------------------------------------------------------


def test_the_log_folds_to_the_same_state_and_decides_alike() -> None:
    played = Played(setup(rounds=3, min_pod_size=2, pod_size=3), 8)
    played.play_round()
    played.do(WithdrawEntrant(entrant_id="e1"))
    played.play_round()
    played.play_round()
    assert fold(played.stored) == played.state
    state = None
    for stored in played.stored:
        entry = decode_tournament_entry(stored)
        assert entry.command is not None
        assert entry.observed is not None
        act = replace(
            played.act(entry.command, entry.actor_kind, entry.actor_id),
            command_id=entry.command_id,
            received_at_ms=entry.observed.received_at_ms,
        )
        step = transact(state, act, "cup")
        assert step.stored == stored
        state = step.state


def test_time_never_goes_backwards_in_a_tournament() -> None:
    played = Played(setup())
    played.now_ms = 5
    played.do(RegisterEntrant(entrant=person(1)))
    assert played.state.last_ms == 1_000


def test_damaged_and_unknown_entries_are_not_folded() -> None:
    played = Played(setup(), 4)
    with pytest.raises(Unreadable):
        fold([*played.stored, b"\xff\xff\xff"])
    with pytest.raises(Unreadable):
        fold([*played.stored, b""])


def test_a_command_id_stands_for_one_command_of_one_actor() -> None:
    played = Played(setup())
    act = played.act(RegisterEntrant(entrant=person(1)), ActorKind.SEAT, "p1")
    step = transact(played.state, act, "cup")
    assert accepted_before(played.state, act) is None
    assert accepted_before(step.state, act) == 2
    assert accepted_before(step.state, replace(act, actor_id="p2")) is None
    with pytest.raises(Rejected) as refusal:
        accepted_before(step.state, replace(act, command=StartTournament()))
    assert refusal.value.code is Code.DUPLICATE_COMMAND


def test_thirty_two_command_ids_of_each_actor_are_remembered() -> None:
    played = Played(setup())
    first = played.act(RegisterEntrant(entrant=person(0)), ActorKind.SEAT, "p1")
    played.state = transact(played.state, first, "cup").state
    for number in range(1, 33):
        act = played.act(RegisterEntrant(entrant=person(number)), ActorKind.SEAT, "p1")
        played.state = transact(played.state, act, "cup").state
        assert (accepted_before(played.state, first) is None) is (number == 32)


def test_the_setup_of_a_tournament_stands_in_its_first_entry() -> None:
    played = Played(setup(seed=3))
    entry = decode_tournament_entry(played.stored[0])
    assert isinstance(entry.command, CreateTournament)
    assert isinstance(entry.command.setup, TournamentSetup)
    assert entry.command.setup == played.state.setup
    assert entry.prev_hash == bytes(32)
