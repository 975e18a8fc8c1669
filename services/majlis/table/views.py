"""What viewers are sent of a match: a public part encoded once, each seat's own part, and what happened since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from majlis.engine import match
from majlis.engine.decider import SPECTATOR
from majlis.engine.match import MatchState
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.view import MatchView, SeatView
from majlis.engine.vocabulary.wire import (
    encode_match_info,
    encode_match_view,
    encode_seat_private_view,
)

from .live import Credit, LiveMatch, encode_told

_encode_private: Final = lru_cache(maxsize=8192)(encode_seat_private_view)
"""Most seats wait, and what they see then is always the same."""


@lru_cache(maxsize=1024)
def _encode_seats(seats: tuple[SeatView, ...]) -> bytes:
    return encode_match_view(MatchView(seats=seats))


class Seen(Struct, frozen=True, gc=False):
    """One viewer's own part of a change."""

    version: int
    private: bytes
    """Empty for spectators."""
    told: tuple[bytes, ...]
    """What this viewer alone is told."""


class Shown(Struct, frozen=True):
    """A change of one match, ready to be sent to any of its viewers."""

    match_id: str
    public: bytes
    happened: tuple[bytes, ...]
    seen: dict[int, Seen]
    """By seat."""


def version(state: MatchState, viewer: int) -> int:
    """How many entries have changed this viewer's view.

    In the games there are, every entry changes what everybody sees (whose turn it is, at least).
    """
    return state.number


def due_ms(state: MatchState, credits: Iterable[Credit]) -> int:
    """When the open decision is due, with what the platform still owes it; 0 where nothing is due."""
    decision = state.decision
    if decision is None or state.paused or not decision.due_ms:
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
    view = public_view(live)
    # The seats are the first field and hardly ever change; messages are joined by joining their bytes.
    return _encode_seats(view.seats) + encode_match_view(msgspec.structs.replace(view, seats=()))


def info(live: LiveMatch) -> bytes:
    """What does not change during the match."""
    assert live.stored is not None
    return encode_match_info(match.info(live.stored))


def private(live: LiveMatch, seat: int) -> bytes:
    """What a seat sees on top; empty for a spectator."""
    if seat == SPECTATOR:
        return b""
    assert live.stored is not None
    return _encode_private(match.private_view(live.stored, seat))


def show(
    live: LiveMatch, viewers: Iterable[int], events: Sequence[Event] = (), told: Sequence[bytes] = ()
) -> Shown:
    """The change that `events` made, for the seats given."""
    state = live.stored
    assert state is not None
    seats = set(viewers)
    alone = match.told_alone(state, events, seats - {SPECTATOR}) if events else {}
    return Shown(
        live.id,
        public(live),
        tuple(told),
        {
            seat: Seen(
                version(state, seat),
                private(live, seat),
                tuple([encode_told(one) for one in alone[seat]]) if seat in alone else (),
            )
            for seat in seats
        },
    )
