"""A match's state as bytes, for checkpoints: a cache that may be thrown away at any time."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from majlis.engine import registry
from majlis.engine.match.state import MatchState

STATE_SCHEMA: Final = 1
"""Raised by hand when the shape of MatchState changes."""
_GAME_SCHEMAS: Final = 1000


class _Snapshot(Struct, frozen=True, array_like=True):
    game: str
    options: msgspec.Raw
    game_state: msgspec.Raw
    match: MatchState
    """Without its options and game state, whose types the game knows."""


_encode = msgspec.msgpack.Encoder().encode


def schema(game: str) -> int:
    """The schema of a game's states: a snapshot of another one is not to be read. Raises Rejected(UNKNOWN_GAME)."""
    return STATE_SCHEMA * _GAME_SCHEMAS + registry.game(game).state_schema


def dump(state: MatchState) -> bytes:
    """The state as bytes."""
    bare = replace(state, facts=replace(state.facts, options=None), game_state=None)
    options, game_state = msgspec.Raw(_encode(state.options)), msgspec.Raw(_encode(state.game_state))
    return _encode(_Snapshot(state.game, options, game_state, bare))


def load(stored: bytes) -> MatchState:
    """The state that was dumped under the same schema. Raises msgspec.DecodeError when it is another one."""
    snapshot = msgspec.msgpack.decode(stored, type=_Snapshot)
    game = registry.game(snapshot.game)
    match = snapshot.match
    options = msgspec.msgpack.decode(snapshot.options, type=type(game.rules_versions[match.rules_version]))
    state_type = game.state_type | None
    game_state = msgspec.msgpack.decode(snapshot.game_state, type=state_type)
    return replace(match, facts=replace(match.facts, options=options), game_state=game_state)
