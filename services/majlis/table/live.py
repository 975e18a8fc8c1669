"""One match as a table instance holds it: what has been decided, and what has been stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from majlis.chassis.journal.checkpoints import Saved
from majlis.engine import match
from majlis.engine.decider import SPECTATOR
from majlis.engine.history import Step, fold
from majlis.engine.match import MatchState, snapshot
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.match import CreditCause
from majlis.engine.vocabulary.wire import decode_entry, encode_happening

if TYPE_CHECKING:
    from .watchers import Watcher

HISTORY_LIMIT: Final = 4096
JOINED_MS: Final = 1000
"""Stalls of less than this apart are credited as one."""

encode_told: Final = lru_cache(maxsize=16384)(encode_happening)
"""The same few things happen at every table."""


class Credit(Struct, frozen=True, array_like=True):
    """A span the platform took from every running deadline; written with the match's next entry."""

    from_ms: int
    to_ms: int
    cause: CreditCause


class Cold(Struct, frozen=True, array_like=True):
    """What a checkpoint keeps of a match: the state is decoded at first touch."""

    game: str
    credits: tuple[Credit, ...]
    published: bool
    state: bytes
    deal: int = 0
    history: tuple[bytes, ...] = ()


class LiveMatch:
    """A match in this instance's hands.

    `decided` runs ahead of the log, `stored` never does: views are made of `stored` alone. After a take-over both
    are None until somebody touches the match (`wake`), so that ten thousand matches are taken over at once.
    """

    __slots__ = (
        "alarm_ms", "asked", "cold", "crediting", "credits", "deal", "decided", "first_sequence", "history", "id", "number",
        "published", "stored", "tail", "watchers",
    )  # fmt: skip

    def __init__(self, match_id: str, first_sequence: int) -> None:
        self.id = match_id
        self.first_sequence = first_sequence
        self.decided: MatchState | None = None
        self.stored: MatchState | None = None
        self.number = 0
        self.credits: tuple[Credit, ...] = ()
        """Not stored yet; the first `crediting` of them are on their way to the log."""
        self.crediting = 0
        self.published = False
        self.watchers: list[Watcher] = []
        self.history: list[bytes] = []
        """What everybody was told since the deal began, serialised: computers are given it."""
        self.deal = 0
        self.asked: frozenset[tuple[int, int]] = frozenset()
        """(decision, seat) the computers have been asked for."""
        self.alarm_ms = 0
        """When its deadline is looked at next (Unix time); 0: no timer is set."""
        self.cold: Cold | None = None
        self.tail: list[bytes] = []

    @property
    def owed(self) -> tuple[Credit, ...]:
        """The credits that the next entry has to be preceded by."""
        return self.credits[self.crediting :]

    def owe(self, credit: Credit) -> None:
        """Adds a credit. A stall that follows closely on another is joined to it, not a moment short: a log in trouble
        must not be given more entries than the players cause."""
        last = self.owed[-1] if self.owed else credit
        stalls = last.cause is credit.cause is CreditCause.STALL
        if last is not credit and stalls and credit.from_ms <= last.to_ms + JOINED_MS:
            self.credits = (*self.credits[:-1], Credit(last.from_ms, credit.to_ms, credit.cause))
        else:
            self.credits = (*self.credits, credit)

    def chill(self, saved: Saved) -> None:
        """Takes what a checkpoint holds, undecoded."""
        self.cold = msgspec.msgpack.decode(saved.state, type=Cold)
        self.number = saved.number
        self.credits = self.cold.credits
        self.published = self.cold.published
        self.deal, self.history = self.cold.deal, list(self.cold.history)

    def wake(self) -> MatchState:
        """The decided state, folded now if it has not been touched since the take-over. Raises DecodeError."""
        if self.decided is None:
            state = snapshot.load(self.cold.state) if self.cold is not None else None
            for stored in self.tail:
                state = fold((stored,), state)
                self._tell(state, decode_entry(stored).events)
            assert state is not None
            self.decided = self.stored = state
            self.cold, self.tail = None, []
        return self.decided

    def freeze(self) -> Saved:
        """What a checkpoint keeps of it."""
        self.wake()
        state = self.stored
        assert state is not None
        cold = Cold(
            state.game, self.credits, self.published, snapshot.dump(state), self.deal, tuple(self.history)
        )
        return Saved(
            self.id,
            state.number,
            self.first_sequence,
            snapshot.schema(state.game),
            msgspec.msgpack.encode(cold),
        )

    def tell(self, step: Step) -> list[bytes]:
        """What everybody may be told of a stored step, serialised; also kept for the computers."""
        return self._tell(step.state, step.entry.events)

    def _tell(self, state: MatchState, events: Sequence[Event]) -> list[bytes]:
        told = [encode_told(one) for one in match.happenings(state, events, SPECTATOR)]
        deal = match.game_of(state).deal(state.game_state) if state.started else 0
        if deal != self.deal:
            self.deal = deal
            self.history.clear()
        self.history.extend(told[: HISTORY_LIMIT - len(self.history)])
        return told
