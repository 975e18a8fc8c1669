"""Histories: the entries of one match, each holding the hash of the one before.

`transact` is the only way from a command to an entry, and `fold` the only way from entries to a state.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from msgspec import Struct

from majlis.engine.match import Act, MatchState, decide, prepared, stamp
from majlis.engine.match.folding import Folding
from majlis.engine.match.state import NO_HASH
from majlis.engine.vocabulary.entry import Entry
from majlis.engine.vocabulary.wire import encode_entry

SCHEMA: Final = 1
"""Of the entries written here. Raised when older code could not read them rightly."""


class Step(Struct, frozen=True, gc=False):
    """One accepted command: the entry, its stored bytes, and the match after it."""

    state: MatchState
    entry: Entry
    stored: bytes


def transact(state: MatchState | None, act: Act, match_id: str) -> Step:
    """Decides, numbers, chains, encodes and folds one command. Raises Rejected, and then nothing has happened."""
    act = prepared(state, act)
    draft = decide(state, act, match_id)
    after = draft.state
    entry = Entry(
        schema=SCHEMA,
        rules_version=after.facts.rules_version,
        match_id=match_id,
        number=after.number + 1,
        actor_kind=act.actor_kind,
        actor_seat=act.actor_seat,
        actor_id=act.actor_id,
        command_id=act.command_id,
        decision_id=act.decision_id,
        command=act.command,
        observed=act.observed,
        events=tuple(draft),
        prev_hash=state.head_hash if state is not None else NO_HASH,
    )
    stored = encode_entry(entry)
    return Step(stamp(after, act, entry.number, sha256(stored).digest()), entry, stored)


def fold(stored: Iterable[bytes], state: MatchState | None = None) -> MatchState:
    """The match after these entries, which follow on `state`. Raises ValueError when there are none, Unreadable.

    Trusts what it reads: whoever does not, verifies first (`evidence.verify_history`).
    """
    folding = Folding(state)
    for one in stored:
        folding.add(one)
    folded = folding.state
    if folded is None:
        raise ValueError("a history has at least one entry")
    return folded
