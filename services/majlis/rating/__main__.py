"""The rating service: `python -m majlis.rating`."""

from __future__ import annotations

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.projection import Projection
from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.sql import create_schema, open_engine
from majlis.chassis.tokens import load_verifier
from majlis.v1.rating_pb2_grpc import add_RatingServicer_to_server

from .fold import LadderFold
from .servicer import RatingServicer
from .tables import SCHEMA, metadata


async def main(settings: Settings) -> None:
    """Wires the rating service and serves until told to stop."""
    verifier = load_verifier(settings.keys_dir)
    client = await broker.connect(settings.broker.urls, "rating")
    await broker.ensure_streams(client.jetstream(), settings.broker.replicas)
    engine = open_engine(settings.sql_url("rating"))
    await create_schema(engine, "rating", SCHEMA, metadata)
    projection = Projection(LadderFold(), engine, client, SystemClock())
    service = Service("rating", settings)
    service.add(
        "majlis.v1.Rating", add_RatingServicer_to_server, RatingServicer(engine, projection, verifier)
    )

    async def start() -> None:
        service.watch_task(projection.run(), "projection")

    try:
        await service.serve(start)
    finally:
        await client.close()
        await engine.dispose()


if __name__ == "__main__":
    run(main, "rating")
