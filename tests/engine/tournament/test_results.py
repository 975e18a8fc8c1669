"""How pods are decided: results, corrections, adjudications, forfeits, no-shows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AdjudicatePod,
    BookNoShow,
    EntrantForfeited,
    ForfeitEntrant,
    NoShowPolicy,
    NoShowRecorded,
    PodDecided,
    PodStatus,
    TournamentFinished,
    TournamentStage,
)
from tests.engine.tournament.played import Played, kinds, refused, setup

DIRECTOR = ActorKind.DIRECTOR


def scores(played: Played, pod: int, round_number: int = 1) -> dict[str, int]:
    found = played.state.pod(round_number, pod)
    assert found is not None
    return dict(zip(found.entrants, found.scores, strict=True))


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
