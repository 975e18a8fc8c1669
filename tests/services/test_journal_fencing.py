"""A former owner that does not know it yet: after the next owner's barrier not one entry of it enters the log."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterator

import pytest

from majlis.chassis.journal.memory_store import CheckOrder, Fault, MemoryStore
from majlis.chassis.journal.shard import Fenced, Shard
from tests.support.journal import (
    ManualClock,
    Notes,
    PacedStore,
    WatchedStore,
    a_former_owner,
    entries_of,
    log_of,
    opened,
    running,
    write_as,
)

both_orders = pytest.mark.parametrize("order", CheckOrder, ids=lambda order: order.value)
SEEDS = 120


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


# --- the barrier -----------------------------------------------------------------------------------------------------


class Interfering(WatchedStore):
    """Somebody else writes just before the next barriers arrive."""

    def __init__(self, clock: ManualClock, order: CheckOrder, *others: Callable[[MemoryStore], None]) -> None:
        super().__init__(clock, order)
        self.others = iter(others)

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        next(self.others, lambda store: None)(self)
        return await super().append(subject, data, message_id, expected)


@both_orders
async def test_a_barrier_that_loses_the_race_is_tried_again_after_what_the_zombie_wrote(
    clock: ManualClock, order: CheckOrder
) -> None:
    store = Interfering(clock, order, lambda s: write_as(s, 1, b"one"), lambda s: write_as(s, 1, b"two"))
    notes = Notes()
    await opened(store, clock, epoch=2, folder=notes)
    assert notes.entries == [b"one", b"two"]
    assert notes.begun == 1, "what has been folded is not folded again"
    assert [batch.epoch for batch in log_of(store)] == [1, 1, 2]
    assert notes.batches == log_of(store)


@both_orders
async def test_a_barrier_that_loses_the_race_to_a_later_claim_gives_up(
    clock: ManualClock, order: CheckOrder
) -> None:
    store = Interfering(clock, order, lambda s: write_as(s, 3, b"theirs"))
    with pytest.raises(Fenced):
        await opened(store, clock, epoch=2)
    assert [batch.epoch for batch in log_of(store)] == [3]


@both_orders
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
async def test_a_barrier_of_unknown_outcome_stands_once(
    clock: ManualClock, order: CheckOrder, fault: Fault
) -> None:
    store = WatchedStore(clock, order)
    await a_former_owner(store, clock, b"one")
    faults = iter([fault] * 3)
    store.fault = lambda subject, data: next(faults, None)
    notes = Notes()
    shard = await opened(store, clock, epoch=2, folder=notes)
    store.deliver_late()
    assert [batch.epoch for batch in log_of(store)] == [1, 1, 2]
    assert notes.batches == log_of(store)
    async with running(shard):
        await shard.stored(b"two")
    assert entries_of(store) == [b"one", b"two"]


@both_orders
async def test_a_barrier_that_arrives_late_under_the_same_claim_does_no_harm(
    clock: ManualClock, order: CheckOrder
) -> None:
    store = WatchedStore(clock, order)
    store.fault = lambda subject, data: Fault.WRITE_LATE
    first = asyncio.create_task(opened(store, clock))
    while not store.tried:
        await asyncio.sleep(0)
    first.cancel()
    clock.seconds += 1
    store.fault = lambda subject, data: store.deliver_late()
    notes = Notes()
    shard = await opened(store, clock, folder=notes)
    assert notes.batches == log_of(store)
    async with running(shard):
        await shard.stored(b"one")
    assert entries_of(store) == [b"one"]


# --- by seed ---------------------------------------------------------------------------------------------------------


class Owners:
    """Three owners with claims of their own open one shard whenever they like, and everything that can fail does."""

    def __init__(self, seed: int, order: CheckOrder) -> None:
        self.chance = random.Random(seed)
        self.clock = ManualClock()
        self.store = PacedStore(self.chance, order, self.clock)
        self.store.fault = lambda subject, data: self.chance.choice((*Fault, *[None] * 12))
        self.appended: dict[int, list[bytes]] = {1: [], 2: [], 3: []}
        self.told: list[tuple[bytes, bool]] = []
        self.recovered: list[tuple[int, Notes]] = []

    async def pause(self, most: int) -> None:
        for _ in range(self.chance.randrange(most)):
            await asyncio.sleep(0)

    async def own(self, epoch: int) -> None:
        await self.pause(60)
        notes = Notes()
        try:
            shard = await opened(self.store, self.clock, epoch=epoch, folder=notes)
        except Fenced:
            return
        self.recovered.append((epoch, notes))
        async with running(shard):
            await self.play(shard, epoch)

    async def play(self, shard: Shard, epoch: int) -> None:
        for number in range(self.chance.randrange(3, 15)):
            entry = b"%d of %d" % (number, epoch)
            self.appended[epoch].append(entry)
            shard.append(entry, lambda ok, entry=entry: self.told.append((entry, ok)))  # type: ignore[misc]
            if self.chance.random() < 0.5:
                shard.beat()
            await self.pause(12)
            if self.chance.random() < 0.2:
                self.store.deliver_late()
            if self.chance.random() < 0.1:
                self.store.forget_message_ids()

    def check(self) -> None:
        batches = log_of(self.store)  # numbers, hashes and epochs follow each other
        stored = entries_of(self.store)
        assert len(set(stored)) == len(stored), "stored twice"
        assert len({entry for entry, _ in self.told}) == len(self.told), "told twice"
        assert {entry for entry, _ in self.told} == {e for own in self.appended.values() for e in own}, (
            "not told"
        )
        assert {entry for entry, ok in self.told if ok} <= set(stored), "acknowledged but lost"
        for epoch, own in self.appended.items():
            of_epoch = [e for batch in batches if batch.epoch == epoch for e in batch.entries]
            assert of_epoch == [entry for entry in own if entry in stored], (
                "out of order, or in a foreign epoch"
            )
            assert of_epoch == own[: len(of_epoch)], "one was skipped"
        for epoch, notes in self.recovered:
            assert batches[: len(notes.batches)] == notes.batches, "recovered something else than the log"
            assert batches[len(notes.batches) - 1].epoch == epoch


@both_orders
async def test_whatever_happens_the_log_and_the_answers_agree(order: CheckOrder) -> None:
    for seed in range(SEEDS):
        owners = Owners(seed, order)
        with naming(seed):
            await asyncio.gather(*(owners.own(epoch) for epoch in owners.appended))
            owners.store.deliver_late()
            owners.check()


@contextlib.contextmanager
def naming(seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"seed {seed}")
        raise
