"""What every store promises of appends: MemoryStore in both check orders, one nats-server, and a cluster of three."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from majlis.chassis.journal.batches import Frozen, Head, freeze
from majlis.chassis.journal.memory_store import Fault
from majlis.chassis.journal.shard import Fenced, settle_once
from majlis.chassis.journal.store import TooLarge, Unknown, WrongLastSequence
from tests.support.stores import Rig, append, read


async def test_an_append_is_acknowledged_with_its_sequence_and_is_the_head_at_once(rig: Rig) -> None:
    expected = 0
    for number in range(30):
        expected = await append(rig, b"entry %d" % number, expected)
        head = await rig.store.head(rig.subject)
        assert head is not None
        assert (head.sequence, head.data) == (expected, b"entry %d" % number)


@pytest.mark.parametrize("wrong", [0, 1, 99])
async def test_an_append_under_any_other_expectation_than_the_head_is_refused(rig: Rig, wrong: int) -> None:
    first = await append(rig, b"first", 0)
    await append(rig, b"second", first)
    with pytest.raises(WrongLastSequence):
        await append(rig, b"third", wrong)
    assert [stored.data for stored in await read(rig)] == [b"first", b"second"]


async def test_of_many_writers_with_the_same_expectation_one_wins(rig: Rig) -> None:
    at = 0
    for attempt in range(5):
        answers = await asyncio.gather(
            *(append(rig, b"%d of writer %d" % (attempt, writer), at) for writer in range(10)),
            return_exceptions=True,
        )
        won = [answer for answer in answers if isinstance(answer, int)]
        assert len(won) == 1, answers
        assert all(isinstance(answer, int | WrongLastSequence | Unknown) for answer in answers)
        at = won[0]
    assert len(await read(rig)) == 5


async def test_a_repeated_append_is_stored_once_whatever_is_checked_first(rig: Rig) -> None:
    sequence = await append(rig, b"once", 0)
    for _ in range(3):
        with contextlib.suppress(WrongLastSequence):  # the expectation was looked at first
            assert await append(rig, b"once", 0) == sequence
    assert [stored.data for stored in await read(rig)] == [b"once"]


async def test_a_repeat_long_after_the_duplicate_window_is_stored_once(rig: Rig) -> None:
    sequence = await append(rig, b"once", 0)
    await rig.let_the_duplicate_window_pass()
    with pytest.raises(WrongLastSequence):
        await append(rig, b"once", 0)
    assert [stored.sequence for stored in await read(rig)] == [sequence]


@pytest.mark.parametrize("pass_window", [False, True], ids=["within the window", "beyond the window"])
async def test_an_append_whose_acknowledgement_was_lost_is_found_to_be_stored(
    rig: Rig, pass_window: bool
) -> None:
    before = Head(await append(rig, b"before", 0), 1, b"", 1)
    batch = Frozen(b"batch", "id", 1, 2)
    await rig.fail_next(Fault.LOSE_ACKNOWLEDGEMENT)
    with pytest.raises(Unknown):
        await settle_once(rig.store, rig.subject, batch, before)
    if pass_window:
        await rig.let_the_duplicate_window_pass()
    head = await settle_once(rig.store, rig.subject, batch, before)
    assert [stored.data for stored in await read(rig)] == [b"before", b"batch"]
    assert head == batch.at((await read(rig))[-1].sequence)


async def test_an_append_that_never_arrived_is_stored_by_its_repeat(rig: Rig) -> None:
    batch = Frozen(b"batch", "id", 1, 1)
    await rig.fail_next(Fault.LOSE_REQUEST)
    with pytest.raises(Unknown):
        await settle_once(rig.store, rig.subject, batch, Head())
    assert await read(rig) == []
    head = await settle_once(rig.store, rig.subject, batch, Head())
    assert [stored.sequence for stored in await read(rig)] == [head.sequence]


async def test_an_append_that_arrives_late_is_stored_once(rig: Rig) -> None:
    batch = Frozen(b"batch", "id", 1, 1)
    await rig.fail_next(Fault.WRITE_LATE)
    with pytest.raises(Unknown):
        await settle_once(rig.store, rig.subject, batch, Head())
    assert await read(rig) == []
    head = await settle_once(rig.store, rig.subject, batch, Head())
    await rig.deliver_late()
    following = await append(rig, b"next", head.sequence)
    assert [stored.sequence for stored in await read(rig)] == [head.sequence, following]


async def test_an_append_that_arrives_after_its_expectation_was_used_up_is_not_stored(rig: Rig) -> None:
    await rig.fail_next(Fault.WRITE_LATE)
    with pytest.raises(Unknown):
        await append(rig, b"zombie", 0)
    sequence = await append(rig, b"barrier", 0)
    await rig.deliver_late()
    await append(rig, b"entry", sequence)
    assert [stored.data for stored in await read(rig)] == [b"barrier", b"entry"]


async def test_nothing_is_known_while_the_broker_cannot_be_reached_and_all_is_well_afterwards(
    rig: Rig,
) -> None:
    sequence = await append(rig, b"first", 0)
    rig.be_unreachable(True)
    with pytest.raises(Unknown):
        await append(rig, b"second", sequence)
    with pytest.raises(Unknown):
        await rig.store.head(rig.subject)
    with pytest.raises(Unknown):
        await read(rig, upto=sequence)
    with pytest.raises(Unknown):
        await rig.store.last_each(f"{rig.subject}.>")
    rig.be_unreachable(False)
    await append(rig, b"second", sequence)
    assert [stored.data for stored in await read(rig)] == [b"first", b"second"]


async def test_what_is_too_large_is_never_stored_and_does_no_harm(rig: Rig) -> None:
    with pytest.raises(TooLarge):
        await append(rig, bytes(2 * 1024 * 1024), 0)
    assert await rig.store.head(rig.subject) is None
    sequence = await append(rig, bytes(range(256)) * 2048, 0)
    assert [len(stored.data) for stored in await read(rig)] == [512 * 1024]
    assert sequence


async def test_settling_against_somebody_else_s_batch_names_his_epoch(rig: Rig) -> None:
    theirs, ours = freeze("0", 9, Head(), [b"theirs"]), freeze("0", 7, Head(), [b"ours"])
    await settle_once(rig.store, rig.subject, theirs, Head())
    with pytest.raises(Fenced) as fenced:
        await settle_once(rig.store, rig.subject, ours, Head())
    assert fenced.value.epoch == 9
