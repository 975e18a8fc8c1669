"""An archive over a real broker and database, and a log for it to follow, written as tables write it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats.aio.client import Client
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.archive.fold import HistoryFold
from majlis.archive.recorder import Recorder
from majlis.archive.servicer import ArchiveServicer
from majlis.archive.shelf import Shelf
from majlis.archive.tables import ENDED, SCHEMA, entries, metadata, records
from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.batches import Head, freeze
from majlis.chassis.projection import Projection
from majlis.chassis.sql import create_schema, open_engine, reading
from majlis.engine.vocabulary.entry import ShardOpened
from majlis.v1.archive_pb2_grpc import ArchiveStub, add_ArchiveServicer_to_server
from tests.support.matches import COMPUTER, Played, played
from tests.support.serving import served
from tests.support.words import running

if TYPE_CHECKING:
    from majlis.v1.archive_pb2_grpc import ArchiveAsyncStub

EVENING = "evening"
Spoil = Callable[[bytes], bytes]


@cache
def finished(number: int, tournament_id: str = "", shard: int = 0) -> Played:
    """A short match of two computers, played out."""
    match_id = f"{shard}-match{number:03}"
    fields: dict[str, Any] = (
        {"tournament_id": tournament_id, "round": 1, "pod": number} if tournament_id else {}
    )
    return played(COMPUTER, COMPUTER, rng_seed=str(number), match_id=match_id, **fields)


class Log:
    """Appends batches to JOURNAL; one owner for each shard."""

    def __init__(self, client: Client) -> None:
        self._js = client.jetstream()
        self._heads: dict[str, Head] = {}

    async def append(
        self, shard: str, stored: Sequence[bytes], *, spoil: Spoil = bytes, schema: int = 0, epoch: int = 1
    ) -> None:
        """One batch; `spoil` changes its bytes on the way. `schema`: a barrier."""
        barrier = ShardOpened(schema=schema, instance="test") if schema else None
        frozen = freeze(shard, epoch, self._heads.get(shard, Head()), stored, barrier)
        ack = await self._js.publish(f"journal.match.{shard}", spoil(frozen.data))
        self._heads[shard] = frozen.at(ack.seq)

    async def write(self, *matches: Played, size: int = 40) -> None:
        """The whole histories, those of a shard interleaved, some entries of each to a batch."""
        for shard in sorted({match.match_id.split("-")[0] for match in matches}):
            if shard not in self._heads:
                await self.append(shard, [], schema=1)
            together = [match.stored for match in matches if match.match_id.startswith(f"{shard}-")]
            longest = max(len(stored) for stored in together)
            for start in range(0, longest, size):
                await self.append(shard, [one for stored in together for one in stored[start : start + size]])


@dataclass
class Archive:
    """One archive in this process; `crash` is asked at the recorder's crash points."""

    client: Client
    engine: AsyncEngine
    key: Ed25519PrivateKey
    projection: Projection
    recorder: Recorder
    stub: ArchiveAsyncStub
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def settled(self) -> None:
        """Returns when the whole log is folded and every finished match judged."""
        await asyncio.wait_for(self.projection.catch_up(), 30)
        async with asyncio.timeout(30):
            while await self.count(select(func.count()).select_from(records).where(records.c.state == ENDED)):
                await asyncio.sleep(0.02)

    async def count(self, query: Any) -> int:
        async with reading(self.engine) as connection:
            return int(await connection.scalar(query) or 0)

    async def pending(self) -> int:
        """Entries kept of matches without a record."""
        return await self.count(select(func.count()).select_from(entries))

    async def index(self) -> list[tuple[Any, ...]]:
        async with reading(self.engine) as connection:
            return [
                tuple(row) for row in await connection.execute(select(records).order_by(records.c.match_id))
            ]

    async def published(self) -> dict[str, int]:
        """How many messages the log of records holds, by subject."""
        state = (await self.client.jetstream().stream_info(broker.RECORDS, subjects_filter=">")).state
        return dict(state.subjects or {})


@contextlib.asynccontextmanager
async def archive(
    url: str, database_url: str, key: Ed25519PrivateKey, crash: Callable[[str], None] = lambda point: None
) -> AsyncIterator[Archive]:
    """Follows the log and records until the block ends, as its process does."""
    clock = SystemClock()
    client = await broker.connect([url], "archive-test")
    engine = open_engine(database_url)
    await create_schema(engine, "archive", SCHEMA, metadata)
    recorder = Recorder(engine, client, key, clock, crash)
    projection = Projection(HistoryFold(), engine, client, clock, lease_s=0.6, on_applied=recorder.wake)
    servicer = ArchiveServicer(Shelf(engine, client, clock), key, clock, projection.catch_up)
    try:
        async with running(projection), served(add_ArchiveServicer_to_server, servicer) as channel:
            recording = asyncio.create_task(recorder.run())
            try:
                made = Archive(client, engine, key, projection, recorder, ArchiveStub(channel), [recording])
                yield made
            finally:
                recording.cancel()
                await asyncio.wait([recording])
    finally:
        await client.close()
        await engine.dispose()
