"""What the demo waits for after the last match: every record archived, every result rated, everything verified."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from majlis.cli.calls import AGAIN_S, channel, token
from majlis.cli.demo.tournament import insist
from majlis.cli.evidence import verify_in_archive
from majlis.cli.exits import Ending
from majlis.cli.ratings import ladder
from majlis.v1 import archive_pb2, rating_pb2
from majlis.v1.archive_pb2_grpc import ArchiveStub

PATIENCE_S: Final = 60.0


async def audit(tournament_id: str, matches: int) -> dict[str, Any]:
    """The archive's verdict on the tournament, once it has a record of each match (or after a minute without)."""
    deadline = time.monotonic() + PATIENCE_S
    while await insist(lambda: _archived(tournament_id)) < matches and time.monotonic() < deadline:
        await asyncio.sleep(AGAIN_S)
    verdict = await insist(lambda: verify_in_archive(tournament_id))
    if verdict["verified"] and verdict["matches"] != matches:
        missing = f"the archive has records of {verdict['matches']} matches; {matches} were played"
        return {**verdict, "verified": False, "fault": missing}
    return verdict


async def ratings(game: str, seats_played: int) -> list[rating_pb2.PlayerRating]:
    """The ladder once every seat of every match is counted (or after a while without)."""
    deadline = time.monotonic() + PATIENCE_S / 2
    while True:
        try:
            players = list((await ladder(game, 1000)).players)
        except Ending:
            players = []
        if sum(player.matches for player in players) >= seats_played or time.monotonic() > deadline:
            return players
        await asyncio.sleep(AGAIN_S)


async def _archived(tournament_id: str) -> int:
    async with channel("archive") as opened:
        request = archive_pb2.ListRecordsRequest(tournament_id=tournament_id, limit=1)
        return (await ArchiveStub(opened).ListRecords(request, metadata=token())).total
