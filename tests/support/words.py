"""A projection to try: the words of the stream WORDS, one row each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from nats.aio.client import Client
from sqlalchemy import Column, Integer, MetaData, String, Table, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from majlis.chassis.clock import SystemClock
from majlis.chassis.feed import Message
from majlis.chassis.projection import Projection, Stopped
from majlis.chassis.sql import reading

metadata = MetaData()
seen = Table(
    "seen",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("word", String, nullable=False),
)


class Words:
    """A fold that is not idempotent by itself: a message applied twice would show."""

    name = "words"
    stream = "WORDS"

    def __init__(self) -> None:
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        self.before()
        await connection.execute(insert(seen), [{"word": message.data.decode()} for message in messages])
        self.after()

    async def forget(self, connection: AsyncConnection) -> None:
        await connection.execute(delete(seen))


def make(engine: AsyncEngine, client: Client, fold: Words | None = None, lease_s: float = 0.6) -> Projection:
    return Projection(fold or Words(), engine, client, SystemClock(), lease_s=lease_s)


@contextlib.asynccontextmanager
async def running(projection: Projection) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(projection.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def publish(client: Client, *words: str) -> None:
    js = client.jetstream()
    for word in words:
        await js.publish("word.said", word.encode())


async def words(engine: AsyncEngine) -> list[str]:
    async with reading(engine) as connection:
        return list((await connection.execute(select(seen.c.word).order_by(seen.c.number))).scalars())


async def caught_up(projection: Projection) -> None:
    await asyncio.wait_for(projection.catch_up(), 20)


async def stopped(projection: Projection) -> Stopped:
    async with asyncio.timeout(20):
        while projection.fault is None:
            await asyncio.sleep(0.02)
    return projection.fault
