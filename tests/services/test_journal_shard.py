"""The owner's end of a shard: nobody is answered before what the answer rests on is stored, whatever goes wrong."""

from __future__ import annotations

import asyncio

import pytest

from majlis.chassis.journal.batches import MAX_BYTES, MAX_ENTRIES
from majlis.chassis.journal.memory_store import CheckOrder, Fault
from majlis.chassis.journal.recovery import open_shard
from majlis.chassis.journal.shard import Stall
from majlis.chassis.journal.store import TooLarge, WrongLastSequence
from tests.support.journal import (
    SUBJECT,
    Answers,
    Claimed,
    ManualClock,
    Notes,
    WatchedStore,
    entries_of,
    log_of,
    opened,
    running,
    ticks,
)

both_orders = pytest.mark.parametrize("order", CheckOrder, ids=lambda order: order.value)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> WatchedStore:
    return WatchedStore(clock)


# --- answers ---------------------------------------------------------------------------------------------------------


async def test_nothing_is_answered_before_it_is_stored(store: WatchedStore, clock: ManualClock) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard):
        store.gate.clear()
        shard.append(b"one", lambda ok: answers.to("one")(ok and b"one" in entries_of(store)))
        shard.when_stored(answers.to("a rejection that rests on it"))
        await ticks()
        assert (answers, entries_of(store)) == ([], [])
        store.gate.set()
        await ticks()
        assert answers == [("one", True), ("a rejection that rests on it", True)]


async def test_an_answer_that_rests_on_stored_state_only_is_given_at_once(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard):
        await shard.stored(b"one")
        shard.when_stored(answers.to("rejection"))
        assert answers == [("rejection", True)]


async def test_entries_that_arrive_during_an_append_share_the_next_batch(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard):
        store.gate.clear()
        shard.append(b"first", answers.to("first"))
        await ticks()
        for number in range(500):
            shard.append(b"%d" % number, answers.to(str(number)))
            await asyncio.sleep(0)
        assert shard.stalled is False
        store.gate.set()
        await ticks()
    assert [len(batch.entries) for batch in log_of(store)] == [0, 1, 500]
    assert (shard.batches, shard.entries) == (2, 501)
    assert answers == [("first", True), *((str(number), True) for number in range(500))]


async def test_entries_of_one_tick_share_a_batch(store: WatchedStore, clock: ManualClock) -> None:
    shard = await opened(store, clock)
    async with running(shard):
        await asyncio.gather(*(shard.stored(b"%d" % number) for number in range(10)))
    assert [len(batch.entries) for batch in log_of(store)] == [0, 10]


async def test_whoever_waits_sees_the_head_of_his_own_batch(store: WatchedStore, clock: ManualClock) -> None:
    shard = await opened(store, clock)
    seen: list[tuple[int, int]] = []
    async with running(shard):
        for size in (MAX_BYTES - 1, MAX_BYTES - 2):
            shard.append(bytes(size), lambda ok: seen.append((shard.head.sequence, shard.settled)))
        await ticks()
    assert seen == [(2, 2), (3, 3)]


async def test_a_waiter_that_fails_keeps_nobody_from_his_answer(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()

    def fail(stored: bool) -> None:
        raise ZeroDivisionError

    async with running(shard):
        shard.append(b"one", fail)
        shard.append(b"two", answers.to("two"))
        await ticks()
        await shard.stored(b"three")
    assert answers == [("two", True)]


async def test_an_answer_nobody_waits_for_any_more_does_no_harm(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard = await opened(store, clock)
    async with running(shard):
        store.gate.clear()
        waiting = asyncio.create_task(shard.stored(b"one"))
        await ticks()
        waiting.cancel()
        store.gate.set()
        await ticks()
        await shard.stored(b"two")
    assert entries_of(store) == [b"one", b"two"]


# --- size ------------------------------------------------------------------------------------------------------------


async def test_a_batch_holds_no_more_than_its_limits(store: WatchedStore, clock: ManualClock) -> None:
    shard = await opened(store, clock)
    entries = [b"%d" % number for number in range(MAX_ENTRIES + 1)] + [bytes(MAX_BYTES // 3)] * 7
    async with running(shard):
        await asyncio.gather(*(shard.stored(entry) for entry in entries))
    assert entries_of(store) == entries
    assert max(len(batch.entries) for batch in log_of(store)) == MAX_ENTRIES
    assert all(sum(map(len, batch.entries)) <= MAX_BYTES for batch in log_of(store))
    assert all(len(stored.data) < 1_000_000 for _, stored in store.messages)


async def test_an_entry_that_no_batch_could_hold_is_refused_and_the_others_go_on(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard = await opened(store, clock)
    async with running(shard):
        with pytest.raises(TooLarge):
            await shard.stored(bytes(MAX_BYTES + 1))
        await shard.stored(bytes(MAX_BYTES))
        await shard.stored(b"small")
    assert [len(entry) for entry in entries_of(store)] == [MAX_BYTES, 5]


# --- unknown outcomes ------------------------------------------------------------------------------------------------


@both_orders
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
async def test_an_unknown_outcome_is_resolved_with_the_same_bytes_and_one_batch(
    clock: ManualClock, order: CheckOrder, fault: Fault
) -> None:
    store = WatchedStore(clock, order)
    shard = await opened(store, clock)
    faults = [fault] * 3
    store.fault = lambda subject, data: faults.pop() if faults else None
    async with running(shard):
        await shard.stored(b"one")
        store.deliver_late()
        await shard.stored(b"two")
    assert [batch.entries for batch in log_of(store)] == [(), (b"one",), (b"two",)]
    attempts = [attempt for attempt in store.tried if b"one" in attempt[0]]
    assert len(attempts) >= 2
    assert len(set(attempts)) == 1, "the bytes, the id and the expectation are the same in every attempt"


@both_orders
async def test_a_late_write_in_the_middle_of_the_attempts_is_found(
    clock: ManualClock, order: CheckOrder
) -> None:
    store = WatchedStore(clock, order)
    shard = await opened(store, clock)
    faults = iter([Fault.WRITE_LATE, Fault.LOSE_REQUEST])
    store.fault = lambda subject, data: next(faults, None)
    async with running(shard):
        shard.append(b"one", lambda ok: None)
        while len(store.tried) < 3:
            await asyncio.sleep(0)
        store.deliver_late()
        store.forget_message_ids()
        await shard.stored(b"two")
    assert entries_of(store) == [b"one", b"two"]


async def test_a_refusal_that_the_log_does_not_explain_is_no_loss(
    store: WatchedStore, clock: ManualClock
) -> None:
    """A leader may refuse because of another append in process, and then lose that one."""
    shard = await opened(store, clock)
    refusals = iter([WrongLastSequence(), WrongLastSequence()])

    def refuse(subject: str, data: bytes) -> None:
        refusal = next(refusals, None)
        if refusal is not None:
            raise refusal

    store.fault = refuse
    async with running(shard):
        await shard.stored(b"one")
    assert entries_of(store) == [b"one"]
    assert not shard.lost


async def test_attempts_are_repeated_without_limit_at_growing_intervals(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard = await opened(store, clock)
    store.reachable = False
    async with running(shard) as task:
        shard.append(b"one", lambda ok: None)
        while len(store.tried) < 12:
            await asyncio.sleep(0)
        assert not task.done()
        store.reachable = True
        await shard.stored(b"two")
    assert clock.slept[:6] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]
    assert max(clock.slept) == 1.0


async def test_a_shard_whose_outcome_is_unknown_keeps_no_other_from_appending(
    store: WatchedStore, clock: ManualClock
) -> None:
    one = await opened(store, clock)
    other = await open_shard(store, "journal.match.1", "1", Claimed(1), "owner", Notes(), clock)
    store.fault = lambda subject, data: Fault.LOSE_REQUEST if subject == SUBJECT else None
    async with running(one), running(other):
        waiting = asyncio.create_task(one.stored(b"one"))
        await ticks()
        for number in range(10):
            await other.stored(b"%d" % number)
        assert not waiting.done()
        store.fault = lambda subject, data: None
        await waiting


async def test_a_stall_is_told_once_it_is_over(store: WatchedStore, clock: ManualClock) -> None:
    shard = await opened(store, clock)
    stalls: list[Stall] = []
    shard.on_stall = stalls.append
    async with running(shard):
        await shard.stored(b"quick")
        began = clock.now_ms()
        store.gate.clear()
        shard.append(b"slow", lambda ok: None)
        await ticks()
        clock.seconds += 0.2
        stalled = [shard.stalled]
        clock.seconds += 0.2
        stalled.append(shard.stalled)
        store.gate.set()
        await shard.stored(b"quick again")
        stalled.append(shard.stalled)
    assert stalled == [False, True, False]
    assert stalls == [Stall(began, began + 400)]
