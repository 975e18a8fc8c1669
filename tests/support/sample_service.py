"""A service process to try the frame of services on: `python -m tests.support.sample_service`. It is a rating service whose
behaviour the asked game names: `fault`, `refused`, `slow`, `crash` (of a background task), `echo`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.chassis.telemetry import trace_id
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import archive_pb2, archive_pb2_grpc, rating_pb2, rating_pb2_grpc

crash = asyncio.Event()


async def get_ladder(request: rating_pb2.GetLadderRequest, context: Any) -> rating_pb2.GetLadderResponse:
    if request.game == "fault":
        raise ZeroDivisionError("a fault of ours")
    if request.game == "refused":
        raise Rejected(RejectionCode.UNKNOWN_GAME, "there is no such game", "choose another")
    if request.game == "slow":
        await asyncio.sleep(0.5)
    if request.game == "crash":
        crash.set()
    return rating_pb2.GetLadderResponse(total=7, players=[rating_pb2.PlayerRating(player_id=trace_id.get())])


async def export(
    request: archive_pb2.ExportRequest, context: Any
) -> AsyncIterator[archive_pb2.ExportResponse]:
    yield archive_pb2.ExportResponse(chunk=b"first")
    if request.match_id == "refused":
        raise Rejected(RejectionCode.UNKNOWN_RECORD, "there is no such record", "wait for it")
    if request.match_id == "fault":
        raise ZeroDivisionError("a fault of ours")


async def fail_when_asked() -> None:
    await crash.wait()
    raise RuntimeError("a background task failed")


async def main(settings: Settings) -> None:
    service = Service("rating", settings)
    rating = SimpleNamespace(GetLadder=get_ladder, GetPlayer=None, Rebuild=None)
    archive = SimpleNamespace(Export=export, GetRecord=None, ListRecords=None, Verify=None, GetPublicKey=None)
    service.add("majlis.v1.Rating", rating_pb2_grpc.add_RatingServicer_to_server, rating)
    service.add("majlis.v1.Archive", archive_pb2_grpc.add_ArchiveServicer_to_server, archive)

    async def held() -> None:
        """A test keeps the service starting or draining for as long as this file is there."""
        while (settings.data_dir / "hold").exists():
            await asyncio.sleep(0.01)

    async def start() -> None:
        await held()
        service.watch_task(fail_when_asked(), "fails when asked")

    async def drain() -> None:
        await held()
        (settings.data_dir / "drained").touch()

    await service.serve(start, drain)


if __name__ == "__main__":
    run(main, "rating")
