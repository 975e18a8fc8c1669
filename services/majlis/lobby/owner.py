"""Owns the log of tournaments: one lobby at a time, by the same lease and barrier as a table owns a shard."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

import nats.errors
import structlog
from nats.js.errors import Error as JetStreamError
from nats.js.kv import KeyValue

from majlis.chassis.clock import Clock
from majlis.chassis.journal.lease import RENEW_EVERY_S, Claim, Taken, claim, read_owner, seize
from majlis.chassis.journal.recovery import open_shard
from majlis.chassis.journal.shard import Shard
from majlis.chassis.journal.store import Store
from majlis.chassis.reach import is_refused

from .hall import LEASE_KEY, SHARD, SUBJECT, Hall

log = structlog.get_logger(__name__)

_BROKER_ERRORS: Final = (nats.errors.Error, JetStreamError, OSError, TimeoutError)


class Owner:
    """Claims, opens and keeps the tournaments' shard. When it is lost the process ends, to begin anew."""

    def __init__(
        self, hall: Hall, bucket: KeyValue, store: Store, instance: str, address: str, clock: Clock
    ) -> None:
        self._hall = hall
        self._bucket = bucket
        self._store = store
        self._instance = instance
        self._address = address
        self._clock = clock
        self._claim: Claim | None = None
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Returns when the tournaments are folded and may be decided on."""
        while self._claim is None:
            with contextlib.suppress(Taken, *_BROKER_ERRORS):
                self._claim = await self._take()
            if self._claim is None:
                await self._clock.sleep(0.2)
        shard = await open_shard(
            self._store, SUBJECT, SHARD, self._claim, self._instance, self._hall, self._clock
        )
        self._hall.shard = shard
        self._running = asyncio.create_task(shard.run())
        log.info("tournaments opened", event_type="shard_opened", tournaments=len(self._hall.stored))

    async def _take(self) -> Claim | None:
        found = await read_owner(self._bucket, LEASE_KEY)
        if found is None or found[0].released:
            return await claim(self._bucket, LEASE_KEY, self._instance, self._address, self._clock)
        # Whoever had our port is gone: two processes cannot listen on it.
        if found[0].address == self._address or await is_refused(found[0].address):
            return await seize(self._bucket, LEASE_KEY, self._instance, self._address, self._clock, found[0])
        return None

    async def keep(self) -> None:
        """Renews the lease and watches the shard; returns when it is lost."""
        shard, held = self._opened()
        assert self._running is not None
        this = asyncio.current_task()
        next_renewal = self._clock.monotonic() + RENEW_EVERY_S
        while not self._running.done():
            shard.beat()
            if self._clock.monotonic() >= next_renewal:
                next_renewal += RENEW_EVERY_S
                with contextlib.suppress(*_BROKER_ERRORS):
                    await held.renew(self._clock)
                if this is not None and this.cancelling():
                    # Python 3.11's `wait_for`, below the renewal, swallows a cancellation that meets its result.
                    raise asyncio.CancelledError
            await self._clock.sleep(0.1)

    async def close(self) -> None:
        """Stores what was decided, then gives the shard up."""
        if self._claim is None or self._running is None:
            return
        shard, held = self._opened()
        shard.close()
        await self._running
        await held.release(self._clock)

    def _opened(self) -> tuple[Shard, Claim]:
        assert self._hall.shard is not None
        assert self._claim is not None
        return self._hall.shard, self._claim
