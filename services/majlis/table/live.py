"""One match as a table instance holds it: what has been decided, and what has been stored."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from majlis.chassis.journal.checkpoints import Saved
from majlis.engine import match
from majlis.engine.decider import SPECTATOR
from majlis.engine.history import Step, fold
from majlis.engine.match import MatchState, snapshot
from majlis.engine.vocabulary.match import CreditCause
from majlis.engine.vocabulary.wire import encode_happening

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
        """Adds a credit. One that follows closely on the last is joined to it, not a moment short: a platform in trouble
        must not write more entries than its players cause."""
        last = self.owed[-1] if self.owed else None
        if last is None or last.cause is not credit.cause or credit.from_ms > last.to_ms + JOINED_MS:
            self.credits = (*self.credits, credit)
        else:
            self.credits = (*self.credits[:-1], Credit(last.from_ms, credit.to_ms, credit.cause))

    def chill(self, saved: Saved) -> None:
        """Takes what a checkpoint holds, undecoded."""
        self.cold = msgspec.msgpack.decode(saved.state, type=Cold)
        self.number = saved.number
        self.credits = self.cold.credits
        self.published = self.cold.published

    def wake(self) -> MatchState:
        """The decided state, folded now if it has not been touched since the take-over. Raises DecodeError."""
        if self.decided is None:
            state = snapshot.load(self.cold.state) if self.cold is not None else None
            self.decided = self.stored = fold(self.tail, state)
            self.cold, self.tail = None, []
        return self.decided

    def freeze(self) -> Saved:
        """What a checkpoint keeps of it."""
        self.wake()
        state = self.stored
        assert state is not None
        cold = Cold(state.game, self.credits, self.published, snapshot.dump(state))
        return Saved(
            self.id,
            state.number,
            self.first_sequence,
            snapshot.schema(state.game),
            msgspec.msgpack.encode(cold),
        )

    def tell(self, step: Step) -> list[bytes]:
        """What everybody may be told of a stored step, serialised; also kept for the computers."""
        told = [encode_told(one) for one in match.happenings(step.state, step.entry.events, SPECTATOR)]
        deal = match.game_of(step.state).deal(step.state.game_state) if step.state.started else 0
        if deal != self.deal:
            self.deal = deal
            self.history.clear()
        self.history.extend(told[: HISTORY_LIMIT - len(self.history)])
        return told
