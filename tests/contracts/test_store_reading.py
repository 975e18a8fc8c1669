"""What every store promises to readers: MemoryStore in both check orders, one nats-server, and a cluster of three."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from nats.aio.client import Client

from majlis.chassis import broker
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.journal.store import Unknown
from tests.support.nats import Server
from tests.support.stores import Rig, append, interleave, read


async def test_a_subject_without_messages_has_no_head_and_nothing_to_scan(rig: Rig) -> None:
    await append(rig, b"elsewhere", 0, to=f"{rig.subject}.other")
    assert await rig.store.head(rig.subject) is None
    assert await read(rig) == []
    assert await rig.store.last_each(f"{rig.subject}.nothing.>") == []


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


async def test_a_stream_that_is_missing_is_not_an_empty_one(shared_nats: Server) -> None:
    async def connect() -> Client:
        return await broker.connect([shared_nats.url], "contract-missing", reconnect=False)

    store = NatsStore("NOT_THERE", connect)
    try:
        with pytest.raises(Unknown):
            await store.head("not.there")
    finally:
        await store.close()
