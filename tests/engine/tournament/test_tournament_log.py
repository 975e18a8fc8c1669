"""A tournament's log: it folds to one state, re-decides byte for byte, and knows what it has accepted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from majlis.engine.decider import Rejected
from majlis.engine.tournament import accepted_before, fold, transact
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    CreateTournament,
    RegisterEntrant,
    StartTournament,
    TournamentSetup,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import decode_tournament_entry
from tests.engine.tournament.played import Played, person, setup


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
