"""Which shards this instance owns: rendezvous hashing over the instances that are alive, and leases.

An instance claims the shards that hash to it, hands over those that hash to somebody else, and takes over at once
what belonged to an instance that is gone. Safety does not rest on any of this: the journal's barrier does that.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable
from typing import Final

import msgspec
import nats.errors
import structlog
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import Error as JetStreamError
from nats.js.kv import KeyValue

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.journal.batches import JournalGap
from majlis.chassis.journal.lease import (
    RENEW_EVERY_S,
    RETRY_EVERY_S,
    Claim,
    Owner,
    Taken,
    claim,
    read_owner,
    seize,
)
from majlis.chassis.journal.recovery import ClockSkew, SchemaTooOld, open_shard
from majlis.chassis.journal.shard import Fenced
from majlis.chassis.journal.store import Store
from majlis.chassis.lookup import match_key
from majlis.chassis.reach import is_refused

from .host import TableHost
from .shard_host import ShardHost

log = structlog.get_logger(__name__)

ALIVE_EVERY_S: Final = 0.5
SILENT_AFTER_S: Final = 3.0
"""An instance unheard for so long is taken for gone."""
SUSPECT_AFTER_S: Final = 1.2
"""One unheard for so long is asked; if neither its subscription nor its port is there, it is gone."""
CLAIM_PAUSE_S: Final = 5.0
"""An instance claims the same shard at most once in so long: two that disagree must not take turns."""
TICK_S: Final = 0.1
SAVED_WITHIN_S: Final = 5.0
"""How old a match's checkpoint may become: what was played since is what a new owner has to read."""
_BROKER_ERRORS: Final = (nats.errors.Error, JetStreamError, OSError, asyncio.TimeoutError)


class Alive(Struct, frozen=True):
    """What an instance tells the others twice a second."""

    instance: str
    address: str
    draining: bool = False


def preferred(shard: str, instances: list[str]) -> str:
    """The instance a shard hashes to: highest SHA-256 of (instance, shard); only shards of a lost instance move."""
    return max(instances, key=lambda instance: hashlib.sha256(f"{instance}\0{shard}".encode()).digest())


class Presence:
    """Who is alive. Start with `run`."""

    def __init__(self, client: Client, instance: str, address: str, clock: Clock) -> None:
        self.instance = instance
        self.address = address
        self.draining = False
        self._client = client
        self._clock = clock
        self._heard: dict[str, tuple[Alive, float]] = {}

    async def run(self) -> None:
        await self._client.subscribe("table.alive", cb=self._hear)
        await self._client.subscribe(f"table.ping.{self.instance}", cb=_pong)
        while True:
            alive = Alive(self.instance, self.address, self.draining)
            with contextlib.suppress(*_BROKER_ERRORS):
                await self._client.publish("table.alive", msgspec.json.encode(alive))
            await self._clock.sleep(ALIVE_EVERY_S)

    async def _hear(self, message: Msg) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            alive = msgspec.json.decode(message.data, type=Alive)
            self._heard[alive.instance] = (alive, self._clock.monotonic())

    def instances(self) -> list[str]:
        """Those that may own shards now."""
        now = self._clock.monotonic()
        heard = {a.instance for a, at in self._heard.values() if now - at < SILENT_AFTER_S and not a.draining}
        if not self.draining:
            heard.add(self.instance)
        return sorted(heard)

    async def is_gone(self, owner: Owner) -> bool:
        """Whether an owner can be taken for dead: silent for 3 s, or neither its subscription nor its port answers."""
        if owner.instance == self.instance or owner.address == self.address:
            return owner.instance != self.instance  # its port is ours now
        heard = self._heard.get(owner.instance)
        silent_s = self._clock.monotonic() - heard[1] if heard else SILENT_AFTER_S
        if silent_s < SUSPECT_AFTER_S:
            return False
        try:
            await self._client.request(f"table.ping.{owner.instance}", b"", timeout=0.5)
        except nats.errors.NoRespondersError:
            return silent_s >= SILENT_AFTER_S or await is_refused(owner.address)
        except _BROKER_ERRORS:
            return silent_s >= SILENT_AFTER_S and await is_refused(owner.address)
        return False


async def _pong(message: Msg) -> None:
    with contextlib.suppress(*_BROKER_ERRORS):
        await message.respond(b"")


class ShardKeeper:
    """One shard's life at this instance: claim, open, serve, hand over, again."""

    def __init__(
        self,
        name: str,
        bucket: KeyValue,
        presence: Presence,
        host: TableHost,
        make: Callable[[str], ShardHost],
        store: Store,
        clock: Clock,
    ) -> None:
        self.name = name
        self.key = match_key(name)
        self._bucket = bucket
        self._presence = presence
        self._host = host
        self._make = make
        self._store = store
        self._clock = clock
        self._next_claim = clock.monotonic()

    async def run(self) -> None:
        """Owns the shard whenever it should."""
        while True:
            with contextlib.suppress(Taken, Fenced, *_BROKER_ERRORS):
                may_claim = self._clock.monotonic() >= self._next_claim
                held = await self._claim() if may_claim and self._wanted() else None
                if held is not None:
                    self._next_claim = self._clock.monotonic() + CLAIM_PAUSE_S
                    await self._hold(held)
                    await self._clock.sleep(0 if self._presence.draining else TICK_S)
            await self._clock.sleep(TICK_S)

    def _wanted(self) -> bool:
        instances = self._presence.instances()
        return bool(instances) and preferred(self.name, instances) == self._presence.instance

    async def _claim(self) -> Claim | None:
        found = await read_owner(self._bucket, self.key)
        me, address = self._presence.instance, self._presence.address
        if found is None or found[0].released or found[0].instance == me:
            return await claim(self._bucket, self.key, me, address, self._clock)
        if await self._presence.is_gone(found[0]):
            log.info("shard seized", event_type="shard_seized", shard=self.name, gone=found[0].instance)
            return await seize(self._bucket, self.key, me, address, self._clock, found[0])
        return None

    async def _hold(self, held: Claim) -> None:
        """Opens the shard and serves it until it is lost or handed over."""
        began = time.perf_counter()
        renewing = asyncio.create_task(self._renew(held))
        shard_host = self._make(self.name)
        try:
            shard = await open_shard(
                self._store, f"journal.match.{self.name}", self.name, held, self._presence.instance, shard_host,
                self._clock,
            )  # fmt: skip
        except (JournalGap, SchemaTooOld, ClockSkew) as error:
            log.critical("shard not opened", event_type="shard_refused", shard=self.name, why=str(error))
            renewing.cancel()
            await held.release(self._clock)
            return
        except BaseException:
            renewing.cancel()
            raise
        metrics.TABLE_RECOVERY.observe(time.perf_counter() - began)
        shard_host.own(shard)
        log.info(
            "shard opened", event_type="shard_opened", shard=self.name, epoch=held.epoch,
            matches=len(shard_host.matches), seconds=round(time.perf_counter() - began, 3),
        )  # fmt: skip
        running = asyncio.create_task(shard.run())
        adopting = asyncio.create_task(self._host.adopt(shard_host))
        try:
            await self._serve(shard_host, running, renewing)
        finally:
            shard.close()
            await running
            renewing.cancel()
            if not shard.lost:
                await held.release(self._clock)
            self._host.drop(shard_host)
            adopting.cancel()
        if shard.lost:
            metrics.TABLE_FENCED_APPENDS.inc()

    async def _serve(
        self, shard_host: ShardHost, running: asyncio.Task[None], renewing: asyncio.Task[None]
    ) -> None:
        """Returns when the shard is fenced, its claim is lost, or somebody else should have it."""
        shard = shard_host.shard
        assert shard is not None
        unwanted_since: float | None = None
        next_checkpoint = next_sweep = self._clock.monotonic()
        while not running.done() and not renewing.done():
            await self._clock.sleep(TICK_S / 2)
            shard.beat()
            now = self._clock.monotonic()
            if now >= next_checkpoint and not shard.stalled:
                await shard_host.checkpoint()
                next_checkpoint = now + SAVED_WITHIN_S / max(1, shard_host.unsaved)
            if now >= next_sweep:
                shard_host.forget_finished()
                next_sweep = now + 10
            if self._wanted():
                unwanted_since = None
            else:
                unwanted_since = unwanted_since or now
                # Others may not have been heard yet: only a lasting wish is followed, except when draining.
                if self._presence.draining or now - unwanted_since > CLAIM_PAUSE_S:
                    return

    async def _renew(self, held: Claim) -> None:
        """Ends when the claim is somebody else's."""
        pause_s = RENEW_EVERY_S
        while True:
            await self._clock.sleep(pause_s)
            try:
                await held.renew(self._clock)
                pause_s = RENEW_EVERY_S
            except Taken:
                return
            except _BROKER_ERRORS as error:
                log.info("lease not renewed", event_type="lease_retry", shard=self.name, why=repr(error))
                pause_s = RETRY_EVERY_S
