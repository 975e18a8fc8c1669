"""How an owner loses its shard, gives it up, and notices that it has stood still."""

from __future__ import annotations

import asyncio

import pytest

from majlis.chassis.journal.batches import Head
from majlis.chassis.journal.memory_store import CheckOrder
from majlis.chassis.journal.shard import Fenced, Shard
from tests.support.journal import (
    Answers,
    ManualClock,
    WatchedStore,
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


# --- losing the shard ------------------------------------------------------------------------------------------------


@both_orders
async def test_somebody_else_s_batch_ends_it_and_the_waiters_are_told_that_nothing_is_known(
    clock: ManualClock, order: CheckOrder
) -> None:
    store = WatchedStore(clock, order)
    shard, answers, lost = await opened(store, clock), Answers(), []
    shard.on_lost = lambda: lost.append(True)
    store.gate.clear()
    async with running(shard) as task:
        shard.append(b"in flight", answers.to("in flight"))
        await ticks()
        shard.append(b"gathered", answers.to("gathered"))
        write_as(store, 9, b"theirs")
        store.gate.set()
        await task
        assert answers == [("in flight", False), ("gathered", False)]
        shard.append(b"afterwards", answers.to("afterwards"))
        shard.when_stored(answers.to("rejection"))
        assert answers[2:] == [("afterwards", False), ("rejection", False)]
        with pytest.raises(Fenced):
            await shard.stored(b"and again")
    assert (shard.lost, lost) == (True, [True])
    assert entries_of(store) == [b"theirs"]


async def test_whoever_waits_is_told_when_the_owner_is_cancelled(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    task = asyncio.create_task(shard.run())
    store.gate.clear()
    shard.append(b"one", answers.to("one"))
    await ticks()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert answers == [("one", False)]
    assert shard.lost


async def test_whoever_waits_is_told_when_something_breaks_and_the_error_is_not_swallowed(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()

    def broken(subject: str, data: bytes) -> None:
        raise ZeroDivisionError

    store.fault = broken
    shard.append(b"one", answers.to("one"))
    with pytest.raises(ZeroDivisionError):
        await shard.run()
    assert answers == [("one", False)]
    assert shard.lost


# --- closing ---------------------------------------------------------------------------------------------------------


async def test_closing_stores_what_was_taken_and_takes_no_more(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    store.gate.clear()
    async with running(shard) as task:
        shard.append(b"in flight", answers.to("in flight"))
        await ticks()
        shard.append(b"gathered", answers.to("gathered"))
        shard.close()
        shard.append(b"too late", answers.to("too late"))
        await ticks()
        assert answers == [("too late", False)]
        store.gate.set()
        await task
    assert answers[1:] == [("in flight", True), ("gathered", True)]
    assert entries_of(store) == [b"in flight", b"gathered"]
    assert not shard.lost
    shard.when_stored(answers.to("a question to who is not the owner any more"))
    assert answers[-1][1] is False


async def test_closing_an_idle_shard_ends_at_once(store: WatchedStore, clock: ManualClock) -> None:
    shard: Shard = await opened(store, clock)
    async with running(shard) as task:
        await ticks()
        shard.close()
        await task
    assert log_of(store)[-1].shard_opened is not None


@pytest.mark.parametrize("taken_over", [False, True])
async def test_a_shard_that_is_closed_in_doubt_makes_sure_first(
    store: WatchedStore, clock: ManualClock, taken_over: bool
) -> None:
    shard, answers = await opened(store, clock), Answers()
    if taken_over:
        write_as(store, 9, b"theirs")
    clock.seconds += 1.5
    shard.when_stored(answers.to("rejection"))
    shard.close()
    await shard.run()
    assert answers == [("rejection", not taken_over)]
    assert shard.lost == taken_over


# --- standing still --------------------------------------------------------------------------------------------------


async def test_after_standing_still_the_head_is_read_before_anybody_is_answered(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard):
        await shard.stored(b"one")
        clock.seconds += 1.5
        heads = store.heads
        shard.when_stored(answers.to("rejection"))
        assert answers == []
        assert shard.stalled
        await ticks()
        assert (answers, store.heads, shard.stalled) == ([("rejection", True)], heads + 1, False)


async def test_who_was_taken_over_while_standing_still_answers_nothing_from_its_old_state(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard) as task:
        write_as(store, 9, b"theirs")
        clock.seconds += 30
        shard.when_stored(answers.to("view"))
        await task
    assert answers == [("view", False)]


async def test_an_acknowledgement_read_after_standing_still_is_not_passed_on_unchecked(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard) as task:

        def stand_still(head: Head, seconds: float) -> None:
            clock.seconds += 30
            write_as(store, 9, b"theirs")

        shard.on_batch = stand_still
        shard.append(b"one", answers.to("one"))
        await task
    assert entries_of(store) == [b"one", b"theirs"]
    assert answers == [("one", False)], "not known: the new owner may have been asked already"


async def test_the_first_beat_after_standing_still_notices_it(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard = await opened(store, clock)
    async with running(shard):
        heads = store.heads
        for _ in range(30):
            clock.seconds += 0.1
            shard.beat()
        await ticks()
        assert (store.heads, shard.stalled) == (heads, False)
        clock.seconds += 1.1
        shard.beat()
        assert shard.stalled
        await ticks()
        assert (store.heads, shard.stalled) == (heads + 1, False)


async def test_doubt_lasts_while_the_broker_cannot_be_asked(store: WatchedStore, clock: ManualClock) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard):
        clock.seconds += 2
        store.reachable = False
        shard.when_stored(answers.to("rejection"))
        await ticks(100)
        assert (answers, shard.stalled) == ([], True)
        store.reachable = True
        await ticks()
        assert answers == [("rejection", True)]


async def test_a_head_that_was_read_while_standing_still_again_is_read_once_more(
    store: WatchedStore, clock: ManualClock
) -> None:
    shard, answers = await opened(store, clock), Answers()
    async with running(shard) as task:

        def stand_still() -> None:
            store.after_head = lambda: None
            clock.seconds += 30
            write_as(store, 9, b"theirs")

        store.after_head = stand_still
        clock.seconds += 2
        shard.when_stored(answers.to("rejection"))
        await task
    assert answers == [("rejection", False)]
