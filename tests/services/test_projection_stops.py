"""When a projection stops, starts anew, and makes way for another instance."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import nats
import pytest
from nats.aio.client import Client
from nats.js.api import StreamConfig
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.clock import SystemClock
from majlis.chassis.feed import Message
from majlis.chassis.projection import Projection, ProjectionGap, Unfoldable, _positions
from majlis.chassis.sql import create_schema, open_engine, writing
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from tests.support.nats import Server
from tests.support.words import Words, caught_up, make, metadata, publish, running, stopped, words


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


async def test_a_message_of_newer_code_stops_it_and_what_came_before_is_folded(
    engine: AsyncEngine, client: Client
) -> None:
    class OldWords(Words):
        async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
            await super().apply(connection, messages)
            if any(message.data == b"new" for message in messages):
                raise Unfoldable("a word this version does not know")

    gaps = metrics.PROJECTION_GAPS.labels("words")._value.get()
    await publish(client, "one", "two", "new", "four")
    old = make(engine, client, OldWords())
    async with running(old):
        assert "does not know" in str(await stopped(old))
        with pytest.raises(Unfoldable):
            await old.catch_up()
        assert await words(engine) == ["one", "two"]
    assert metrics.PROJECTION_GAPS.labels("words")._value.get() == gaps
    newer = make(engine, client)
    async with running(newer):
        await caught_up(newer)
    assert await words(engine) == ["one", "two", "new", "four"]


async def test_a_fold_that_is_not_ready_is_asked_again(engine: AsyncEngine, client: Client) -> None:
    refusals = [1, 2]

    def not_yet() -> None:
        if refusals:
            refusals.pop()
            raise Rejected(RejectionCode.UNAVAILABLE, "the shard is not open", "try again")

    fold = Words()
    fold.before = not_yet
    patient = make(engine, client, fold)
    await publish(client, "one")
    async with running(patient):
        await caught_up(patient)
    assert await words(engine) == ["one"]
    assert not refusals


async def test_a_gap_stops_it_loudly_and_nothing_after_the_gap_is_folded(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    gaps = metrics.PROJECTION_GAPS.labels("words")._value
    before = gaps.get()
    await publish(client, "one", "two", "lost", "four")
    await client.jetstream().delete_msg("WORDS", 3)
    async with running(projection) as task:
        assert "4 came after 2" in str(await stopped(projection))
        assert gaps.get() == before + 1
        assert not task.done()
        with pytest.raises(ProjectionGap):
            await projection.catch_up()
    assert await words(engine) == ["one", "two"]


async def test_a_stream_that_was_replaced_is_a_gap_until_the_projection_is_rebuilt(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    js = client.jetstream()
    await publish(client, "old", "older")
    async with running(projection):
        await caught_up(projection)
        await js.delete_stream("WORDS")
        await js.add_stream(StreamConfig("WORDS", subjects=["word.>"]))
        await publish(client, "new")
        assert "was replaced" in str(await stopped(projection))
        assert await words(engine) == ["old", "older"]
        await projection.rebuild()
        await caught_up(projection)
    assert await words(engine) == ["new"]


async def test_what_was_trimmed_unseen_is_a_gap_but_one_may_begin_behind_it(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    js = client.jetstream()
    await publish(client, "one")
    async with running(projection):
        await caught_up(projection)
    await publish(client, "two", "three", "four")
    await js.purge_stream("WORDS", seq=4)
    async with running(projection):
        assert "begins at 4" in str(await stopped(projection))
        await projection.rebuild()
        await caught_up(projection)
    assert await words(engine) == ["four"]


async def test_a_rebuild_gives_the_same_rows(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    await publish(client, *"abcdef")
    async with running(projection):
        await caught_up(projection)
        await projection.rebuild()
        await publish(client, "g")
        await caught_up(projection)
    assert await words(engine) == [*"abcdefg"]


async def test_a_rebuild_by_another_instance_is_noticed_without_a_message(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    await publish(client, *"abc")
    async with running(projection):
        await caught_up(projection)
        await make(engine, client).rebuild()
        await caught_up(projection)
    assert await words(engine) == [*"abc"]


async def test_one_instance_folds_and_another_takes_over_when_it_stops(
    engine: AsyncEngine, client: Client
) -> None:
    one, other = make(engine, client, lease_s=30), make(engine, client)
    async with running(other):
        async with running(one):
            await publish(client, *"abc")
            await caught_up(one)
        await publish(client, *"def")
        await caught_up(other)
    assert await words(engine) == [*"abcdef"]


async def test_an_instance_that_lost_its_lease_writes_nothing_more(
    projection: Projection, engine: AsyncEngine, client: Client
) -> None:
    async def hold(holder: str, expires_at_ms: int) -> None:
        async with writing(engine) as connection:
            await connection.execute(update(_positions).values(holder=holder, expires_at_ms=expires_at_ms))

    async with running(projection):
        await publish(client, "before")
        await caught_up(projection)
        await hold("another", SystemClock().now_ms() + 60_000)
        await publish(client, "after")
        await asyncio.sleep(0.5)
        assert await words(engine) == ["before"]
        await hold("another", 0)  # its lease ran out
        await caught_up(projection)
    assert await words(engine) == ["before", "after"]


def test_repeated_messages_are_left_out_and_jumps_are_gaps(engine: AsyncEngine, client: Client) -> None:
    def messages(*sequences: int) -> list[Message]:
        return [Message(sequence, "word.said", b"", 0) for sequence in sequences]

    follow_on = make(engine, client)._follow_on
    assert follow_on(5, messages(4, 5, 6, 6, 7)) == (messages(6, 7), "")
    assert follow_on(5, messages(3)) == ([], "")
    assert follow_on(0, messages(9, 10)) == (messages(9, 10), "")
    for position, given, sound in ((5, (7,), ()), (5, (6, 8), (6,)), (0, (9, 11), (9,))):
        fresh, gap = follow_on(position, messages(*given))
        assert gap
        assert fresh == messages(*sound)
