"""What viewers are sent of a match: a public part encoded once, each seat's own part, and what happened since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from majlis.engine import match
from majlis.engine.decider import SPECTATOR
from majlis.engine.match import MatchState
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.view import MatchView
from majlis.engine.vocabulary.wire import (
    encode_happening,
    encode_match_info,
    encode_match_view,
    encode_seat_private_view,
)

from .live import Credit, LiveMatch


class Shown(Struct, frozen=True):
    """A change of one match, ready to be sent to any of its viewers."""

    match_id: str
    public: bytes
    happened: tuple[bytes, ...]
    private: dict[int, bytes]
    """By seat; empty bytes for spectators."""
    told: dict[int, tuple[bytes, ...]]
    """By seat: what it alone is told."""
    versions: dict[int, int]


def version(state: MatchState, viewer: int) -> int:
    """How many entries have changed this viewer's view.

    In the games there are, every entry changes what everybody sees (whose turn it is, at least).
    """
    return state.number


def due_ms(state: MatchState, credits: Iterable[Credit]) -> int:
    """When the open decision is due, with what the platform still owes it; 0 where nothing is due."""
    decision = match.open_decision(state)
    if decision is None or not decision.due_ms:
        return 0
    return decision.due_ms + sum(
        max(0, c.to_ms - max(c.from_ms, min(state.last_ms, c.to_ms))) for c in credits
    )


def public_view(live: LiveMatch) -> MatchView:
    """The public view of what is stored, with the deadline as it will be once it is credited."""
    state = live.stored
    assert state is not None
    view = match.public_view(state)
    if live.credits and view.due_ms:
        return msgspec.structs.replace(view, due_ms=due_ms(state, live.credits))
    return view


def public(live: LiveMatch) -> bytes:
    """What everybody sees."""
    return encode_match_view(public_view(live))


def info(live: LiveMatch) -> bytes:
    """What does not change during the match."""
    assert live.stored is not None
    return encode_match_info(match.info(live.stored))


def private(live: LiveMatch, seat: int) -> bytes:
    """What a seat sees on top; empty for a spectator."""
    if seat == SPECTATOR:
        return b""
    assert live.stored is not None
    return encode_seat_private_view(match.private_view(live.stored, seat))


def show(
    live: LiveMatch, viewers: Iterable[int], events: Sequence[Event] = (), told: Sequence[bytes] = ()
) -> Shown:
    """The change that `events` made, for the seats given."""
    state = live.stored
    assert state is not None
    seats = set(viewers)
    return Shown(
        match_id=live.id,
        public=public(live),
        happened=tuple(told),
        private={seat: private(live, seat) for seat in seats},
        told={seat: _told(state, events, seat) for seat in seats if seat != SPECTATOR},
        versions={seat: version(state, seat) for seat in seats},
    )


def _told(state: MatchState, events: Sequence[Event], seat: int) -> tuple[bytes, ...]:
    found = (match.happening(state, event, seat) for event in events)
    return tuple(encode_happening(one) for one in found if one is not None)
