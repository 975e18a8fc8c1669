"""One table instance: `python -m majlis.table`."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from nats.aio.client import Client
from nats.js.kv import KeyValue

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.lookup import Lookup
from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.tokens import load_verifier
from majlis.v1.table_pb2_grpc import add_TableServicer_to_server

from .computers import ComputerDesk
from .gauges import keep_gauges
from .host import TableHost
from .ownership import Presence, ShardKeeper
from .results import ResultPublisher
from .seeds import SystemSeeds
from .servicer import TableServicer
from .shard_host import ShardHost

HEAR_OTHERS_S: Final = 0.7
"""Other instances must be heard before shards are claimed that are theirs."""


class Instance:
    """Everything of one table instance, wired."""

    def __init__(
        self, settings: Settings, name: str, client: Client, bucket: KeyValue, shards: list[str]
    ) -> None:
        self.clock = SystemClock()
        self.name = name
        self.shards = shards
        self.bucket = bucket
        self.journal = self._store(settings, broker.JOURNAL)
        self.checkpoints = self._store(settings, broker.CHECKPOINTS)
        self.host = TableHost(self.clock)
        self.lookup = Lookup(bucket)
        self.desk = ComputerDesk(self.host, client, self.clock, name)
        self.results = ResultPublisher(client.jetstream(), self.clock)
        self.host.computers, self.host.results = self.desk, self.results
        self.presence = Presence(client, name, settings.address_of("table", settings.instance), self.clock)
        verifier = load_verifier(settings.keys_dir)
        self.servicer = TableServicer(self.host, verifier, self.lookup, SystemSeeds(), self.clock)
        self.service = Service("table", settings)
        self.service.add("majlis.v1.Table", add_TableServicer_to_server, self.servicer)

    def _store(self, settings: Settings, stream: str) -> NatsStore:
        urls, connection = settings.broker.urls, f"{self.name}-{stream.lower()}"
        replicas = settings.broker.replicas
        return NatsStore(stream, lambda: broker.connect(urls, connection, reconnect=False), replicas)

    async def start(self) -> None:
        """Begins to hear the others, then to claim shards."""
        watch = self.service.watch_task
        watch(self.presence.run(), "presence")
        watch(self.lookup.run(), "lookup")
        watch(self.desk.run(), "computers")
        watch(self.results.run(), "results")
        watch(self.servicer.streams.ping(), "pings")
        watch(keep_gauges(self.host), "gauges")
        await asyncio.sleep(HEAR_OTHERS_S)
        for shard in self.shards:
            keeper = ShardKeeper(
                shard, self.bucket, self.presence, self.host, self._host_of, self.journal, self.clock
            )
            watch(keeper.run(), f"shard {shard}")

    def _host_of(self, shard: str) -> ShardHost:
        return ShardHost(shard, self.journal, self.checkpoints, self.name, self.clock)

    async def drain(self) -> None:
        """Hands every shard over."""
        self.presence.draining = True
        self.servicer.streams.drain()
        while self.host.shards:
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        self.host.close()
        await self.journal.close()
        await self.checkpoints.close()


async def main(settings: Settings) -> None:
    """Serves until told to stop."""
    name = f"table-{settings.instance}-{secrets.token_hex(4)}"
    client = await broker.connect(settings.broker.urls, name)
    js = client.jetstream()
    await broker.ensure_streams(js, settings.broker.replicas)
    shards = await broker.match_shards(js, settings.shards)
    instance = Instance(settings, name, client, await broker.shards_bucket(js), shards)
    try:
        await instance.service.serve(instance.start, instance.drain)
    finally:
        await instance.close()
        await client.close()


if __name__ == "__main__":
    run(main, "table")
