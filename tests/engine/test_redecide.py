"""Deciding a history again finds whatever was changed in it, and names the entry (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from majlis.engine.evidence import (
    verify_history,
)
from majlis.engine.match import SEATING
from majlis.engine.vocabulary.entry import ActorKind, Command, Entry, Observed
from majlis.engine.vocabulary.match import Abort, DecisionOpened, MatchEnded, MatchOpened, OpenMatch
from majlis.engine.vocabulary.sounding import SoundingDealt, SoundingDraw
from majlis.engine.vocabulary.wire import (
    decode_entry,
    encode_entry,
)
from tests.support.matches import PERSON, Played
from tests.support.records import decoded, history, rechained
from tests.support.structs import structs


def test_a_true_history_is_verified_and_gives_the_match() -> None:
    verdict = verify_history(history())
    assert (verdict.ok, verdict.entries, verdict.fault, verdict.fault_entry) == (True, len(history()), "", 0)
    assert verdict.match_id == "0-match1"
    assert verdict.state is not None
    assert verdict.state.ended is not None


def test_an_unfinished_history_is_verified_too() -> None:
    assert verify_history(history()[:9]).ok


def test_a_history_in_which_clock_director_and_absent_seats_act_is_verified() -> None:
    it = Played.of(PERSON, PERSON)
    it.sit(0)
    it.expire()
    for _ in range(12):
        it.expire()
    it.director(Abort(reason="power cut"))
    assert verify_history(it.stored).ok


def test_no_entries_are_no_history() -> None:
    verdict = verify_history([])
    assert (verdict.ok, verdict.fault) == (False, "has no entries")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_flipped_bit_is_found_at_its_entry(data: st.DataObject) -> None:
    stored = list(history())
    # Who acted under which id cannot be derived: for the last entry the record's signed hash covers it.
    index = data.draw(st.integers(0, len(stored) - 2), label="entry")
    byte = data.draw(st.integers(0, len(stored[index]) - 1), label="byte")
    damaged = bytearray(stored[index])
    damaged[byte] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    stored[index] = bytes(damaged)
    verdict = verify_history(stored)
    assert not verdict.ok
    assert verdict.fault
    # Whatever still reads as a possible entry breaks the chain at the next one.
    assert verdict.fault_entry in (index + 1, index + 2)
    assert verdict.entries == verdict.fault_entry - 1


FORGERIES: dict[str, tuple[Callable[[list[Entry]], list[Entry]], int, str]] = {}
Forgery = Callable[[list[Entry]], list[Entry]]


def forgery(entry: int, words: str) -> Callable[[Forgery], Forgery]:
    """A change to the entries that leaves the chain good; found at `entry` (negative: from the end), with these words."""

    def register(change: Forgery) -> Forgery:
        FORGERIES[change.__name__] = (change, entry, words)
        return change

    return register


def changed(entries: list[Entry], number: int, **fields: object) -> list[Entry]:
    index = number - 1 if number > 0 else number
    entries[index] = replace(entries[index], **fields)
    return entries


def with_event(entries: list[Entry], kind: type, **fields: object) -> list[Entry]:
    """Changes the first event of that kind."""
    for index, entry in enumerate(entries):
        for place, event in enumerate(entry.events):
            if isinstance(event, kind):
                events = (*entry.events[:place], replace(event, **fields), *entry.events[place + 1 :])
                entries[index] = replace(entry, events=events)
                return entries
    raise AssertionError(kind)


@forgery(2, "another order in event")
def another_shuffle(entries: list[Entry]) -> list[Entry]:
    order = next(e.order for entry in entries for e in entry.events if isinstance(e, SoundingDealt))
    return with_event(entries, SoundingDealt, order=order[1:] + order[:1])


@forgery(1, "commitment")
def another_commitment(entries: list[Entry]) -> list[Entry]:
    return with_event(entries, MatchOpened, commitment=bytes(32))


@forgery(1, "commitment and server_seed")
def another_seed_in_the_command(entries: list[Entry]) -> list[Entry]:
    command = entries[0].command
    assert isinstance(command, OpenMatch)
    return changed(entries, 1, command=replace(command, server_seed=bytes(32)))


@forgery(-1, "position_hash")
def another_position_hash(entries: list[Entry]) -> list[Entry]:
    return with_event(entries, MatchEnded, position_hash=bytes(32))


@forgery(-1, "places")
def another_winner(entries: list[Entry]) -> list[Entry]:
    ended = entries[-1].events[-1]
    assert isinstance(ended, MatchEnded)
    return with_event(entries, MatchEnded, places=ended.places[::-1])


@forgery(2, "due_ms")
def a_longer_deadline(entries: list[Entry]) -> list[Entry]:
    opened = next(e for e in entries[1].events if isinstance(e, DecisionOpened))
    index = entries[1].events.index(opened)
    events = (
        *entries[1].events[:index],
        replace(opened, due_ms=opened.due_ms + 1),
        *entries[1].events[index + 1 :],
    )
    return changed(entries, 2, events=events)


@forgery(5, "has the number 6")
def a_missing_entry(entries: list[Entry]) -> list[Entry]:
    return entries[:4] + entries[5:]


@forgery(6, "has the number 5")
def an_entry_twice(entries: list[Entry]) -> list[Entry]:
    return entries[:5] + entries[4:]


@forgery(5, "refused")
def a_move_that_was_never_made(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 5, command=SoundingDraw(), decision_id=1)


@forgery(4, "events: deciding again gives")
def an_event_too_many(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 4, events=(*entries[3].events, entries[3].events[-1]))


@forgery(4, "events: deciding again gives")
def no_events(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 4, events=())


@forgery(5, "goes back in time")
def an_earlier_time(entries: list[Entry]) -> list[Entry]:
    observed = entries[1].observed
    assert observed is not None
    return changed(entries, 5, observed=replace(observed, received_at_ms=observed.received_at_ms - 10**6))


@forgery(3, "belongs to match")
def another_matchs_entry(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 3, match_id="0-other")


@forgery(3, "rules version 2")
def another_rules_version(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 3, rules_version=2)


@forgery(1, "no particular rules version")
def whatever_rules_version_is_newest(entries: list[Entry]) -> list[Entry]:
    command = entries[0].command
    assert isinstance(command, OpenMatch)
    return changed(entries, 1, command=replace(command, rules_version=0))


@forgery(3, "schema 99")
def a_newer_schema(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 3, schema=99)


@forgery(3, "no command")
def no_command(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 3, command=None)


@forgery(3, "does not say when")
def no_time(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 3, observed=None)


@forgery(4, "refused: WRONG_SEAT")
def an_actor_without_a_seat(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 4, actor_seat=None)


@forgery(4, "refused: FORBIDDEN")
def a_director_who_moves(entries: list[Entry]) -> list[Entry]:
    return changed(entries, 4, actor_kind=ActorKind.DIRECTOR)


@forgery(1, "refused: UNKNOWN_MATCH")
def no_opening(entries: list[Entry]) -> list[Entry]:
    return [replace(entry, number=entry.number - 1) for entry in entries[1:]]


@pytest.mark.parametrize("name", sorted(FORGERIES))
def test_a_forged_history_with_a_good_chain_is_found(name: str) -> None:
    change, number, words = FORGERIES[name]
    stored = rechained(change(decoded()))
    verdict = verify_history(stored)
    assert not verdict.ok
    assert verdict.fault_entry == (number if number > 0 else len(stored) + 1 + number)
    assert words in verdict.fault


def test_a_broken_chain_is_named() -> None:
    stored = list(history())
    stored[6] = encode_entry(replace(decode_entry(stored[6]), prev_hash=bytes(32)))
    verdict = verify_history(stored)
    assert (verdict.fault_entry, verdict.fault) == (7, "does not hold the hash of the entry before it")


def test_nothing_follows_the_ending() -> None:
    last = decode_entry(history()[-1])
    more = replace(last, number=last.number + 1, prev_hash=sha256(history()[-1]).digest())
    verdict = verify_history([*history(), encode_entry(more)])
    assert (verdict.fault_entry, verdict.fault) == (len(history()) + 1, "follows the ending")


def test_bytes_that_say_the_same_in_another_form_are_not_the_entry() -> None:
    stored = list(history())
    stored[-1] += bytes([0xFA, 0x7F, 0x00])  # an unknown field
    verdict = verify_history(stored)
    assert (verdict.fault_entry, verdict.fault) == (
        len(stored),
        "is not written in the one form its content has",
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_forger_who_may_write_anything_gets_a_fault_never_an_exception(data: st.DataObject) -> None:
    """Any command of anybody, at any time, for any decision, put into a history with a good chain."""
    entries = decoded()
    index = data.draw(st.integers(0, len(entries) - 1), label="entry")
    any_act = {
        "command": structs(Command),
        "actor_kind": st.sampled_from([kind for kind in ActorKind if kind]),
        "actor_seat": st.none() | st.integers(0, 3) | st.just(2**32 - 1),
        "decision_id": st.just(entries[index].decision_id) | st.integers(0, 40) | st.just(SEATING),
        "observed": structs(Observed),
    }
    chosen = data.draw(st.sets(st.sampled_from(sorted(any_act)), min_size=1), label="changed")
    entries[index] = replace(
        entries[index], **{name: data.draw(any_act[name], label=name) for name in sorted(chosen)}
    )
    verdict = verify_history(rechained(entries))
    assert verdict.ok == (not verdict.fault)
    assert verdict.ok or verdict.fault_entry >= index + 1


@pytest.mark.parametrize("at_ms", [-1, -(2**63), 2**63 - 1])
def test_a_time_that_is_none_is_a_fault(at_ms: int) -> None:
    entries = decoded()
    entries[0] = replace(entries[0], observed=Observed(received_at_ms=at_ms))
    verdict = verify_history(rechained(entries))
    assert (verdict.fault_entry, verdict.fault) == (1, f"was received at {at_ms}, which is no time")
