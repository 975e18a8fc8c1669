"""One match as a table instance holds it: what has been decided, and what has been stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec
from majlis.engine.history import Step, fold
from msgspec import Struct

from majlis.chassis.journal.checkpoints import Saved
from majlis.engine import match
from majlis.engine.match import MatchState
from majlis.engine.registry import game
from majlis.engine.vocabulary.match import CreditCause
from majlis.engine.vocabulary.wire import encode_happening

if TYPE_CHECKING:
    from .watchers import Watcher

HISTORY_LIMIT: Final = 4096


class Credit(Struct, frozen=True, array_like=True):
    """A span the platform took from every running deadline; written with the match's next entry."""

    from_ms: int
    to_ms: int
    cause: CreditCause


class Cold(Struct, frozen=True, array_like=True):
    """The state bytes of a checkpoint: the game decides how to read the rest."""

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
        "asked", "cold", "credits", "decided", "first_sequence", "history", "id", "number", "published", "stored",
        "tail", "watchers",
    )  # fmt: skip

    def __init__(self, match_id: str, first_sequence: int) -> None:
        self.id = match_id
        self.first_sequence = first_sequence
        self.decided: MatchState | None = None
        self.stored: MatchState | None = None
        self.number = 0
        self.credits: tuple[Credit, ...] = ()
        self.published = False
        self.watchers: list[Watcher] = []
        self.history: list[bytes] = []
        """What everybody was told since the deal began, serialised: computers are given it."""
        self.asked: frozenset[tuple[int, int]] = frozenset()
        """(decision, seat) the computers have been asked for."""
        self.cold: Cold | None = None
        self.tail: list[bytes] = []

    def chill(self, saved: Saved) -> None:
        """Takes what a checkpoint holds, undecoded."""
        self.cold = msgspec.msgpack.decode(saved.state, type=Cold)
        self.number = saved.number
        self.credits = self.cold.credits
        self.published = self.cold.published

    def wake(self) -> MatchState:
        """The decided state, folded now if it has not been touched since the take-over."""
        if self.decided is None:
            state = thaw(self.cold) if self.cold is not None else None
            self.decided = self.stored = fold(self.tail, state)
            self.cold, self.tail = None, []
        return self.decided

    def freeze(self) -> Saved:
        """What a checkpoint keeps of it."""
        self.wake()
        state = self.stored
        assert state is not None
        cold = Cold(state.game, self.credits, self.published, msgspec.msgpack.encode(state))
        return Saved(
            self.id, state.number, self.first_sequence, schema_of(state.game), msgspec.msgpack.encode(cold)
        )

    def tell(self, step: Step) -> list[bytes]:
        """What everybody may be told of a stored step, serialised; also kept for the computers."""
        told = [
            encode_happening(happening)
            for event in step.entry.events
            if (happening := match.happening(step.state, event, match.SPECTATOR)) is not None
        ]
        if any(match.begins_deal(event) for event in step.entry.events):
            self.history.clear()
        self.history.extend(told[: HISTORY_LIMIT - len(self.history)])
        return told


def schema_of(game_key: str) -> int:
    """The schema of a game's states together with the match's own."""
    return match.STATE_SCHEMA * 1000 + game(game_key).state_schema


def thaw(cold: Cold) -> MatchState:
    """The state a checkpoint holds. Raises msgspec.DecodeError."""
    return match.decode_state(cold.game, cold.state)


Reply = Callable[["Answer"], None]


class Answer(Struct, frozen=True):
    """What became of a command: an entry's number, or a rejection."""

    entry: int = 0
    duplicate: bool = False
    rejected: Exception | None = None
