"""What a projection promises: every message of its stream, once, in order, whatever dies, on both databases."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import StreamConfig
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.feed import BATCH, Feed, FeedLost, open_feed
from majlis.chassis.projection import Projection
from majlis.chassis.sql import create_schema, open_engine
from tests.support.nats import Server
from tests.support.words import Words, caught_up, make, metadata, publish, running, words


@pytest.fixture
async def client(nats_server: Server) -> AsyncIterator[Client]:
    client = await nats.connect(nats_server.url, max_reconnect_attempts=-1, reconnect_time_wait=0.05)
    await client.jetstream().add_stream(StreamConfig("WORDS", subjects=["word.>"]))
    yield client
    await client.close()


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(database_url)
    await create_schema(engine, "words", 1, metadata)
    yield engine
    await engine.dispose()


@pytest.fixture
def projection(engine: AsyncEngine, client: Client) -> Projection:
    return make(engine, client)


async def test_what_is_stored_and_what_comes_is_folded_once_and_in_order(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    before = [f"stored {n}" for n in range(600)]
    await publish(client, *before)
    async with running(projection):
        await caught_up(projection)
        assert await words(engine) == before
        await publish(client, "new")
        await caught_up(projection)
        assert await words(engine) == [*before, "new"]
        assert await projection.position() == 601
    assert metrics.PROJECTION_LAG.labels("words")._value.get() == 0


async def test_it_goes_on_where_the_last_run_ended(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    for word in ("one", "two", "three"):
        await publish(client, word)
        async with running(projection):
            await caught_up(projection)
    assert await words(engine) == ["one", "two", "three"]


@pytest.mark.parametrize("point", ["before", "after"])
async def test_a_batch_that_fails_leaves_no_row_and_no_step(
    engine: AsyncEngine, client: Client, point: str
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("a fault of the fold")

    fold = Words()
    setattr(fold, point, fail)
    await publish(client, "one", "two")
    failing = make(engine, client, fold)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(failing.run(), 20)
    assert (await words(engine), await failing.position()) == ([], 0)
    async with running(make(engine, client)) as _:
        await caught_up(failing)
    assert await words(engine) == ["one", "two"]


async def test_cancelled_at_any_await_nothing_is_lost_or_doubled(engine: AsyncEngine, client: Client) -> None:
    expected = [str(n) for n in range(400)]
    chance = random.Random(2)
    for start in range(0, 400, 20):
        await publish(client, *expected[start : start + 20])
        task = asyncio.create_task(make(engine, client).run())
        await asyncio.sleep(chance.uniform(0, 0.03))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    last = make(engine, client)
    async with running(last):
        await caught_up(last)
    assert await words(engine) == expected


ONE_RUN = """
import asyncio, sys, nats
from majlis.chassis.sql import open_engine
from tests.support.words import Words, caught_up, make, metadata, publish, running, stopped, words
async def main():
    client = await nats.connect(sys.argv[1])
    print("running", flush=True)
    await make(open_engine(sys.argv[2]), client, lease_s=0.1).run()
asyncio.run(main())
"""


async def test_kill_9_loses_and_doubles_nothing(
    engine: AsyncEngine, client: Client, nats_server: Server, database_url: str
) -> None:
    expected = [str(n) for n in range(1000)]
    chance = random.Random(9)
    publishing = asyncio.create_task(publish(client, *expected))
    for _ in range(3):
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-c", ONE_RUN, nats_server.url, database_url],
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"running\n"
        await asyncio.sleep(chance.uniform(0.02, 0.3))
        process.kill()
        await process.wait()
    await publishing
    last = make(engine, client)
    async with running(last):
        await caught_up(last)
    assert await words(engine) == expected


async def test_a_broker_that_dies_and_comes_back_costs_nothing(
    projection: Projection, engine: AsyncEngine, client: Client, nats_server: Server
) -> None:
    await publish(client, "before")
    async with running(projection):
        await caught_up(projection)
        await nats_server.restart()
        await publish(client, "after")
        await caught_up(projection)
        assert await words(engine) == ["before", "after"]
        assert projection.fault is None


async def test_a_consumer_that_vanishes_is_made_anew(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    js = client.jetstream()
    async with running(projection):
        await publish(client, "before")
        await caught_up(projection)
        for consumer in await js.consumers_info("WORDS"):
            await js.delete_consumer("WORDS", consumer.name)
        await publish(client, "after")
        await caught_up(projection)
    assert await words(engine) == ["before", "after"]


async def test_a_database_that_drops_its_connections_costs_nothing(postgres_url: str, client: Client) -> None:
    engine = open_engine(postgres_url)
    await create_schema(engine, "words", 1, metadata)
    projection = make(engine, client)
    async with running(projection):
        for word in ("one", "two", "three"):
            await publish(client, word)
            async with open_engine(postgres_url).connect() as other:
                await other.execute(
                    text(
                        "select pg_terminate_backend(pid) from pg_stat_activity "
                        "where pid <> pg_backend_pid() and datname = current_database()"
                    )
                )
            await caught_up(projection)
    assert await words(engine) == ["one", "two", "three"]
    await engine.dispose()


async def test_full_batches_follow_each_other_without_an_interruption(client: Client) -> None:
    await publish(client, *(str(n) for n in range(2 * BATCH + 1)))
    feed = await open_feed(client, "WORDS", 0, "words")
    read = [await feed.read(1) for _ in range(4)]
    assert [len(batch) for batch in read] == [BATCH, BATCH, 1, 0]
    assert [message.data for batch in read for message in batch] == [
        str(n).encode() for n in range(2 * BATCH + 1)
    ]
    assert read[0][0].pending == 2 * BATCH
    await feed.close()


async def test_a_silent_consumer_is_given_up(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("majlis.chassis.feed._GRACE_S", 0.1)
    await client.subscribe("silence")  # somebody hears the request and does not answer
    feed = Feed(client, "nobody", "WORDS", 1, 0)
    feed._next = "silence"
    await feed.subscribe()
    with pytest.raises(FeedLost, match="no answer"):
        await feed.read(0.1)
    await feed.close()


async def test_a_delivery_lost_on_the_way_is_no_gap_in_the_stream(client: Client) -> None:
    await publish(client, "one", "two", "three")
    feed = await open_feed(client, "WORDS", 0, "words")
    arrived = feed._on_message

    async def lossy(message: Msg) -> None:
        if message.data != b"two":
            await arrived(message)

    feed._subscription._cb = lossy
    with pytest.raises(FeedLost, match="delivery 3 came after 1"):
        await feed.read(1)
    await feed.close()
