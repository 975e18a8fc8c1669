"""The lobby: `python -m majlis.lobby`."""

from __future__ import annotations

import secrets

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.lookup import Lookup
from majlis.chassis.projection import Projection
from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.sql import create_schema, open_engine
from majlis.chassis.tokens import load_signer
from majlis.v1.lobby_pb2_grpc import add_LobbyServicer_to_server

from .hall import Hall
from .instances import TableInstances
from .manager import Manager
from .owner import Owner
from .players import Players
from .results import ResultFold
from .schema import SCHEMA, metadata
from .servicer import LobbyServicer
from .tables import CasualTables


async def main(settings: Settings) -> None:
    """Wires the lobby and serves until told to stop."""
    clock = SystemClock()
    signer = load_signer(settings.keys_dir)
    urls = settings.broker.urls
    client = await broker.connect(urls, "lobby")
    await broker.ensure_streams(client.jetstream(), settings.broker.replicas)
    bucket = await broker.shards_bucket(client.jetstream())
    store = NatsStore(broker.TOURNAMENTS, lambda: broker.connect(urls, "lobby-journal", reconnect=False))
    engine = open_engine(settings.sql_url("lobby"))
    await create_schema(engine, "lobby", SCHEMA, metadata)

    hall = Hall()
    lookup = Lookup(bucket)
    instances = TableInstances(lookup, signer)
    manager = Manager(hall, instances, settings.shards, clock)
    hall.on_change = manager.wake
    casual = CasualTables(engine, instances, settings.shards, clock)
    projection = Projection(ResultFold(hall, clock), engine, client, clock)
    instance = f"lobby-{secrets.token_hex(4)}"
    owner = Owner(hall, bucket, store, instance, settings.address_of("lobby"), clock)
    service = Service("lobby", settings)
    servicer = LobbyServicer(hall, Players(engine, clock), casual, instances, signer, clock)
    service.add("majlis.v1.Lobby", add_LobbyServicer_to_server, servicer)

    async def start() -> None:
        service.watch_task(lookup.run(), "lookup")
        await owner.open()
        service.watch_task(owner.keep(), "tournaments' shard")
        service.watch_task(projection.run(), "results")
        service.watch_task(manager.run(), "manager")
        service.watch_task(casual.run(), "casual tables")

    try:
        await service.serve(start, owner.close)
    finally:
        await instances.close()
        await store.close()
        await client.close()
        await engine.dispose()


if __name__ == "__main__":
    run(main, "lobby")
