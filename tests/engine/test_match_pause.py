"""Pause, resume and clock credit: nobody loses a second that was not theirs (DESIGN §6 "Clocks")."""

from __future__ import annotations

import pytest

from majlis.engine.history import fold
from majlis.engine.match import open_decision, public_view
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import (
    ClockCredited,
    CreditCause,
    CreditClock,
    MatchPaused,
    MatchResumed,
    Pause,
    Resign,
    Resume,
)
from tests.support.matches import COMPUTER, PERSON, Played, refused

STALL = CreditCause.STALL


def table() -> Played:
    it = Played.of(COMPUTER, COMPUTER)
    it.play_one()
    it.play_one()
    return it


def test_the_running_deadline_moves_by_the_length_of_the_pause() -> None:
    it = table()
    due_ms = it.due_ms
    it.now_ms += 10_000
    it.director(Pause(reason="fire drill"))
    assert [*it.events] == [MatchPaused(at_ms=it.now_ms, reason="fire drill")]
    assert open_decision(it.state) is None
    assert public_view(it.state).paused
    it.now_ms += 3_600_000
    it.director(Resume())
    assert [*it.events] == [MatchResumed(at_ms=it.now_ms)]
    assert it.due_ms == due_ms + 3_600_000
    assert fold(it.stored) == it.state
    it.now_ms = it.due_ms - 1
    with refused("NOT_DUE"):
        it.clock()
    it.play_one()


def test_nobody_moves_and_no_deadline_passes_while_paused() -> None:
    it = Played.of(PERSON, PERSON)
    it.sit()
    it.director(Pause())
    it.now_ms += 10**7
    with refused("MATCH_PAUSED"):
        it.play_one()
    with refused("MATCH_PAUSED"):
        it.clock()
    with refused("MATCH_PAUSED"):
        it.seat(0, Resign())
    with refused("MATCH_PAUSED"):
        it.platform(CreditClock(from_ms=it.now_ms - 5, to_ms=it.now_ms, cause=STALL))
    with refused("MATCH_PAUSED"):
        it.director(Pause())


def test_only_a_paused_match_is_resumed() -> None:
    with refused("MATCH_NOT_PAUSED"):
        table().director(Resume())


def test_the_seating_pauses_too() -> None:
    it = Played.of(PERSON, COMPUTER)
    due_ms = it.due_ms
    it.director(Pause())
    it.now_ms += 1000
    it.director(Resume())
    assert it.due_ms == due_ms + 1000


def test_time_that_the_platform_lost_is_given_back() -> None:
    it = table()
    due_ms = it.due_ms
    it.now_ms += 4000
    it.platform(CreditClock(from_ms=it.now_ms - 3000, to_ms=it.now_ms, cause=STALL))
    assert it.events == (ClockCredited(from_ms=it.now_ms - 3000, to_ms=it.now_ms, cause=STALL),)
    assert it.due_ms == due_ms + 3000
    assert fold(it.stored) == it.state


def test_credit_after_the_deadline_comes_before_the_deadline_is_judged() -> None:
    it = table()
    it.now_ms = it.due_ms + 500
    it.platform(CreditClock(from_ms=it.due_ms - 2000, to_ms=it.now_ms, cause=CreditCause.TAKEOVER))
    with refused("NOT_DUE"):
        it.clock()
    it.play_one()


@pytest.mark.parametrize(("from_ms", "to_ms"), [(10, 5), (0, 10**15)])
def test_credit_is_for_a_span_that_is_over(from_ms: int, to_ms: int) -> None:
    with refused("MALFORMED"):
        table().platform(CreditClock(from_ms=from_ms, to_ms=to_ms, cause=STALL))


def test_a_reason_is_short() -> None:
    it = table()
    with refused("TOO_LARGE"):
        it.director(Pause(reason="x" * 201))
    assert it.act_of(ActorKind.DIRECTOR, Pause()).command == Pause()
