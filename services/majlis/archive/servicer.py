"""The Archive service's gRPC face."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import grpc.aio
import nats.errors
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import func, select

from majlis.chassis.clock import Clock
from majlis.chassis.projection import Stopped
from majlis.chassis.sql import check_key
from majlis.engine.decider import Rejected
from majlis.engine.evidence import key_id, verify_record, write_archive_file, write_checkpoint
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import archive_pb2, archive_pb2_grpc, result_pb2

from .shelf import Shelf
from .tables import PUBLISHED, players, records

CHUNK: Final = 48 * 1024
MAX_LISTED: Final = 10_000
PROGRESS_EVERY_S: Final = 0.2
Context = grpc.aio.ServicerContext[Any, Any]


class ArchiveServicer(archive_pb2_grpc.ArchiveServicer):
    """Gives records out. Nothing of a match that has not ended leaves here."""

    def __init__(
        self, shelf: Shelf, key: Ed25519PrivateKey, clock: Clock, catch_up: Callable[[], Awaitable[None]]
    ) -> None:
        self._shelf = shelf
        self._key = key
        self._clock = clock
        self._catch_up = catch_up

    async def GetRecord(
        self, request: archive_pb2.GetRecordRequest, context: Context
    ) -> archive_pb2.GetRecordResponse:
        row = await self._shelf.row(check_key(request.match_id, "match id"))
        return archive_pb2.GetRecordResponse(record=await self._shelf.record(row))

    async def ListRecords(
        self, request: archive_pb2.ListRecordsRequest, context: Context
    ) -> archive_pb2.ListRecordsResponse:
        for text in (request.tournament_id, request.game, request.player_id):
            check_key(text, "filter")
        chosen = [records.c.state == PUBLISHED]
        if request.tournament_id:
            chosen.append(records.c.tournament_id == request.tournament_id)
        if request.game:
            chosen.append(records.c.game == request.game)
        if request.player_id:
            his = select(players.c.match_id).where(players.c.player_id == request.player_id)
            chosen.append(records.c.match_id.in_(his))
        total = (await self._shelf.find(select(func.count()).select_from(records).where(*chosen)))[0][0]
        newest = select(records).where(*chosen).order_by(records.c.ended_at_ms.desc(), records.c.match_id)
        rows = await self._shelf.find(newest.limit(min(request.limit or 100, MAX_LISTED)))
        seated = await self._shelf.players_of([row.match_id for row in rows])
        summaries = [_summary(row, seated.get(row.match_id, [])) for row in rows]
        return archive_pb2.ListRecordsResponse(records=summaries, total=total)

    async def Verify(
        self, request: archive_pb2.VerifyRequest, context: Context
    ) -> AsyncIterator[archive_pb2.VerifyResponse]:
        rows = await self._scope(request)
        told = archive_pb2.VerifyResponse(of_matches=len(rows))
        next_report = self._clock.monotonic() + PROGRESS_EVERY_S
        for row in rows:
            if not await self._verified(row, told):
                told.done = True
                yield told
                return
            if self._clock.monotonic() >= next_report:
                next_report = self._clock.monotonic() + PROGRESS_EVERY_S
                yield told
        told.done = told.verified = True
        yield told

    async def _verified(self, row: Any, told: archive_pb2.VerifyResponse) -> bool:
        """Adds one record to the verdict; False where it is not in order."""
        try:
            record = await self._shelf.record(row)
        except Rejected as rejected:
            told.fault, told.fault_match_id, told.fault_entry = rejected.detail, row.match_id, row.fault_entry
            return False
        verdict = await asyncio.to_thread(verify_record, record, self._key.public_key())
        told.entries += verdict.entries
        fault, entry = verdict.fault, verdict.fault_entry
        if verdict.ok and (verdict.match_id != row.match_id or verdict.entries != row.entries):
            fault, entry = f"its record is of match {verdict.match_id} with {verdict.entries} entries", 0
        if fault:
            what = f"entry {entry} {fault}" if entry else fault
            told.fault, told.fault_match_id, told.fault_entry = (
                f"match {row.match_id}: {what}",
                row.match_id,
                entry,
            )
            return False
        told.matches += 1
        return True

    async def Export(
        self, request: archive_pb2.ExportRequest, context: Context
    ) -> AsyncIterator[archive_pb2.ExportResponse]:
        rows = await self._scope(request)
        for row in rows:
            self._shelf.check(row)
        checkpoint = None
        if request.tournament_id:
            histories = {row.match_id: row.history_hash for row in rows}
            checkpoint = write_checkpoint(f"tournament/{request.tournament_id}", histories, self._key)
        # Messages of protobuf that are joined are one message: the file is never whole in memory.
        waiting = bytearray(write_archive_file((), checkpoint))
        for row in rows:
            part = result_pb2.ArchiveFile(records=[await self._shelf.record(row)])
            waiting += part.SerializeToString(deterministic=True)
            while len(waiting) >= CHUNK:
                yield archive_pb2.ExportResponse(chunk=bytes(waiting[:CHUNK]))
                del waiting[:CHUNK]
        yield archive_pb2.ExportResponse(chunk=bytes(waiting))

    async def _scope(self, request: archive_pb2.VerifyRequest | archive_pb2.ExportRequest) -> list[Any]:
        """The finished matches asked for, as far as the log goes now. A match already known can be had without that."""
        match_id = check_key(request.match_id, "match id")
        tournament_id = check_key(request.tournament_id, "tournament id")
        try:
            await self._catch_up()
        except (Stopped, nats.errors.Error, TimeoutError) as error:
            if not match_id:
                raise Rejected(
                    RejectionCode.UNAVAILABLE,
                    f"finished matches may be missing in the archive: {error}",
                    "see the log of the archive: what stopped it has to be mended first",
                ) from error
        return await self._shelf.scope(match_id, tournament_id)

    async def GetPublicKey(
        self, request: archive_pb2.GetPublicKeyRequest, context: Context
    ) -> archive_pb2.GetPublicKeyResponse:
        public = self._key.public_key()
        return archive_pb2.GetPublicKeyResponse(public_key=public.public_bytes_raw(), key_id=key_id(public))


def _summary(row: Any, player_ids: list[str]) -> archive_pb2.RecordSummary:
    return archive_pb2.RecordSummary(
        match_id=row.match_id,
        game=row.game,
        tournament_id=row.tournament_id,
        round=row.round,
        pod=row.pod,
        entries=row.entries,
        started_at_ms=row.started_at_ms,
        ended_at_ms=row.ended_at_ms,
        history_hash=row.history_hash,
        player_ids=player_ids,
    )
