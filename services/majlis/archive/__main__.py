"""The archive: `python -m majlis.archive`."""

from __future__ import annotations

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.projection import Projection
from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.sql import create_schema, open_engine
from majlis.chassis.tokens import load_private_key
from majlis.v1.archive_pb2_grpc import add_ArchiveServicer_to_server

from .fold import HistoryFold
from .recorder import Recorder
from .servicer import ArchiveServicer
from .shelf import Shelf
from .tables import SCHEMA, metadata


async def main(settings: Settings) -> None:
    """Wires the archive and serves until told to stop."""
    clock = SystemClock()
    key = load_private_key(settings.keys_dir / "archive.key")
    client = await broker.connect(settings.broker.urls, "archive")
    await broker.ensure_streams(client.jetstream(), settings.broker.replicas)
    engine = open_engine(settings.sql_url("archive"))
    await create_schema(engine, "archive", SCHEMA, metadata)
    recorder = Recorder(engine, client, key, clock)
    projection = Projection(HistoryFold(), engine, client, clock, on_applied=recorder.wake)
    shelf = Shelf(engine, client, clock)
    service = Service("archive", settings)
    servicer = ArchiveServicer(shelf, key, clock, projection.catch_up)
    service.add("majlis.v1.Archive", add_ArchiveServicer_to_server, servicer)

    async def start() -> None:
        service.watch_task(projection.run(), "projection")
        service.watch_task(recorder.run(), "recorder")

    try:
        await service.serve(start)
    finally:
        await client.close()
        await engine.dispose()


if __name__ == "__main__":
    run(main, "archive")
