"""A tournament's entries: one accepted command each, numbered and chained; the one transact loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from majlis.engine.decider import Rejected
from majlis.engine.tournament.decide import decide
from majlis.engine.tournament.evolve import evolve
from majlis.engine.tournament.state import REMEMBERED, Act, Remembered, TournamentState
from majlis.engine.vocabulary.entry import ActorKind, Observed
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.tournament import TournamentEntry
from majlis.engine.vocabulary.wire import (
    decode_tournament_entry,
    encode_tournament_command,
    encode_tournament_entry,
)

SCHEMA: Final = 1
"""Of the entries this version writes."""


class Step(Struct, frozen=True):
    """One accepted command: the state after it, its entry, and the entry as it is stored."""

    state: TournamentState
    entry: TournamentEntry
    stored: bytes


def transact(state: TournamentState | None, act: Act, tournament_id: str) -> Step:
    """Decides a command and makes the entry of it. Raises Rejected.

    Ask `accepted_before` first: a command id that was accepted already is answered, not decided again.
    """
    last_ms = state.last_ms if state is not None else 0
    act = replace(act, received_at_ms=max(act.received_at_ms, last_ms))
    entry = TournamentEntry(
        schema=SCHEMA,
        tournament_id=tournament_id,
        number=state.number + 1 if state is not None else 1,
        actor_kind=act.actor_kind,
        actor_id=act.actor_id,
        command_id=act.command_id,
        command=act.command,
        observed=Observed(received_at_ms=act.received_at_ms),
        events=tuple(decide(state, act, tournament_id)),
        prev_hash=state.head_hash if state is not None else bytes(32),
    )
    stored = encode_tournament_entry(entry)
    after = apply(state, entry, sha256(stored).digest())
    assert after is not None
    return Step(after, entry, stored)


def apply(state: TournamentState | None, entry: TournamentEntry, entry_hash: bytes) -> TournamentState | None:
    """The state after one entry: a total fold."""
    for event in entry.events:
        state = evolve(state, event, entry.tournament_id)
    if state is None:
        return None
    received = entry.observed.received_at_ms if entry.observed is not None else 0
    return replace(
        state,
        number=entry.number,
        head_hash=entry_hash,
        last_ms=max(state.last_ms, received),
        recent=_remember(state, entry),
    )


def fold(stored: Iterable[bytes], state: TournamentState | None = None) -> TournamentState | None:
    """The state after those stored entries of one tournament. Raises Unreadable."""
    for one in stored:
        state = apply(state, decode_tournament_entry(one), sha256(one).digest())
    return state


def accepted_before(state: TournamentState | None, act: Act) -> int | None:
    """The number of the entry in which this actor's command id was accepted, or None.

    Raises Rejected(DUPLICATE_COMMAND) where the id was used for another command.
    """
    for one in state.recent.get(act.actor_id, ()) if state is not None else ():
        if one.command_id == act.command_id:
            if one.command_hash == _command_hash(act):
                return one.entry
            raise Rejected(
                RejectionCode.DUPLICATE_COMMAND,
                f"command id {act.command_id[:64]!r} was used for another command (entry {one.entry})",
                "Use a new command id for every new command.",
            )
    return None


def _remember(state: TournamentState, entry: TournamentEntry) -> Mapping[str, tuple[Remembered, ...]]:
    """The lobby's own commands need no memory: pairing and booking twice is refused by the state itself."""
    if entry.actor_kind is ActorKind.LOBBY or entry.command is None:
        return state.recent
    fresh = Remembered(entry.command_id, entry.number, _command_hash(entry))
    kept = (*state.recent.get(entry.actor_id, ()), fresh)[-REMEMBERED:]
    return {**state.recent, entry.actor_id: kept}


def _command_hash(what: Act | TournamentEntry) -> bytes:
    assert what.command is not None
    return sha256(encode_tournament_command(what.command)).digest()
