"""Makes records: verifies each finished history, signs it, and stores it in the log of records.

Every step can be repeated: a record is stored under the expectation that there is none yet, and the entries it was
made from are let go only after it is noted as published.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import nats.errors
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct
from nats.aio.client import Client
from nats.js.errors import APIError, NotFoundError
from nats.js.errors import Error as JetStreamError
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.broker import RECORDS
from majlis.chassis.clock import Clock
from majlis.chassis.sql import reading, writing
from majlis.engine.decider import Rejected
from majlis.engine.evidence import read_record, verify_history, write_record

from .tables import ENDED, PUBLISHED, QUARANTINED, entries, records

log = structlog.get_logger(__name__)

BATCH: Final = 32
PAYLOAD_MAX: Final = 1000 * 1000
_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
_PASSING: Final = (nats.errors.Error, JetStreamError, DBAPIError, OSError, TimeoutError)


class Made(Struct, frozen=True):
    """What verifying a history led to: a record, or the fault that keeps it from being one."""

    record: bytes = b""
    history_hash: bytes = b""
    fault: str = ""
    fault_entry: int = 0


def subject_of(game: str, match_id: str) -> str:
    """Where a match's record stands."""
    return f"record.{game}.{match_id}"


def make(history: list[bytes], key: Ed25519PrivateKey) -> Made:
    """Decides the whole history again; signs it only if every byte is as it must be. Pure: runs in a thread."""
    verdict = verify_history(history)
    if not verdict.ok or verdict.state is None or verdict.state.ended is None:
        return Made(fault=verdict.fault or "the match has not ended", fault_entry=verdict.fault_entry)
    record = write_record(history, key)
    if len(record) > PAYLOAD_MAX:
        return Made(fault=f"the record has {len(record)} bytes, more than the log takes in one message")
    return Made(record, verdict.state.head_hash)


def _sound_alarm(match_id: str, made: Made) -> None:
    metrics.REPLAY_MISMATCHES.inc()
    log.critical(
        "a match is not as deciding it again gives it",
        event_type="replay_mismatch",
        match_id=match_id,
        entry=made.fault_entry,
        fault=made.fault,
    )


class Recorder:
    """Works on finished matches as they come. `wake` says that there may be new ones."""

    def __init__(
        self,
        engine: AsyncEngine,
        client: Client,
        key: Ed25519PrivateKey,
        clock: Clock,
        crash_point: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._engine = engine
        self._client = client
        self._key = key
        self._clock = clock
        self._crash_point = crash_point
        self._wake = asyncio.Event()

    def wake(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        """Records what has ended, for as long as the process lives."""
        while True:
            try:
                while await self.record_some():
                    pass
                await self._measure_lag()
            except _PASSING as error:
                log.info("recording interrupted", event_type="recording_retry", why=repr(error))
                await self._clock.sleep(0.5)
                continue
            self._wake.clear()
            # The wake-up is for speed; what was left by a crash is found without it.
            try:
                await asyncio.wait_for(self._wake.wait(), 1.0)
            except TimeoutError:
                continue

    async def record_some(self) -> int:
        """Records up to a batch of finished matches; returns how many there were."""
        query = select(records.c.match_id, records.c.game).where(records.c.state == ENDED)
        async with reading(self._engine) as connection:
            found = (await connection.execute(query.order_by(records.c.ended_at_ms).limit(BATCH))).all()
        if found:
            await self._record({match_id: subject_of(game, match_id) for match_id, game in found})
        return len(found)

    async def _record(self, subjects: Mapping[str, str]) -> None:
        """Match id -> subject of its record."""
        histories = await self._histories(list(subjects))
        made = {
            match_id: await asyncio.to_thread(make, histories[match_id], self._key) for match_id in subjects
        }
        self._crash_point("verified")
        good = [match_id for match_id in subjects if made[match_id].record]
        stored = await asyncio.gather(
            *(
                self._publish(subjects[match_id], made[match_id].record, histories[match_id])
                for match_id in good
            )
        )
        for match_id, ours in zip(good, stored, strict=True):
            if not ours:
                made[match_id] = Made(fault="another record of this match is in the log already")
        self._crash_point("published")
        for match_id, each in made.items():
            if each.fault:
                _sound_alarm(match_id, each)
        await self._note(made)

    async def _histories(self, match_ids: list[str]) -> dict[str, list[bytes]]:
        query = select(entries.c.match_id, entries.c.stored).where(entries.c.match_id.in_(match_ids))
        histories: dict[str, list[bytes]] = {match_id: [] for match_id in match_ids}
        async with reading(self._engine) as connection:
            for match_id, stored in await connection.execute(
                query.order_by(entries.c.match_id, entries.c.number)
            ):
                histories[match_id].append(stored)
        return histories

    async def _publish(self, subject: str, record: bytes, history: list[bytes]) -> bool:
        """Stores the record once; False where another one is there."""
        try:
            await self._client.jetstream().publish(
                subject, record, headers={"Nats-Expected-Last-Subject-Sequence": "0"}
            )
            return True
        except APIError as error:
            if error.err_code not in _WRONG_LAST_SEQUENCE:
                raise
        return await self._is_same(subject, history)

    async def _is_same(self, subject: str, history: list[bytes]) -> bool:
        """Whether the record in the log holds this very history (its compression may be another)."""
        try:
            stored = (await self._client.jetstream().get_last_msg(RECORDS, subject)).data or b""
            return list(read_record(stored).entries) == history
        except (NotFoundError, Rejected):
            return False

    async def _note(self, made: Mapping[str, Made]) -> None:
        """What came of each match. The entries of a quarantined one are kept: they are the evidence."""
        async with writing(self._engine) as connection:
            for match_id, each in made.items():
                noted = update(records).where(records.c.match_id == match_id)
                await connection.execute(
                    noted.values(
                        state=QUARANTINED if each.fault else PUBLISHED,
                        history_hash=each.history_hash,
                        fault=each.fault,
                        fault_entry=each.fault_entry,
                    )
                )
            published = [match_id for match_id, each in made.items() if not each.fault]
            await connection.execute(delete(entries).where(entries.c.match_id.in_(published)))

    async def _measure_lag(self) -> None:
        """Entries of ended matches that are not verified yet."""
        waiting = select(func.coalesce(func.sum(records.c.entries), 0)).where(records.c.state == ENDED)
        async with reading(self._engine) as connection:
            metrics.AUDIT_LAG.set(int(await connection.scalar(waiting) or 0))
