"""Taking a shard over: what is read, what is refused, and the barrier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
import pytest

from majlis.chassis.journal.batches import SCHEMA, Head, JournalGap, follow, freeze
from majlis.chassis.journal.memory_store import CheckOrder, Fault, MemoryStore
from majlis.chassis.journal.recovery import MAX_SKEW_MS, ClockSkew, SchemaTooOld, open_shard
from majlis.chassis.journal.shard import Fenced
from majlis.chassis.journal.store import Stored, Unknown
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ShardOpened
from majlis.engine.vocabulary.wire import decode_batch, encode_batch
from tests.support.journal import (
    START_MS,
    SUBJECT,
    Claimed,
    ManualClock,
    Notes,
    WatchedStore,
    a_former_owner,
    entries_of,
    log_of,
    opened,
    running,
    ticks,
    write_as,
)

both_orders = pytest.mark.parametrize("order", CheckOrder, ids=lambda order: order.value)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> WatchedStore:
    return WatchedStore(clock)


async def test_the_first_owner_of_a_shard_interrupts_nothing(store: WatchedStore, clock: ManualClock) -> None:
    notes = Notes()
    shard = await opened(store, clock, folder=notes)
    assert log_of(store) == notes.batches
    assert notes.batches[0].shard_opened == ShardOpened(
        schema=SCHEMA, instance="owner-1", outage_from_ms=0, outage_to_ms=0
    )
    assert (shard.epoch, shard.head.number, shard.settled) == (1, 1, 1)


async def test_a_new_owner_is_given_everything_in_order_and_its_own_barrier(
    store: WatchedStore, clock: ManualClock
) -> None:
    await a_former_owner(store, clock, b"one", b"two")
    write_elsewhere(store)
    notes = Notes()
    shard = await opened(store, clock, epoch=2, folder=notes)
    assert notes.entries == [b"one", b"two"]
    assert notes.batches == log_of(store)
    assert [batch.epoch for batch in notes.batches] == [1, 1, 1, 2]
    async with running(shard):
        await shard.stored(b"three")
    assert entries_of(store) == [b"one", b"two", b"three"]


@pytest.mark.parametrize(
    ("renewed_s", "outage_from_s"),
    [(0.0, 1.0), (4.0, 4.0), (99.0, 7.0)],
    ids=["unknown", "later", "in the future"],
)
async def test_the_outage_begins_with_the_last_sign_of_life(
    store: WatchedStore, clock: ManualClock, renewed_s: float, outage_from_s: float
) -> None:
    clock.seconds = 1
    await a_former_owner(store, clock, b"one")
    clock.seconds = 7
    claim = Claimed(2, START_MS + round(renewed_s * 1000) if renewed_s else 0)
    await open_shard(store, SUBJECT, "0", claim, "next", Notes(), clock)
    barrier = log_of(store)[-1].shard_opened
    assert barrier is not None
    assert barrier.outage_from_ms == START_MS + outage_from_s * 1000
    assert barrier.outage_to_ms == START_MS + 7000


async def test_what_a_checkpoint_covers_is_not_read(store: WatchedStore, clock: ManualClock) -> None:
    await a_former_owner(store, clock, b"one", b"two", b"three")
    notes = Notes(scan_from=2)
    await opened(store, clock, epoch=2, folder=notes)
    assert notes.entries == [b"two", b"three"]


async def test_a_checkpoint_may_cover_everything(store: WatchedStore, clock: ManualClock) -> None:
    clock.seconds = 3
    await a_former_owner(store, clock, b"one")
    clock.seconds = 5
    notes = Notes(scan_from=2)
    shard = await opened(store, clock, epoch=2, folder=notes)
    assert [batch.shard_opened is not None for batch in notes.batches] == [True]
    assert notes.batches[0].shard_opened is not None
    assert notes.batches[0].shard_opened.outage_from_ms == START_MS + 3000
    assert shard.head.number == 3
    log_of(store)


# --- refusals --------------------------------------------------------------------------------------------------------


def stored_after(head: Head, **changes: object) -> bytes:
    """A batch that does not follow `head` as it should."""
    return encode_batch(msgspec.structs.replace(decode_batch(freeze("0", 5, head, [b"x"]).data), **changes))


@pytest.mark.parametrize(
    "changes", [{"number": 4}, {"number": 2}, {"prev_hash": bytes(32)}, {"epoch": 1}], ids=str
)
async def test_a_log_whose_batches_do_not_follow_each_other_is_refused(
    store: WatchedStore, clock: ManualClock, changes: dict[str, object]
) -> None:
    shard = await opened(store, clock, epoch=3)
    write_raw(store, stored_after(shard.head, number=2, prev_hash=shard.head.hash))
    write_raw(store, stored_after(tail(store), **changes))
    with pytest.raises(JournalGap):
        await opened(store, clock, epoch=9)
    assert len(store.messages) == 3, "nothing is written to a damaged log"


async def test_a_log_without_its_beginning_is_refused(store: WatchedStore, clock: ManualClock) -> None:
    write_raw(store, freeze("0", 1, Head(7, 7, b"hash"), [b"one"]).data)
    with pytest.raises(JournalGap):
        await opened(store, clock, epoch=2)


async def test_a_log_that_ends_before_its_checkpoints_is_refused(
    store: WatchedStore, clock: ManualClock
) -> None:
    await a_former_owner(store, clock, b"one")
    with pytest.raises(JournalGap):
        await opened(store, clock, epoch=2, folder=Notes(scan_from=99))


async def test_what_cannot_be_read_is_not_guessed(store: WatchedStore, clock: ManualClock) -> None:
    await a_former_owner(store, clock, b"one")
    write_raw(store, b"\xff\xff\xff")
    with pytest.raises(Unreadable):
        await opened(store, clock, epoch=2)


async def test_code_of_an_older_schema_may_not_take_the_shard(
    store: WatchedStore, clock: ManualClock
) -> None:
    await a_former_owner(store, clock, b"one")
    write_as(
        store, 2, opened=ShardOpened(schema=SCHEMA + 1, instance="new", outage_from_ms=0, outage_to_ms=0)
    )
    write_as(store, 2, b"two")
    with pytest.raises(SchemaTooOld):
        await opened(store, clock, epoch=3)
    assert log_of(store)[-1].epoch == 2


@pytest.mark.parametrize("skew_ms", [MAX_SKEW_MS + 1, -MAX_SKEW_MS - 1])
async def test_a_machine_whose_clock_is_off_gives_the_shard_up(
    store: WatchedStore, clock: ManualClock, skew_ms: int
) -> None:
    store._now_ms = lambda: clock.now_ms() + skew_ms
    with pytest.raises(ClockSkew):
        await opened(store, clock)


async def test_a_slow_machine_is_not_taken_for_one_whose_clock_is_off(
    store: WatchedStore, clock: ManualClock
) -> None:
    faults = iter([Fault.LOSE_REQUEST] * 20)
    store.fault = lambda subject, data: next(faults, None)
    store._now_ms = lambda: clock.now_ms() + MAX_SKEW_MS
    assert (await opened(store, clock)).epoch == 1


async def test_a_claim_that_was_lost_while_recovering_opens_nothing(
    store: WatchedStore, clock: ManualClock
) -> None:
    await a_former_owner(store, clock, b"one", epoch=9)
    with pytest.raises(Fenced) as fenced:
        await opened(store, clock, epoch=5)
    assert fenced.value.epoch == 9
    assert log_of(store)[-1].epoch == 9


# --- reading ---------------------------------------------------------------------------------------------------------


class Breaking(WatchedStore):
    """A store whose scans break off after every third message."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.breaks = False

    async def scan(self, subject: str, after: int, upto: int) -> AsyncGenerator[Stored, None]:
        count = 0
        async with aclosing(super().scan(subject, after, upto)) as messages:
            async for message in messages:
                yield message
                count += 1
                if self.breaks and count == 3 and message.sequence < upto:
                    raise Unknown("connection lost")


async def test_an_interrupted_recovery_goes_on_where_it_stopped(clock: ManualClock) -> None:
    store = Breaking(clock)
    entries = [b"%d" % number for number in range(20)]
    await a_former_owner(store, clock, *entries)
    store.breaks = True
    notes = Notes()
    await opened(store, clock, epoch=2, folder=notes)
    assert notes.entries == entries
    assert notes.begun == 1


async def test_recovery_waits_for_the_broker_as_long_as_it_takes(
    clock: ManualClock, store: WatchedStore
) -> None:
    await a_former_owner(store, clock, b"one")
    store.reachable = False
    notes = Notes()
    opening = asyncio.create_task(opened(store, clock, epoch=2, folder=notes))
    await ticks(100)
    assert not opening.done()
    store.reachable = True
    await opening
    assert notes.entries == [b"one"]


def write_raw(store: MemoryStore, data: bytes) -> None:
    store._write(SUBJECT, data, repr(data), tail(store).sequence)


def tail(store: MemoryStore) -> Head:
    own = [stored for subject, stored in store.messages if subject == SUBJECT]
    return follow(None, own[-1])[1] if own else Head()


def write_elsewhere(store: MemoryStore) -> None:
    store._write("journal.match.1", b"not ours", "other", 0)
