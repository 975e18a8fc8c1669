"""Projections: a stream of the log folded into SQL tables, each message exactly once, in order.

The rows and the sequence of the last message they rest on are written in one transaction. That position is the truth:
the broker is told nothing, and after a crash, wherever it struck, reading goes on behind it. (A durable consumer would
keep a second position, to be brought into step after every crash; how far a projection lags is a metric of ours.)

One instance folds at a time: its lease stands in the row of the position. Safety does not rest on the lease: a batch
is written only while the row still names this holder and the position the batch follows.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import nats.errors
import structlog
from nats.aio.client import Client
from sqlalchemy import BigInteger, Column, MetaData, String, Table, or_, select, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.feed import Feed, FeedLost, Message, open_feed
from majlis.chassis.sql import create_schema, insert_new, reading, writing
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

log = structlog.get_logger(__name__)

SCHEMA: Final = 1
LEASE_S: Final = 5.0
"""How long a projection rests after its instance died; a restart of the database or the broker costs no lease."""
_POLL_S: Final = 0.05
_GATHER_S: Final = 0.05
"""Who has caught up lets messages gather: a transaction for each would cost more than all else."""
_FIRST_PAUSE_S: Final = 0.1
_LAST_PAUSE_S: Final = 2.0
_FOR_GOOD: Final = (DataError, IntegrityError, ProgrammingError)

_metadata = MetaData()
_positions = Table(
    "projection_positions",
    _metadata,
    Column("projection", String, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("holder", String, nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False),
)


class Stopped(Exception):
    """A projection must not go on by itself: something has to be done first."""


class ProjectionGap(Stopped):
    """Messages between the position and what the stream gives next are gone: the rows cannot be trusted to be whole."""


class Unfoldable(Stopped):
    """A message that newer code wrote: folding on without it would give other rows than that code gives."""


class Superseded(Exception):
    """The position's row is not as this instance left it: another one folds, or the projection was rebuilt."""


class Fold(Protocol):
    """What a projection makes of a stream. Both methods write through the connection and nowhere else."""

    name: str
    """Names the position and the metrics; one of a few fixed values."""
    stream: str

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        """Folds the messages, which follow what was applied before.

        Raises Unfoldable where the projection must stop, Rejected(UNAVAILABLE) where it shall try again in a moment;
        anything else ends `run`.
        """

    async def forget(self, connection: AsyncConnection) -> None:
        """Deletes all rows, to fold again from the stream's beginning."""


def _passes(error: Exception) -> bool:
    """Whether trying again may help: a broker or a database that is not there, and a fold that says so."""
    if isinstance(error, Rejected):
        return error.code is RejectionCode.UNAVAILABLE
    if isinstance(error, _FOR_GOOD):
        return False
    return isinstance(error, nats.errors.Error | FeedLost | DBAPIError | OSError | TimeoutError)


def _heed_cancellation() -> None:
    """Python 3.11's `wait_for`, which the broker's client uses, swallows a cancellation that meets its result."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class Projection:
    """One fold of one stream. `on_applied` is called after each committed batch."""

    def __init__(
        self,
        fold: Fold,
        engine: AsyncEngine,
        client: Client,
        clock: Clock,
        *,
        lease_s: float = LEASE_S,
        on_applied: Callable[[], None] = lambda: None,
    ) -> None:
        self.fault: Stopped | None = None
        """Set while the projection is stopped; only `rebuild` starts it again."""
        self._fold = fold
        self._engine = engine
        self._client = client
        self._clock = clock
        self._lease_s = lease_s
        self._on_applied = on_applied
        self._holder = secrets.token_hex(8)
        self._prepared = False
        self._rebuilt = asyncio.Event()
        self._pause_s = _FIRST_PAUSE_S

    async def run(self) -> None:
        """Folds until cancelled. Broker and database may come and go; what must not be passed stops it, loudly, until it
        is rebuilt (or, for an unfoldable message, until newer code runs)."""
        try:
            while True:
                try:
                    await self._prepare()
                    await self._follow(await self._take_lease())
                except Superseded as why:
                    log.info("projection interrupted", projection=self._fold.name, why=str(why))
                except Stopped as fault:
                    await self._stand_still(fault)
                except Exception as error:
                    if not _passes(error):
                        raise
                    await self._rest(error)
        finally:
            await self._release()

    async def position(self) -> int:
        """The sequence up to which the stream is folded, whoever folds it."""
        await self._prepare()
        query = select(_positions.c.sequence).where(_positions.c.projection == self._fold.name)
        async with reading(self._engine) as connection:
            return int(await connection.scalar(query) or 0)

    async def catch_up(self) -> None:
        """Returns when everything the stream holds now is folded. Raises Stopped where that cannot be."""
        last = (await self._client.jetstream().stream_info(self._fold.stream)).state.last_seq
        while await self.position() < last:
            if self.fault is not None:
                raise self.fault
            await self._clock.sleep(_POLL_S)

    async def rebuild(self) -> None:
        """Forgets every row and folds the stream again from its beginning; `catch_up` waits for the end of that."""
        await self._prepare()
        async with writing(self._engine) as connection:
            # The row first: a batch of another instance is either before all this or finds its position gone.
            ours = _positions.c.projection == self._fold.name
            await connection.execute(update(_positions).where(ours).values(sequence=0))
            await self._fold.forget(connection)
        log.info("projection rebuilt", event_type="projection_rebuilt", projection=self._fold.name)
        self.fault = None
        self._rebuilt.set()

    async def _follow(self, position: int) -> None:
        """Reads and folds from the position on, for ever. Raises whatever ends that."""
        name = self._fold.name
        feed = await open_feed(self._client, self._fold.stream, position, name)
        try:
            self._check(feed, position)
            while True:
                _heed_cancellation()
                messages = await feed.read(self._lease_s / 3)
                fresh, gap = self._follow_on(position, messages)
                position = await self._apply_all(position, fresh)
                if gap:
                    raise ProjectionGap(gap)
                pending = messages[-1].pending if messages else 0
                metrics.PROJECTION_LAG.labels(name).set(pending)
                self._pause_s = _FIRST_PAUSE_S
                if not pending:
                    await self._clock.sleep(_GATHER_S)
        finally:
            with contextlib.suppress(nats.errors.Error):
                await feed.close()

    def _check(self, feed: Feed, position: int) -> None:
        if position > feed.last:
            raise ProjectionGap(f"the stream was replaced: it ends at {feed.last}, we stand at {position}")
        if position and feed.first > position + 1:
            raise ProjectionGap(f"the stream begins at {feed.first}, after our position {position}")

    def _follow_on(self, position: int, messages: Sequence[Message]) -> tuple[list[Message], str]:
        """The messages that follow the position, those before it left out; and the gap where there is one.

        From nothing one may begin wherever the stream begins.
        """
        fresh: list[Message] = []
        for message in messages:
            if message.sequence <= position:
                continue
            if position and message.sequence != position + 1:
                return fresh, f"message {message.sequence} came after {position}: what was between is gone"
            fresh.append(message)
            position = message.sequence
        return fresh, ""

    async def _apply_all(self, position: int, messages: list[Message]) -> int:
        try:
            return await self._apply(position, messages)
        except Unfoldable:
            # Everything before it can still be folded.
            for message in messages:
                position = await self._apply(position, [message])
            raise

    async def _apply(self, position: int, messages: list[Message]) -> int:
        """One transaction: the lease, the new position, the rows. Raises Superseded."""
        reached = messages[-1].sequence if messages else position
        async with writing(self._engine) as connection:
            ours = (_positions.c.projection == self._fold.name) & (_positions.c.holder == self._holder)
            advance = update(_positions).where(ours, _positions.c.sequence == position)
            done = await connection.execute(advance.values(sequence=reached, expires_at_ms=self._lease_end()))
            if done.rowcount != 1:
                raise Superseded(f"position {position} is not ours any more")
            if messages:
                await self._fold.apply(connection, messages)
        if messages:
            self._on_applied()
        return reached

    async def _prepare(self) -> None:
        if self._prepared:
            return
        await create_schema(self._engine, "projections", SCHEMA, _metadata)
        row = {"projection": self._fold.name, "sequence": 0, "holder": "", "expires_at_ms": 0}
        async with writing(self._engine) as connection:
            await insert_new(connection, _positions, [row])
        self._prepared = True

    async def _take_lease(self) -> int:
        """Waits until no other instance holds the lease, takes it, and returns the position."""
        ours = _positions.c.projection == self._fold.name
        told = False
        while True:
            _heed_cancellation()
            now = self._clock.now_ms()
            free = or_(_positions.c.holder.in_(("", self._holder)), _positions.c.expires_at_ms <= now)
            take = update(_positions).where(ours, free)
            async with writing(self._engine) as connection:
                taken = await connection.execute(
                    take.values(holder=self._holder, expires_at_ms=self._lease_end())
                )
                if taken.rowcount == 1:
                    return int(await connection.scalar(select(_positions.c.sequence).where(ours)) or 0)
            if not told:
                log.info("another instance folds this projection: standing by", projection=self._fold.name)
                told = True
            await self._clock.sleep(self._lease_s / 3)

    async def _release(self) -> None:
        """Lets another instance begin at once. If it cannot be said, the lease runs out by itself."""
        ours = (_positions.c.projection == self._fold.name) & (_positions.c.holder == self._holder)
        with contextlib.suppress(DBAPIError, OSError):
            async with writing(self._engine) as connection:
                await connection.execute(update(_positions).where(ours).values(holder=""))

    async def _stand_still(self, fault: Stopped) -> None:
        name = self._fold.name
        if isinstance(fault, ProjectionGap):
            metrics.PROJECTION_GAPS.labels(name).inc()
        log.critical("projection stopped", event_type="projection_stopped", projection=name, fault=str(fault))
        self._rebuilt.clear()
        self.fault = fault
        await self._release()
        await self._rebuilt.wait()

    async def _rest(self, error: Exception) -> None:
        log.warning(
            "projection interrupted", projection=self._fold.name, error=repr(error), pause_s=self._pause_s
        )
        await self._clock.sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, _LAST_PAUSE_S)

    def _lease_end(self) -> int:
        return self._clock.now_ms() + int(self._lease_s * 1000)
