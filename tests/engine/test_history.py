"""The one transact loop, and the fold that must lead to the same match (DESIGN §5, §6)."""

from __future__ import annotations

import random
from hashlib import sha256

import msgspec
import pytest
from msgspec.structs import replace

from majlis.engine import history, registry
from majlis.engine.history import fold
from majlis.engine.match import evolve, snapshot
from majlis.engine.match.state import NO_HASH
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.match import (
    CreditCause,
    CreditClock,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    SubstituteComputer,
)
from majlis.engine.vocabulary.wire import decode_entry
from tests.support.matches import COMPUTER, PERSON, Played, played, refused


def eventful() -> Played:
    """A tournament match in which everything happens that may: absence, return, substitution, pause, credit, resignation."""
    it = Played.of(PERSON, PERSON, PERSON, COMPUTER, tournament_id="cup", round=1, pod=2)
    it.sit(0, 1)
    it.expire()
    rng = random.Random(4)
    for number in range(200):
        if it.state.ended is not None:
            break
        it.now_ms += rng.randrange(3000)
        if number == 8:
            it.director(Pause(reason="dinner"))
            it.now_ms += 3_000_000
            it.director(Resume())
        elif number == 14:
            it.platform(CreditClock(from_ms=it.now_ms - 400, to_ms=it.now_ms, cause=CreditCause.LOOP_GAP))
        elif number == 20:
            it.seat(2, ReturnToSeat(), decision_id=0)
        elif number == 40:
            it.director(SubstituteComputer(seat=1, reason="ill"))
        elif number == 60:
            it.seat(0, Resign(), decision_id=0)
        elif number % 3 == 1:
            it.expire()
        else:
            it.play_one(lambda _state, seat: rng.choice(it.legal(seat)))
    return it.play_out(rng)


def test_each_entry_is_numbered_and_holds_the_hash_of_the_one_before() -> None:
    it = played(COMPUTER, COMPUTER)
    head = NO_HASH
    for number, step in enumerate(it.steps, start=1):
        entry = decode_entry(step.stored)
        assert entry == step.entry
        assert (entry.number, entry.prev_hash, entry.schema) == (number, head, history.SCHEMA)
        assert entry.events
        head = sha256(step.stored).digest()
        assert step.state.head_hash == head
    assert it.state.number == len(it.steps)


def test_folding_the_stored_bytes_gives_every_state_that_deciding_gave() -> None:
    it = eventful()
    assert it.state.ended is not None
    state = None
    for step in it.steps:
        state = fold([step.stored], state)
        assert state == step.state
    assert fold(it.stored) == it.state


@pytest.mark.parametrize("cut", [1, 2, 3, 17, 50])
def test_folding_may_go_on_from_any_state(cut: int) -> None:
    it = eventful()
    assert fold(it.stored[cut:], it.steps[cut - 1].state) == it.state


def test_deciding_twice_gives_the_same_bytes() -> None:
    assert eventful().stored == eventful().stored


def test_a_rejected_command_is_no_entry() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    with refused("FORBIDDEN"):
        it.platform(Pause())
    assert len(it.steps) == 1


def test_there_is_no_match_without_entries() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fold([])


def test_a_damaged_entry_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        fold([Played.of(COMPUTER, COMPUTER).stored[0][:-1]])


def test_evolve_ignores_events_that_are_not_its_own() -> None:
    """Events of other games, and of this one before it has started, change nothing and raise nothing."""
    before = Played.of(PERSON, COMPUTER).state
    for event in played(COMPUTER, COMPUTER).log:
        if type(event).__name__.startswith("Sounding"):
            assert evolve(before, event, 0) == before


# --- snapshots -----------------------------------------------------------------------------------------------------


def test_a_snapshot_gives_the_state_back_at_every_entry() -> None:
    for step in eventful().steps:
        assert snapshot.load(snapshot.dump(step.state)) == step.state


def test_play_goes_on_from_a_snapshot() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    for _ in range(20):
        it.play_one()
    it.steps[-1] = replace(it.steps[-1], state=snapshot.load(snapshot.dump(it.state)))
    it.play_out(random.Random(1))
    assert fold(it.stored) == it.state


def test_the_schema_of_a_snapshot_is_the_matchs_and_the_games() -> None:
    assert (
        snapshot.schema("sounding") == snapshot.STATE_SCHEMA * 1000 + registry.game("sounding").state_schema
    )
    with refused("UNKNOWN_GAME"):
        snapshot.schema("chess")


@pytest.mark.parametrize("stored", [b"", b"\xc0", b"\x94\xa3abc\xc0\xc0\xc0"])
def test_what_is_no_snapshot_is_a_decode_error(stored: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        snapshot.load(stored)


def test_an_idle_table_is_small() -> None:
    """DESIGN §2's ten thousand tables: the state of one must stay well below the 30 KB a table may take."""
    it = Played.of(PERSON, PERSON, PERSON, PERSON)
    it.sit()
    while it.state.ended is None:
        assert len(snapshot.dump(it.state)) < 8000
        it.play_one()
