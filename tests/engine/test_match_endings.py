"""How a match ends, and what its result says (STYLE: an ending is a value)."""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import sha256

import pytest

from majlis.engine import match
from majlis.engine.history import Step, fold
from majlis.engine.match.flow import ranked
from majlis.engine.match.views import result
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    CreditCause,
    CreditClock,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    SubstituteComputer,
    TakeSeat,
    Termination,
)
from majlis.engine.vocabulary.sounding import SoundingChooseInitial, SoundingDraw
from tests.support.matches import COMPUTER, PERSON, START_MS, Played, names, played, refused


def table() -> Played:
    it = Played.of(PERSON, PERSON, COMPUTER)
    it.sit()
    return it


def test_a_match_that_is_played_out_says_so_with_places_totals_and_position() -> None:
    it = played(COMPUTER, COMPUTER, COMPUTER)
    game, ended = match.game_of(it.state), it.ended
    outcome = game.outcome(it.state.game_state)
    assert outcome is not None
    assert (ended.termination, ended.places, ended.totals) == (
        Termination.PLAYED_OUT,
        outcome.places,
        outcome.totals,
    )
    assert ended.position_hash == sha256(game.position(it.state.game_state).encode()).digest()
    assert ended.at_ms == it.now_ms
    assert (it.waiting_for, it.decision_id, match.open_decision(it.state)) == ((), 0, None)


def test_the_result_says_who_played_how_much() -> None:
    it = Played.of(PERSON, PERSON, COMPUTER, tournament_id="cup", round=3, pod=7)
    it.sit()
    it.seat(0, SoundingChooseInitial(first=0, second=1))
    it.expire()
    it.now_ms += 1000
    it.director(SubstituteComputer(seat=0, reason="ill"))
    it.play_out(random.Random(3))
    found = result(it.state)
    assert (found.match_id, found.revision, found.game) == (it.match_id, 1, "sounding")
    assert (found.tournament_id, found.round, found.pod) == ("cup", 3, 7)
    assert (found.entries, found.started_at_ms, found.ended_at_ms) == (len(it.steps), START_MS, it.now_ms)
    assert found.position_hash == it.ended.position_hash
    first, second, third = found.seats
    assert (first.own_moves, first.controller, first.opened_as_computer) == (1, COMPUTER, False)
    assert first.computer_moves > 5
    assert second.computer_moves == 1
    assert second.own_moves > 5
    assert (third.computer_moves, third.opened_as_computer) == (0, True)
    assert [seat.place for seat in found.seats] == list(it.ended.places)
    assert [seat.total for seat in found.seats] == list(it.ended.totals)


def test_there_is_no_result_before_the_end() -> None:
    with pytest.raises(ValueError, match="has not ended"):
        result(table().state)


def test_the_computer_plays_on_for_who_resigns_and_the_seat_ends_last() -> None:
    it = table()
    it.seat(0, Resign(), decision_id=0)
    assert names(it.events) == ["SeatResigned", "SeatTakenOver"]
    with refused("WRONG_SEAT"):
        it.seat(0, Resign())
    with refused("WRONG_SEAT"):
        it.seat(0, ReturnToSeat())
    with refused("WRONG_SEAT"):
        it.director(ReturnToSeat(seat=0))
    it.play_out(random.Random(5))
    assert it.ended.termination is Termination.PLAYED_OUT
    assert it.ended.places[0] == 3
    assert sorted(it.ended.places[1:]) in ([1, 1], [1, 2])
    assert fold(it.stored) == it.state


def test_when_one_seat_is_left_the_match_ends() -> None:
    it = table()
    it.seat(1, Resign())
    it.seat(0, Resign())
    assert names(it.events) == ["SeatResigned", "SeatTakenOver", "MatchEnded"]
    assert (it.ended.termination, it.ended.places, it.ended.totals) == (Termination.RESIGNED, (2, 3, 1), ())
    assert [seat.place for seat in result(it.state).seats] == [2, 3, 1]


def test_who_resigns_before_the_start_is_not_waited_for() -> None:
    it = Played.of(PERSON, COMPUTER, COMPUTER)
    it.seat(0, Resign())
    assert names(it.events)[:3] == ["SeatResigned", "SeatTakenOver", "MatchStarted"]


def test_a_computer_does_not_resign() -> None:
    with refused("WRONG_SEAT"):
        table().seat(2, Resign())


@pytest.mark.parametrize(
    ("places", "resigned", "expected"),
    [
        ((1, 2, 3, 4), (), (1, 2, 3, 4)),
        ((1, 2, 2, 4), (0,), (4, 1, 1, 3)),
        ((1, 2, 3, 4), (0, 1), (4, 3, 1, 2)),
        ((1, 1, 1), (2,), (1, 1, 3)),
        ((4, 3, 2, 1), (3, 0), (3, 2, 1, 4)),
    ],
)
def test_places_with_resignations(
    places: tuple[int, ...], resigned: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert ranked(places, resigned) == expected


def test_a_director_decides_the_match() -> None:
    it = table()
    it.director(Pause())
    it.director(Adjudicate(places=(1, 2, 2), reason="table fell over"))
    assert (it.ended.termination, it.ended.places, it.ended.reason) == (
        Termination.ADJUDICATED,
        (1, 2, 2),
        "table fell over",
    )
    assert not it.state.paused
    assert it.ended.position_hash == match.position_hash(it.state)


@pytest.mark.parametrize("places", [(), (1, 2), (1, 2, 3, 4), (1, 1, 2), (0, 1, 2), (2, 2, 2), (1, 3, 3)])
def test_places_must_be_places(places: tuple[int, ...]) -> None:
    with refused("MALFORMED"):
        table().director(Adjudicate(places=places, reason="x"))


def test_a_director_says_why() -> None:
    it = table()
    for command in (Adjudicate(places=(1, 2, 3)), Abort()):
        with refused("REASON_REQUIRED"):
            it.director(command)


def test_an_aborted_match_has_no_places() -> None:
    it = table()
    it.lobby(Abort(reason="power cut"))
    assert (it.ended.termination, it.ended.places, it.ended.totals) == (Termination.ABORTED, (), ())
    assert [seat.place for seat in result(it.state).seats] == [0, 0, 0]


def test_nothing_follows_the_ending() -> None:
    it = table()
    it.director(Abort(reason="power cut"))
    at = it.now_ms
    gives: tuple[Callable[[], Step], ...] = (
        lambda: it.seat(0, SoundingDraw(), decision_id=1),
        lambda: it.seat(0, TakeSeat()),
        lambda: it.seat(0, Resign()),
        lambda: it.seat(0, ReturnToSeat()),
        lambda: it.computer(2, SoundingDraw(), decision_id=1),
        lambda: it.clock(decision_id=1),
        lambda: it.director(Pause()),
        lambda: it.director(Resume()),
        lambda: it.director(Abort(reason="again")),
        lambda: it.director(Adjudicate(places=(1, 2, 3), reason="again")),
        lambda: it.director(SubstituteComputer(seat=0, reason="again")),
        lambda: it.platform(CreditClock(from_ms=at, to_ms=at, cause=CreditCause.STALL)),
    )
    for give in gives:
        with refused("MATCH_FINISHED"):
            give()
