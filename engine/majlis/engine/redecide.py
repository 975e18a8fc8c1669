"""Deciding a history again: from the stored entries alone, every command once more, byte for byte.

This covers the chain of hashes, the numbering, the commitment to the seed, every shuffle and draw, the scoring and the
position hash at the end: all of them stand in events, and each event must be what deciding again gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from majlis.engine.decider import Rejected
from majlis.engine.history import SCHEMA
from majlis.engine.match import Act, Draft, MatchState, decide, prepared, stamp
from majlis.engine.match.state import NO_HASH
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind, Event
from majlis.engine.vocabulary.wire import (
    EVENT_NAMES,
    EntryFrame,
    frame_entry,
    open_command,
    open_event,
    read_observed,
    seal_command,
    seal_event,
)

_TIMES: Final = 1 << 53
"""Unix times in ms beyond this are none: sums of them stay within 64 bits."""
_ACTORS: Final = {int(kind): kind for kind in ActorKind if kind is not ActorKind.UNSPECIFIED}


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
        frame = frame_entry(stored)
        _check_place(state, frame, number)
        act = _act_of(frame)
        draft = _decided(state, act, frame.match_id)
        # Events are compared as bytes: what deciding gives is written again, what is stored need not be read.
        if [seal_event(event) for event in draft] != list(frame.events):
            raise Fault(_difference(draft, [open_event(event) for event in frame.events]))
    except Unreadable as error:
        raise Fault(f"is unreadable: {error}") from error
    if draft.state.facts.rules_version != frame.rules_version:
        raise Fault(f"names rules version {frame.rules_version}, the match is played under another")
    frame.DiscardUnknownFields()
    if frame.SerializeToString(deterministic=True) != stored or seal_command(act.command) != frame.command:
        raise Fault("is not written in the one form its content has")
    return stamp(draft.state, act, number, sha256(stored).digest())


def _check_place(state: MatchState | None, frame: EntryFrame, number: int) -> None:
    """Whether the entry follows on the ones before it; raises Fault."""
    if frame.schema > SCHEMA:
        raise Fault(f"is of schema {frame.schema}: this program knows {SCHEMA}")
    if state is not None and state.ended is not None:
        raise Fault("follows the ending")
    if frame.number != number:
        raise Fault(f"has the number {frame.number}")
    if state is not None and frame.match_id != state.match_id:
        raise Fault(f"belongs to match {frame.match_id!r}")
    if frame.prev_hash != (state.head_hash if state is not None else NO_HASH):
        raise Fault("does not hold the hash of the entry before it")


def _act_of(frame: EntryFrame) -> Act:
    """Who asked for what; raises Fault, Unreadable."""
    actor_kind = _ACTORS.get(frame.actor_kind)
    if actor_kind is None:
        raise Fault("names no actor")
    if not frame.HasField("command"):
        raise Fault("has no command")
    if not frame.HasField("observed"):
        raise Fault("does not say when it was received")
    observed = read_observed(frame.observed)
    if not 0 <= observed.received_at_ms < _TIMES:
        raise Fault(f"was received at {observed.received_at_ms}, which is no time")
    return Act(
        actor_kind,
        frame.actor_seat if frame.HasField("actor_seat") else None,
        frame.actor_id,
        frame.command_id,
        frame.decision_id,
        open_command(frame.command),
        observed,
    )


def _decided(state: MatchState | None, act: Act, match_id: str) -> Draft:
    """What the command causes; raises Fault."""
    try:
        if prepared(state, act) is not act:
            raise Fault("goes back in time" if state is not None else "opens no particular rules version")
        return decide(state, act, match_id)
    except Rejected as refusal:
        raise Fault(f"holds a command that is refused: {refusal}") from refusal


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
    if len(decided) == len(stored):
        return "is not written in the one form its content has"
    return f"has {len(stored)} events: deciding again gives {len(decided)}"
