"""The journal over real brokers that are killed, frozen and cut off: acknowledged = stored, and nothing twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing

import nats.errors
import pytest
from nats.aio.client import Client
from nats.js.errors import Error as JetStreamError

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.batches import Head, follow
from majlis.chassis.journal.memory_store import Fault
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.journal.recovery import open_shard
from majlis.chassis.journal.shard import Shard, Stall
from majlis.chassis.journal.store import Unknown
from majlis.engine.vocabulary.entry import Batch
from tests.support.journal import Claimed, Notes, running
from tests.support.nats import Cluster, Server
from tests.support.proxy import broker_proxy

clock = SystemClock()
shards = (f"t{number}" for number in itertools.count())


def store_on(*urls: str) -> NatsStore:
    async def connect() -> Client:
        return await broker.connect(urls, "journal-test", reconnect=False)

    return NatsStore(broker.JOURNAL, connect)


async def prepare(url: str, replicas: int) -> None:
    client = await broker.connect([url], "prepare")
    await broker.ensure_streams(client.jetstream(), replicas)
    await client.close()


async def opened(store: NatsStore, name: str, epoch: int = 1) -> tuple[Shard, Notes]:
    notes = Notes()
    shard = await open_shard(store, f"journal.match.{name}", name, Claimed(epoch), f"i{epoch}", notes, clock)
    return shard, notes


class Load:
    """Keeps a shard busy, and notes what was answered."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.appended: list[bytes] = []
        self.told: dict[bytes, bool] = {}

    async def run(self, seconds: float, pause_s: float = 0.003) -> None:
        until = clock.monotonic() + seconds
        while clock.monotonic() < until and not self.shard.lost:
            for _ in range(3):
                entry = b"%s entry %d of %d" % (
                    self.shard.name.encode(),
                    len(self.appended),
                    self.shard.epoch,
                )
                self.appended.append(entry)
                self.shard.append(entry, lambda ok, entry=entry: self._tell(entry, ok))  # type: ignore[misc]
            self.shard.beat()
            await asyncio.sleep(pause_s)

    def _tell(self, entry: bytes, ok: bool) -> None:
        assert entry not in self.told, "told twice"
        self.told[entry] = ok


async def stored(store: NatsStore, name: str) -> list[Batch]:
    """The shard's log, its chain checked; waits for a replica that lags behind."""
    subject = f"journal.match.{name}"
    async with asyncio.timeout(20):
        while True:
            try:
                last = await store.head(subject)
                head, batches = Head(), []
                async with aclosing(store.scan(subject, 0, last.sequence if last else 0)) as messages:
                    async for message in messages:
                        batch, head = follow(head, message)
                        batches.append(batch)
                return batches
            except Unknown:
                await asyncio.sleep(0.1)


def entries(batches: list[Batch], epoch: int | None = None) -> list[bytes]:
    return [entry for batch in batches if epoch in (None, batch.epoch) for entry in batch.entries]


async def play(store: NatsStore, seconds: float, *meanwhile: AsyncIterator[None]) -> None:
    """Four shards under load; afterwards what was acknowledged and what is stored are the same."""
    loads = [Load((await opened(store, next(shards)))[0]) for _ in range(4)]
    runs = [asyncio.create_task(load.shard.run()) for load in loads]
    work = [asyncio.create_task(load.run(seconds)) for load in loads]
    for trouble in meanwhile:
        await asyncio.sleep(0.3)
        async for _ in trouble:
            pass
    await asyncio.gather(*work)
    for load in loads:
        load.shard.close()
    async with asyncio.timeout(20):
        await asyncio.gather(*runs)
    for load in loads:
        assert not load.shard.lost
        assert load.told == dict.fromkeys(load.appended, True), "the only owner is told about everything"
        assert entries(await stored(store, load.shard.name)) == load.appended


async def kill_and_start(server: Server) -> AsyncIterator[None]:
    await server.kill()
    yield
    await server.start()
    await server.ready()


async def test_the_broker_is_killed_under_load_and_comes_back(nats_server: Server) -> None:
    await prepare(nats_server.url, replicas=1)
    store = store_on(nats_server.url)
    await play(store, 1.5, kill_and_start(nats_server), kill_and_start(nats_server))
    await store.close()


async def test_a_broker_that_stands_still_stalls_the_shards_and_nothing_else(nats_server: Server) -> None:
    await prepare(nats_server.url, replicas=1)
    store = store_on(nats_server.url)
    shard, _ = await opened(store, next(shards))
    stalls: list[Stall] = []
    shard.on_stall = stalls.append
    async with running(shard):
        await shard.stored(b"before")
        stalls.clear()
        nats_server.freeze()
        waiting = asyncio.create_task(shard.stored(b"meanwhile"))
        await asyncio.sleep(0.5)
        shard.beat()
        stalled = shard.stalled
        nats_server.thaw()
        await waiting
    assert stalled
    assert [stall.to_ms - stall.from_ms > 450 for stall in stalls] == [True]
    await store.close()


async def test_a_lost_connection_is_noticed_at_once(shared_nats: Server) -> None:
    await prepare(shared_nats.url, replicas=1)
    async with broker_proxy(shared_nats.port) as proxy:
        store = store_on(proxy.url)
        shard, _ = await opened(store, next(shards))
        async with running(shard):
            await shard.stored(b"one")
            for fault in Fault:
                proxy.next_fault = fault
                began = clock.monotonic()
                await shard.stored(fault.name.encode())
                await proxy.deliver_late()
                assert clock.monotonic() - began < 1.5, "it waited for an answer that could not come"
        assert entries(await stored(store, shard.name)) == [b"one", *(fault.name.encode() for fault in Fault)]
        await store.close()


async def test_a_connection_that_leads_nowhere_is_given_up(shared_nats: Server) -> None:
    await prepare(shared_nats.url, replicas=1)
    async with broker_proxy(shared_nats.port) as proxy:
        store = store_on(proxy.url)
        shard, _ = await opened(store, next(shards))
        async with running(shard):
            await shard.stored(b"one")
            proxy.mute()
            await shard.stored(b"two")
        await store.close()


async def take_over_from_a_zombie(first: NatsStore, second: NatsStore) -> None:
    """The former owner plays on and knows of nothing; its connection is another one."""
    name = next(shards)
    zombie = Load((await opened(first, name))[0])
    async with running(zombie.shard) as run:
        work = asyncio.create_task(zombie.run(8, pause_s=0.03))
        await asyncio.sleep(0.2)
        shard, notes = await opened(second, name, epoch=2)
        async with running(shard):
            await shard.stored(b"mine")
            await asyncio.gather(run, work)
    assert zombie.shard.lost
    batches = await stored(second, name)
    assert entries(batches, epoch=2) == [b"mine"]
    of_zombie = entries(batches, epoch=1)
    assert notes.entries == of_zombie == zombie.appended[: len(of_zombie)]
    assert {entry for entry, ok in zombie.told.items() if ok} <= set(of_zombie)
    assert zombie.told.keys() == set(zombie.appended)
    await first.close()
    await second.close()


async def test_a_zombie_is_fenced_on_one_server(shared_nats: Server) -> None:
    await prepare(shared_nats.url, replicas=1)
    await take_over_from_a_zombie(store_on(shared_nats.url), store_on(shared_nats.url))


async def test_a_zombie_is_fenced_on_a_cluster(shared_cluster: Cluster) -> None:
    await prepare(shared_cluster[0].url, replicas=3)
    await take_over_from_a_zombie(store_on(shared_cluster[1].url), store_on(shared_cluster[2].url))


async def test_the_streams_are_created_once_by_many_and_as_the_design_says(nats_server: Server) -> None:
    await asyncio.gather(*(prepare(nats_server.url, replicas=1) for _ in range(6)))
    client = await broker.connect([nats_server.url], "look")
    js = client.jetstream()
    for name in (broker.JOURNAL, broker.TOURNAMENTS):
        config = (await js.stream_info(name)).config
        assert (config.deny_delete, config.deny_purge, config.discard) == (True, True, "new")
        assert (config.duplicate_window, config.storage) == (120, "file")
    leases = (await js.stream_info(f"KV_{broker.SHARDS}")).config
    assert (leases.max_age, leases.allow_direct) == (broker.LEASE_TTL_S, False)
    checkpoints = (await js.stream_info(broker.CHECKPOINTS)).config
    assert checkpoints.max_msgs_per_subject == 1
    await client.close()


async def kill_the_leader(nodes: Cluster) -> AsyncIterator[None]:
    client = await broker.connect(nodes.urls, "look")
    cluster = (await client.jetstream().stream_info(broker.JOURNAL)).cluster
    assert cluster is not None
    leader = nodes.named(str(cluster.leader))
    await leader.kill()
    yield
    async with asyncio.timeout(30):
        while True:
            try:
                await client.jetstream(timeout=1).stream_info(broker.JOURNAL)
                break
            except (nats.errors.Error, JetStreamError):
                await asyncio.sleep(0.1)
    await client.close()
    await leader.start()
    await leader.ready()


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="session")
async def test_the_leader_of_the_log_is_killed_under_load(shared_cluster: Cluster) -> None:
    await prepare(shared_cluster[0].url, replicas=3)
    store = store_on(*shared_cluster.urls)
    await play(store, 2, kill_the_leader(shared_cluster))
    await store.close()
