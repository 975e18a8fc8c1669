"""What every store promises the journal: MemoryStore in both check orders, one nats-server, and a cluster of three."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from msgspec import Struct
from nats.aio.client import Client
from nats.js.api import StreamConfig

from majlis.chassis import broker
from majlis.chassis.journal.batches import Frozen, Head, freeze
from majlis.chassis.journal.memory_store import CheckOrder, Fault, MemoryStore
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.journal.shard import Fenced, settle_once
from majlis.chassis.journal.store import Store, Stored, TooLarge, Unknown, WrongLastSequence
from tests.support.nats import Server
from tests.support.proxy import Proxy, broker_proxy

WINDOW_S = 0.1
"""The duplicate window of the streams here: as short as the broker allows."""
STORES = ("memory, expectation first", "memory, duplicate first", "one server", "cluster of three")
numbers = itertools.count()


class Rig(Struct):
    """A store on a stream of its own, and what can be done to it."""

    store: Store
    subject: str
    proxy: Proxy | None = None

    @property
    def memory(self) -> MemoryStore:
        assert isinstance(self.store, MemoryStore)
        return self.store

    async def fail_next(self, fault: Fault) -> None:
        """The next append suffers `fault`."""
        if self.proxy is not None:
            await self.store.head(self.subject)  # connected: what passes next is the append
            self.proxy.next_fault = fault
            return
        faults = iter([fault])
        self.memory.fault = lambda subject, data: next(faults, None)

    async def deliver_late(self) -> None:
        if self.proxy is not None:
            await self.proxy.deliver_late()
        else:
            self.memory.deliver_late()

    async def let_the_duplicate_window_pass(self) -> None:
        if self.proxy is not None:
            await asyncio.sleep(3 * WINDOW_S)
        else:
            self.memory.forget_message_ids()

    def be_unreachable(self, yes: bool) -> None:
        if self.proxy is None:
            self.memory.reachable = not yes
        elif yes:
            self.proxy.cut()
        else:
            self.proxy.reachable = True


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest) -> tuple[CheckOrder, int, int]:
    """Check order, port of a broker (0: in memory), replicas. Starts what the test needs, and only that."""
    match request.param:
        case "one server":
            return CheckOrder.EXPECTATION_FIRST, request.getfixturevalue("shared_nats").port, 1
        case "cluster of three":
            return CheckOrder.DUPLICATE_FIRST, request.getfixturevalue("shared_cluster")[0].port, 3
        case "memory, expectation first":
            return CheckOrder.EXPECTATION_FIRST, 0, 0
        case _:
            return CheckOrder.DUPLICATE_FIRST, 0, 0


@pytest.fixture
async def rig(place: tuple[CheckOrder, int, int]) -> AsyncIterator[Rig]:
    order, port, replicas = place
    if not port:
        yield Rig(MemoryStore(order), "journal.one")
        return
    async with nats_rig(port, replicas) as made:
        yield made


@contextlib.asynccontextmanager
async def nats_rig(port: int, replicas: int) -> AsyncIterator[Rig]:
    name = f"CONTRACT{next(numbers)}"
    async with broker_proxy(port) as proxy:
        client = await broker.connect([f"nats://127.0.0.1:{port}"], "contract")
        await client.jetstream().add_stream(
            StreamConfig(
                name,
                subjects=[f"{name}.>"],
                num_replicas=replicas,
                duplicate_window=WINDOW_S,
                allow_direct=True,
            )
        )

        async def connect() -> Client:
            return await broker.connect([proxy.url], "contract-journal", reconnect=False)

        store = NatsStore(name, connect)
        try:
            yield Rig(store, f"{name}.one", proxy)
        finally:
            await store.close()
            await client.jetstream().delete_stream(name)
            await client.close()


async def append(rig: Rig, data: bytes, expected: int, *, to: str = "") -> int:
    """Under an id that names the bytes, as the journal does."""
    return await rig.store.append(to or rig.subject, data, f"{to}{data[:40]!r}:{expected}", expected)


async def read(rig: Rig, after: int = 0, upto: int | None = None) -> list[Stored]:
    if upto is None:
        head = await rig.store.head(rig.subject)
        upto = head.sequence if head else 0
    async with aclosing(rig.store.scan(rig.subject, after, upto)) as messages:
        return [message async for message in messages]


async def test_an_append_is_acknowledged_with_its_sequence_and_is_the_head_at_once(rig: Rig) -> None:
    expected = 0
    for number in range(30):
        expected = await append(rig, b"entry %d" % number, expected)
        head = await rig.store.head(rig.subject)
        assert head is not None
        assert (head.sequence, head.data) == (expected, b"entry %d" % number)


async def test_a_subject_without_messages_has_no_head_and_nothing_to_scan(rig: Rig) -> None:
    await append(rig, b"elsewhere", 0, to=f"{rig.subject}.other")
    assert await rig.store.head(rig.subject) is None
    assert await read(rig) == []
    assert await rig.store.last_each(f"{rig.subject}.nothing.>") == []


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


async def test_a_scan_gives_the_subject_in_order_without_gaps_between_its_bounds(rig: Rig) -> None:
    sequences = await interleave(rig, subjects=3, each=100)
    mine = sequences[rig.subject]
    everything = await read(rig)
    assert [stored.sequence for stored in everything] == mine
    assert [stored.data for stored in everything] == [
        b"%s %d" % (rig.subject.encode(), n) for n in range(100)
    ]
    assert await read(rig, after=mine[9], upto=mine[49]) == everything[10:50]
    assert await read(rig, after=mine[9] - 1, upto=mine[10]) == everything[9:11]
    assert await read(rig, after=mine[-1]) == []


async def test_a_scan_of_several_pages_is_complete(rig: Rig) -> None:
    sequences = await interleave(rig, subjects=1, each=300)
    assert [stored.sequence for stored in await read(rig)] == sequences[rig.subject]


async def test_a_scan_that_is_left_early_leaves_the_store_usable(rig: Rig) -> None:
    sequences = (await interleave(rig, subjects=1, each=20))[rig.subject]
    for _ in range(3):
        async with aclosing(rig.store.scan(rig.subject, 0, sequences[-1])) as messages:
            assert (await anext(messages)).sequence == sequences[0]
    assert len(await read(rig)) == 20


async def test_the_last_message_of_each_subject(rig: Rig) -> None:
    sequences = await interleave(rig, subjects=20, each=5)
    wanted = {subject: own[-1] for subject, own in sequences.items() if subject != rig.subject}
    found = await rig.store.last_each(f"{rig.subject}.>")
    assert {subject: stored.sequence for subject, stored in found} == wanted
    assert all(stored.data == b"%s 4" % subject.encode() for subject, stored in found)


async def test_no_subject_is_missing_among_the_last_while_they_are_rewritten(rig: Rig) -> None:
    sequences = {
        s: own[-1] for s, own in (await interleave(rig, subjects=12, each=1)).items() if s != rig.subject
    }

    async def rewrite() -> None:
        for turn in range(10):
            for subject, expected in sequences.items():
                sequences[subject] = await append(rig, b"again %d" % turn, expected, to=subject)

    writing = asyncio.create_task(rewrite())
    while not writing.done():
        assert {subject for subject, _ in await rig.store.last_each(f"{rig.subject}.>")} == set(sequences)
        await asyncio.sleep(0)
    await writing


async def test_the_broker_stamps_its_time(rig: Rig) -> None:
    await append(rig, b"entry", 0)
    head = await rig.store.head(rig.subject)
    assert head is not None
    assert await read(rig) == [head]  # head and scan tell the same time


async def test_settling_against_somebody_else_s_batch_names_his_epoch(rig: Rig) -> None:
    theirs, ours = freeze("0", 9, Head(), [b"theirs"]), freeze("0", 7, Head(), [b"ours"])
    await settle_once(rig.store, rig.subject, theirs, Head())
    with pytest.raises(Fenced) as fenced:
        await settle_once(rig.store, rig.subject, ours, Head())
    assert fenced.value.epoch == 9


async def test_a_stream_that_is_missing_is_not_an_empty_one(shared_nats: Server) -> None:
    async def connect() -> Client:
        return await broker.connect([shared_nats.url], "contract-missing", reconnect=False)

    store = NatsStore("NOT_THERE", connect)
    try:
        with pytest.raises(Unknown):
            await store.head("not.there")
    finally:
        await store.close()


async def interleave(rig: Rig, *, subjects: int, each: int) -> dict[str, list[int]]:
    """Fills several subjects at once; subject -> its sequences. The first subject is the rig's own."""
    names = [rig.subject, *(f"{rig.subject}.{number}" for number in range(1, subjects))]

    async def fill(subject: str) -> list[int]:
        sequences = [0]
        for number in range(each):
            sequences.append(
                await append(rig, b"%s %d" % (subject.encode(), number), sequences[-1], to=subject)
            )
        return sequences[1:]

    return dict(zip(names, await asyncio.gather(*(fill(name) for name in names)), strict=True))
