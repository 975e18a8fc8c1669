"""What tests of the journal need around it: a clock that is set by hand, claims, folders, watched and paced stores."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

from msgspec import Struct

from majlis.chassis.journal.batches import Head, follow, freeze
from majlis.chassis.journal.memory_store import CheckOrder, MemoryStore
from majlis.chassis.journal.recovery import open_shard
from majlis.chassis.journal.shard import Shard
from majlis.chassis.journal.store import Store, Stored
from majlis.engine.vocabulary.entry import Batch, ShardOpened

SUBJECT = "journal.match.0"
START_MS = 1_700_000_000_000


class ManualClock:
    """Stands still until told; whoever sleeps moves it on at once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return START_MS + round(self.seconds * 1000)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


class Claimed(Struct):
    """A claim as recovery sees it."""

    epoch: int
    previous_alive_ms: int = 0


class Notes:
    """A folder that keeps what it is given."""

    def __init__(self, scan_from: int = 0) -> None:
        self.scan_from = scan_from
        self.begun = 0
        self.batches: list[Batch] = []

    async def begin(self) -> int:
        self.begun += 1
        self.batches = []
        return self.scan_from

    def fold(self, sequence: int, batch: Batch) -> None:
        self.batches.append(batch)

    @property
    def entries(self) -> list[bytes]:
        return [entry for batch in self.batches for entry in batch.entries]


class WatchedStore(MemoryStore):
    """Keeps what was tried; while `gate` is closed, appends and reads of the head hang before they happen."""

    def __init__(self, clock: ManualClock, order: CheckOrder = CheckOrder.EXPECTATION_FIRST) -> None:
        super().__init__(order, clock.now_ms)
        self.tried: list[tuple[bytes, str, int]] = []
        self.heads = 0
        self.after_head: Callable[[], None] = lambda: None
        self.gate = asyncio.Event()
        self.gate.set()

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        self.tried.append((data, message_id, expected))
        await self.gate.wait()
        return await super().append(subject, data, message_id, expected)

    async def head(self, subject: str) -> Stored | None:
        await self.gate.wait()
        self.heads += 1
        found = await super().head(subject)
        self.after_head()
        return found


class Answers(list[tuple[str, bool]]):
    """Who was told what, in order."""

    def to(self, name: str) -> Callable[[bool], None]:
        return lambda stored: self.append((name, stored))


class PacedStore(MemoryStore):
    """Lets others run before and after each call, as often as the seed says."""

    def __init__(self, chance: random.Random, order: CheckOrder, clock: ManualClock) -> None:
        super().__init__(order, clock.now_ms)
        self._chance = chance

    async def _pause(self) -> None:
        for _ in range(self._chance.randrange(6)):
            await asyncio.sleep(0)

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        await self._pause()
        try:
            return await super().append(subject, data, message_id, expected)
        finally:
            await self._pause()

    async def head(self, subject: str) -> Stored | None:
        await self._pause()
        found = await super().head(subject)
        await self._pause()
        return found

    async def scan(self, subject: str, after: int, upto: int) -> AsyncGenerator[Stored, None]:
        async with aclosing(super().scan(subject, after, upto)) as messages:
            async for message in messages:
                yield message
                await self._pause()


async def opened(
    store: Store, clock: ManualClock, *, epoch: int = 1, folder: Notes | None = None, name: str = "0"
) -> Shard:
    """The shard of an owner who has just taken it over."""
    return await open_shard(store, SUBJECT, name, Claimed(epoch), f"owner-{epoch}", folder or Notes(), clock)


@contextlib.asynccontextmanager
async def running(shard: Shard) -> AsyncIterator[asyncio.Task[None]]:
    """Runs the shard; at the end it is closed, and whatever broke it is raised."""
    task = asyncio.create_task(shard.run())
    async with asyncio.timeout(10):
        try:
            yield task
        finally:
            shard.close()
            await task


async def a_former_owner(store: Store, clock: ManualClock, *entries: bytes, epoch: int = 1) -> None:
    """Opens the shard, stores the entries, and is gone."""
    shard = await opened(store, clock, epoch=epoch)
    async with running(shard):
        for entry in entries:
            await shard.stored(entry)


async def ticks(count: int = 20) -> None:
    """Lets everybody run for a while."""
    for _ in range(count):
        await asyncio.sleep(0)


def write_as(store: MemoryStore, epoch: int, *entries: bytes, opened: ShardOpened | None = None) -> None:
    """What another owner has stored."""
    head = Head()
    for _, stored in store.messages:
        head = follow(head, stored)[1]
    batch = freeze("0", epoch, head, entries, opened)
    store._write(SUBJECT, batch.data, batch.message_id, head.sequence)


def log_of(store: MemoryStore, subject: str = SUBJECT) -> list[Batch]:
    """What is stored for the shard, with its chain checked from the first batch on."""
    head, batches = Head(), []
    for stored_subject, stored in store.messages:
        if stored_subject == subject:
            batch, head = follow(head, stored)
            batches.append(batch)
    return batches


def entries_of(store: MemoryStore, subject: str = SUBJECT) -> list[bytes]:
    return [entry for batch in log_of(store, subject) for entry in batch.entries]
