"""One table instance: `python -m majlis.table`."""

from __future__ import annotations

import asyncio
import secrets

from majlis.chassis import broker, metrics
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.lookup import Lookup
from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.tokens import load_verifier
from majlis.v1.table_pb2_grpc import add_TableServicer_to_server

from .computers import ComputerDesk
from .host import TableHost
from .ownership import Presence, ShardKeeper
from .results import ResultPublisher
from .seeds import SystemSeeds
from .servicer import TableServicer
from .shard_host import ShardHost


async def main(settings: Settings) -> None:
    """Wires one instance and serves until told to stop."""
    clock = SystemClock()
    instance = f"table-{settings.instance}-{secrets.token_hex(4)}"
    urls = settings.broker.urls
    client = await broker.connect(urls, instance)
    js = client.jetstream()
    await broker.ensure_streams(js, settings.broker.replicas)
    bucket = await broker.shards_bucket(js)
    journal = NatsStore(broker.JOURNAL, lambda: broker.connect(urls, f"{instance}-journal", reconnect=False))
    checkpoints = NatsStore(
        broker.CHECKPOINTS, lambda: broker.connect(urls, f"{instance}-checkpoints", reconnect=False)
    )

    host = TableHost(clock)
    lookup = Lookup(bucket)
    desk = ComputerDesk(host, client, clock, instance)
    results = ResultPublisher(js, clock)
    host.computers, host.results = desk, results
    presence = Presence(client, instance, settings.address_of("table", settings.instance), clock)
    servicer = TableServicer(host, load_verifier(settings.keys_dir), lookup, SystemSeeds(), clock)
    service = Service("table", settings)
    service.add("majlis.v1.Table", add_TableServicer_to_server, servicer)

    def make(shard: str) -> ShardHost:
        return ShardHost(shard, journal, checkpoints, instance, clock)

    async def start() -> None:
        for work in (
            presence.run(),
            lookup.run(),
            desk.run(),
            results.run(),
            servicer.streams.ping(),
            watch(host),
        ):
            service.watch_task(work, getattr(work, "__qualname__", "task"))
        # Others must be heard before shards are claimed that are theirs.
        await asyncio.sleep(0.7)
        for number in range(settings.shards):
            keeper = ShardKeeper(str(number), bucket, presence, host, make, journal, clock)
            service.watch_task(keeper.run(), f"shard {number}")

    async def drain() -> None:
        presence.draining = True
        servicer.streams.drain()
        while host.shards:
            await asyncio.sleep(0.02)

    try:
        await service.serve(start, drain)
    finally:
        host.close()
        await journal.close()
        await checkpoints.close()
        await client.close()


async def watch(host: TableHost) -> None:
    """Keeps the gauges of the operations page up to date."""
    while True:
        active: dict[str, int] = {}
        stalled: dict[str, int] = {}
        for live in list(host.live_matches()):
            state = live.stored
            if state is not None and state.ended is None:
                active[state.game] = active.get(state.game, 0) + 1
        for shard_host in host.shards.values():
            if shard_host.shard is not None and shard_host.shard.stalled:
                for live in shard_host.matches.values():
                    if live.stored is not None and live.stored.ended is None:
                        stalled[live.stored.game] = stalled.get(live.stored.game, 0) + 1
        for game in {*active, *stalled}:
            metrics.MATCHES_ACTIVE.labels(game).set(active.get(game, 0))
            metrics.TABLES_STALLED.labels(game).set(stalled.get(game, 0))
        metrics.SHARDS_OWNED.set(len(host.shards))
        metrics.SHARDS_STALLED.set(
            sum(1 for s in host.shards.values() if s.shard is not None and s.shard.stalled)
        )
        await asyncio.sleep(1)


if __name__ == "__main__":
    run(main, "table")
