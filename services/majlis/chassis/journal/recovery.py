"""Taking a shard over: read what is stored, then append the barrier that shuts the former owner out."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final, Protocol, TypeVar

import structlog

from majlis.chassis.clock import Clock
from majlis.engine.vocabulary.entry import Batch, ShardOpened

from .batches import SCHEMA, Head, JournalGap, follow, freeze
from .shard import Fenced, Shard, settle_once
from .store import Store, Unknown

MAX_SKEW_MS: Final = 250
_PAUSE_S: Final = 0.1
T = TypeVar("T")

log = structlog.get_logger(__name__)


class SchemaTooOld(Exception):
    """The shard was last opened by newer code: this instance must not write to it."""


class ClockSkew(Exception):
    """This machine's clock and the broker's are too far apart to judge deadlines."""


class Folder(Protocol):
    """Who rebuilds state from a shard's log."""

    async def begin(self) -> int:
        """Forgets everything folded so far, loads checkpoints; returns the sequence after which to scan."""

    def fold(self, sequence: int, batch: Batch) -> None:
        """Takes one stored batch, in order; barriers too."""


class Claimed(Protocol):
    """What recovery needs of a claim."""

    @property
    def epoch(self) -> int: ...

    @property
    def previous_alive_ms(self) -> int:
        """When the former owner last renewed its lease; 0 where that is not known."""


async def open_shard(
    store: Store, subject: str, name: str, claim: Claimed, instance: str, folder: Folder, clock: Clock
) -> Shard:
    """Recovers the shard and opens it; waits for the broker as long as it takes.

    Raises Fenced (a later claim has opened it), JournalGap, SchemaTooOld, ClockSkew or Unreadable.
    """
    tail = _Tail(store, subject, folder)
    await _persist(tail.begin, clock)
    head = await _persist(tail.catch_up, clock)
    while True:
        _check_epoch(name, head, claim)
        barrier = _barrier(head, max(tail.at_ms, claim.previous_alive_ms), instance, clock)
        frozen = freeze(name, claim.epoch, head, barrier=barrier)
        before_ms = clock.now_ms()
        try:
            await _persist(functools.partial(settle_once, store, subject, frozen, head), clock)
            break
        except Fenced:
            # The former owner is busy still: shut it out first, what it wrote is folded afterwards.
            head = await _persist(tail.look, clock)
    # The barrier is folded as it is stored, like everything else.
    head = await _persist(tail.catch_up, clock)
    _check_epoch(name, head, claim)
    _check_clock(before_ms, tail.at_ms, clock.now_ms())
    return Shard(store, subject, name, head, clock)


class _Tail:
    """The log from the checkpoints on; what has been folded is not read again when reading is interrupted."""

    def __init__(self, store: Store, subject: str, folder: Folder) -> None:
        self.at_ms = 0
        """The broker's time of the last batch."""
        self._store = store
        self._subject = subject
        self._folder = folder
        self._folded = 0
        self._head: Head | None = None  # None: whatever the checkpoints end with

    async def begin(self) -> None:
        self._folded = await self._folder.begin()
        self._head = None if self._folded else Head()

    async def look(self) -> Head:
        """Where the log ends now; folds nothing."""
        last = await self._store.head(self._subject)
        if last is None:
            return Head()
        self.at_ms = last.at_ms
        return follow(None, last)[1]

    async def catch_up(self) -> Head:
        """Folds what is stored and not folded yet."""
        last = await self._store.head(self._subject)
        upto = last.sequence if last else 0
        if upto < self._folded:
            raise JournalGap(f"{self._subject} ends at {upto}, but the checkpoints reach to {self._folded}")
        async with aclosing(self._store.scan(self._subject, self._folded, upto)) as following:
            async for stored in following:
                batch, self._head = follow(self._head, stored)
                if batch.shard_opened is not None and batch.shard_opened.schema > SCHEMA:
                    raise SchemaTooOld(
                        f"{self._subject} holds schema {batch.shard_opened.schema}, ours is {SCHEMA}"
                    )
                self._folder.fold(stored.sequence, batch)
                self._folded, self.at_ms = stored.sequence, stored.at_ms
        if self._head is None and last is not None:
            self._head, self.at_ms = follow(None, last)[1], last.at_ms
        assert self._head is not None
        return self._head


def _barrier(head: Head, outage_from_ms: int, instance: str, clock: Clock) -> ShardOpened:
    interrupted = head.number > 0
    now = clock.now_ms()
    return ShardOpened(
        schema=SCHEMA,
        instance=instance,
        outage_from_ms=min(outage_from_ms, now) if interrupted else 0,
        outage_to_ms=now if interrupted else 0,
    )


async def _persist(attempt: Callable[[], Awaitable[T]], clock: Clock) -> T:
    while True:
        try:
            return await attempt()
        except Unknown as error:
            log.info("recovery goes on", event_type="recovery_repeated", why=str(error))
            await clock.sleep(_PAUSE_S)


def _check_epoch(name: str, head: Head, claim: Claimed) -> None:
    if head.epoch > claim.epoch:
        raise Fenced(name, head.epoch)


def _check_clock(before_ms: int, broker_ms: int, after_ms: int) -> None:
    if not before_ms - MAX_SKEW_MS <= broker_ms <= after_ms + MAX_SKEW_MS:
        raise ClockSkew(
            f"the broker's time {broker_ms} lies outside {before_ms}..{after_ms} by over {MAX_SKEW_MS} ms"
        )
