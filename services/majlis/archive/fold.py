"""What the archive makes of the log: histories by match, and a check of the chain that the batches form.

A batch that does not follow its predecessor is an alarm and nothing more: the entries of all matches go on being
collected, and each history has a chain of its own that is verified at its end. Only a shard that was opened with a newer
schema stops the projection: its histories cannot be judged by this version.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import structlog
from google.protobuf.message import DecodeError
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from majlis.chassis import metrics
from majlis.chassis.broker import JOURNAL
from majlis.chassis.feed import Message
from majlis.chassis.journal.batches import SCHEMA
from majlis.chassis.projection import Unfoldable
from majlis.chassis.sql import insert_new, upsert
from majlis.v1 import entry_pb2

from .tables import ENDED, entries, players, records, shards

log = structlog.get_logger(__name__)

_FIRST: Final = 1


class HistoryFold:
    """Folds JOURNAL into the archive's tables."""

    name = "archive"
    stream = JOURNAL

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        """Collects entries by match; a match whose ending entry is there is noted as ended."""
        found = (await connection.execute(select(shards))).mappings()
        heads = {row["shard"]: dict(row) for row in found}
        collected: dict[tuple[str, int], bytes] = {}
        ended: list[entry_pb2.Entry] = []
        for message in messages:
            batch = _batch(message)
            if batch is None:
                continue
            if batch.shard_opened.schema > SCHEMA:
                raise Unfoldable(
                    f"shard {batch.shard} was opened with schema {batch.shard_opened.schema}, ours is {SCHEMA}: "
                    "run the archive of that newer Majlis"
                )
            _check_chain(heads, batch, message)
            for stored in batch.entries:
                entry = _entry(stored, message)
                if entry is not None:
                    collected.setdefault((entry.match_id, entry.number), stored)
                    if entry.events and entry.events[-1].HasField("match_ended"):
                        ended.append(entry)
        rows = [{"match_id": m, "number": n, "stored": stored} for (m, n), stored in collected.items()]
        await insert_new(connection, entries, rows)
        await upsert(connection, shards, list(heads.values()))
        for entry in ended:
            await _note_end(connection, entry)

    async def forget(self, connection: AsyncConnection) -> None:
        """Everything the log can give again; records that are in the log of records stay there."""
        for table in (entries, shards, players, records):
            await connection.execute(delete(table))


def _batch(message: Message) -> entry_pb2.Batch | None:
    try:
        return entry_pb2.Batch.FromString(message.data)
    except DecodeError as error:
        _alarm(message, f"is no batch: {error}")
        return None


def _entry(stored: bytes, message: Message) -> entry_pb2.Entry | None:
    try:
        return entry_pb2.Entry.FromString(stored)
    except DecodeError as error:
        _alarm(message, f"holds what is no entry: {error}")
        return None


def _check_chain(heads: dict[str, dict[str, Any]], batch: entry_pb2.Batch, message: Message) -> None:
    """Numbers follow each other, epochs never go back, and each batch names the hash of the one before."""
    head = heads.get(batch.shard)
    if head is not None:
        if batch.number != head["number"] + 1:
            _alarm(message, f"is batch {batch.number} of shard {batch.shard} after batch {head['number']}")
        elif batch.prev_hash != head["hash"]:
            _alarm(message, f"does not name the hash of batch {head['number']} of shard {batch.shard}")
        if batch.epoch < head["epoch"]:
            _alarm(message, f"is of epoch {batch.epoch}, after epoch {head['epoch']} had opened the shard")
    elif batch.number != _FIRST:
        _alarm(message, f"is batch {batch.number} of shard {batch.shard}, and none came before it")
    heads[batch.shard] = {
        "shard": batch.shard,
        "epoch": max(batch.epoch, head["epoch"] if head else 0),
        "number": batch.number,
        "hash": sha256(message.data).digest(),
    }


def _alarm(message: Message, what: str) -> None:
    metrics.AUDIT_CHAIN_FAILURES.inc()
    log.critical(
        "the log is not in order",
        event_type="audit_chain_failure",
        what=what,
        sequence=message.sequence,
        subject=message.subject,
    )


async def _note_end(connection: AsyncConnection, last: entry_pb2.Entry) -> None:
    """Notes a finished match, with what its first entry says of it."""
    first = await _first_entry(connection, last.match_id)
    opened = first.events[0].match_opened if first is not None and first.events else None
    row = {
        "match_id": last.match_id,
        "state": ENDED,
        "game": opened.game if opened else "",
        "tournament_id": opened.tournament_id if opened else "",
        "round": opened.round if opened else 0,
        "pod": opened.pod if opened else 0,
        "entries": last.number,
        "started_at_ms": opened.opened_at_ms if opened else 0,
        "ended_at_ms": last.events[-1].match_ended.at_ms,
        "history_hash": b"",
        "fault": "",
        "fault_entry": 0,
    }
    await insert_new(connection, records, [row])
    seats = opened.seats if opened else ()
    await insert_new(
        connection,
        players,
        [{"match_id": last.match_id, "seat": n, "player_id": seat.player_id} for n, seat in enumerate(seats)],
    )


async def _first_entry(connection: AsyncConnection, match_id: str) -> entry_pb2.Entry | None:
    stored = await connection.scalar(
        select(entries.c.stored).where(entries.c.match_id == match_id, entries.c.number == _FIRST)
    )
    return entry_pb2.Entry.FromString(stored) if stored is not None else None
