"""A projection to try: the words of the stream WORDS, one row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nats.aio.client import Client
from sqlalchemy import Column, Integer, MetaData, String, Table, delete, insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from majlis.chassis.clock import SystemClock
from majlis.chassis.feed import Message
from majlis.chassis.projection import Projection

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
