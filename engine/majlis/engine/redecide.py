"""Deciding a history again: from the stored entries alone, every command once more, byte for byte.

This covers the chain of hashes, the numbering, the commitment to the seed, every shuffle and draw, the scoring and the
position hash at the end: all of them stand in events, and each event must be what deciding again gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from majlis.engine.decider import Rejected
from majlis.engine.history import SCHEMA
from majlis.engine.match import Act, MatchState, decide, prepared, stamp
from majlis.engine.match.state import NO_HASH
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import Entry, Event
from majlis.engine.vocabulary.wire import EVENT_NAMES, decode_entry, encode_entry


class Verdict(Struct, frozen=True):
    """What verifying a history or record found."""

    ok: bool
    entries: int
    """Entries found good, counted from the first."""
    fault: str = ""
    """What is wrong, as a sentence without its subject; empty when `ok`."""
    fault_entry: int = 0
    """The number of the first bad entry; 0 where none is to blame."""
    match_id: str = ""
    state: MatchState | None = None
    """The match after the last entry, when `ok`."""


class Fault(Exception):
    """What is wrong with one entry."""


def verify_history(stored: Sequence[bytes]) -> Verdict:
    """Decides every command again. Never raises: the first entry that is not as it must be is named."""
    state: MatchState | None = None
    match_id = ""
    for number, one in enumerate(stored, start=1):
        try:
            state = _redecided(state, one, number)
        except Fault as fault:
            return Verdict(False, number - 1, str(fault), number, match_id)
        match_id = state.match_id
    if state is None:
        return Verdict(False, 0, "has no entries")
    return Verdict(True, len(stored), match_id=match_id, state=state)


def _redecided(state: MatchState | None, stored: bytes, number: int) -> MatchState:
    """The match after this entry; raises Fault."""
    try:
        entry = decode_entry(stored)
    except Unreadable as error:
        raise Fault(f"is unreadable: {error}") from error
    _check_place(state, entry, number)
    command, observed = entry.command, entry.observed
    if command is None or observed is None:
        raise Fault("has no command" if command is None else "does not say when it was received")
    act = Act(
        entry.actor_kind,
        entry.actor_seat,
        entry.actor_id,
        entry.command_id,
        entry.decision_id,
        command,
        observed,
    )
    try:
        if prepared(state, act) is not act:
            raise Fault("goes back in time" if state is not None else "opens no particular rules version")
        draft = decide(state, act, entry.match_id)
    except Rejected as refusal:
        raise Fault(f"holds a command that is refused: {refusal}") from refusal
    if tuple(draft) != entry.events:
        raise Fault(_difference(draft, entry.events))
    if draft.state.facts.rules_version != entry.rules_version:
        raise Fault(f"names rules version {entry.rules_version}, the match is played under another")
    if encode_entry(entry) != stored:
        raise Fault("is not written in the one form its content has")
    return stamp(draft.state, entry, sha256(stored).digest())


def _check_place(state: MatchState | None, entry: Entry, number: int) -> None:
    """Whether the entry follows on the ones before it; raises Fault."""
    if entry.schema > SCHEMA:
        raise Fault(f"is of schema {entry.schema}: this program knows {SCHEMA}")
    if state is not None and state.ended is not None:
        raise Fault("follows the ending")
    if entry.number != number:
        raise Fault(f"has the number {entry.number}")
    if state is not None and entry.match_id != state.match_id:
        raise Fault(f"belongs to match {entry.match_id!r}")
    if entry.prev_hash != (state.head_hash if state is not None else NO_HASH):
        raise Fault("does not hold the hash of the entry before it")


def _difference(decided: Sequence[Event], stored: Sequence[Event]) -> str:
    for number, (ours, theirs) in enumerate(zip(decided, stored, strict=False), start=1):
        if ours == theirs:
            continue
        name, stored_name = EVENT_NAMES[type(ours)], EVENT_NAMES[type(theirs)]
        if name != stored_name:
            return f"has {stored_name} as event {number}: deciding again gives {name}"
        ours_fields, theirs_fields = msgspec.structs.asdict(ours), msgspec.structs.asdict(theirs)
        fields = [field for field, value in ours_fields.items() if theirs_fields[field] != value]
        return f"has another {' and '.join(fields)} in event {number}, {name}, than deciding again gives"
    return f"has {len(stored)} events: deciding again gives {len(decided)}"
