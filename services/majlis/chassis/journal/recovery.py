"""Taking a shard over: read what is stored, then append the barrier that shuts the former owner out."""

from __future__ import annotations

from typing import Final, Protocol

import structlog

from majlis.chassis.clock import Clock
from majlis.engine.vocabulary.entry import Batch, ShardOpened

from .batches import Frozen, Head, JournalGap, follow, freeze
from .shard import Fenced, Shard, settle_once
from .store import Store, Stored, Unknown

SCHEMA: Final = 1
"""The newest entry schema this code writes and reads. Code with a lower one may not take a shard over."""
MAX_SKEW_MS: Final = 250

log = structlog.get_logger(__name__)


class SchemaTooOld(Exception):
    """The shard was last opened by newer code: this instance must not write to it."""


class ClockSkew(Exception):
    """This machine's clock and the broker's are too far apart to judge deadlines."""


class Folder(Protocol):
    """Who rebuilds state from a shard's log."""

    async def begin(self) -> int:
        """Forgets everything folded so far, loads checkpoints; returns the sequence after which to scan."""

    def fold(self, sequence: int, batch: Batch) -> None:
        """Takes one stored batch, in order; barriers too."""


class Claimed(Protocol):
    """What recovery needs of a claim."""

    epoch: int
    previous_alive_ms: int
    """When the former owner last renewed its lease; 0 where there was none."""


async def open_shard(
    store: Store, subject: str, name: str, claim: Claimed, instance: str, folder: Folder, clock: Clock
) -> Shard:
    """Recovers the shard and opens it. Raises Fenced, JournalGap, SchemaTooOld or ClockSkew."""
    while True:
        head, last_at_ms = await _recover(store, subject, folder, clock)
        barrier = _barrier(head, max(last_at_ms, claim.previous_alive_ms), instance, clock)
        frozen = freeze(name, claim.epoch, head, barrier=barrier)
        opened = await _append_barrier(store, subject, claim.epoch, frozen, head, clock)
        if opened is None:
            continue
        folder.fold(opened.sequence, follow(None, Stored(opened.sequence, frozen.data, 0))[0])
        return Shard(store, subject, name, claim.epoch, opened, clock)


def _barrier(head: Head, outage_from_ms: int, instance: str, clock: Clock) -> ShardOpened:
    interrupted = head.number > 0
    now = clock.now_ms()
    return ShardOpened(
        schema=SCHEMA,
        instance=instance,
        outage_from_ms=min(outage_from_ms, now) if interrupted else 0,
        outage_to_ms=now if interrupted else 0,
    )


async def _recover(store: Store, subject: str, folder: Folder, clock: Clock) -> tuple[Head, int]:
    """Folds what is stored; returns the head and the broker's time of the last batch."""
    while True:
        try:
            last = await store.head(subject)
            head, at_ms = None, 0
            async for stored in store.scan(subject, await folder.begin(), last.sequence if last else 0):
                batch, head = follow(head, stored)
                _check_schema(batch)
                folder.fold(stored.sequence, batch)
                at_ms = stored.at_ms
            break
        except Unknown as error:
            log.info("recovery repeated", event_type="recovery_repeated", subject=subject, why=str(error))
            await clock.sleep(0.1)
    if last is None:
        return Head(), 0
    if head is None:  # a checkpoint covers everything
        head, at_ms = follow(None, last)[1], last.at_ms
    if head.sequence != last.sequence:
        raise JournalGap(f"{subject}: the scan ended at {head.sequence}, the head is {last.sequence}")
    return head, at_ms


def _check_schema(batch: Batch) -> None:
    if batch.shard_opened is not None and batch.shard_opened.schema > SCHEMA:
        raise SchemaTooOld(f"shard {batch.shard} was opened with schema {batch.shard_opened.schema}, ours is {SCHEMA}")


async def _append_barrier(
    store: Store, subject: str, epoch: int, frozen: Frozen, head: Head, clock: Clock
) -> Head | None:
    """The head after the barrier, or None where the former owner wrote once more: then recover again."""
    before_ms = clock.now_ms()
    while True:
        try:
            opened = await settle_once(store, subject, epoch, frozen, head)
            break
        except Unknown:
            await clock.sleep(0.05)
        except Fenced as fenced:
            if fenced.epoch > epoch:
                raise
            return None
    stored = await _stored_head(store, subject, clock)
    if stored is not None and stored.sequence == opened.sequence:
        _check_clock(before_ms, stored.at_ms, clock.now_ms())
    return opened


async def _stored_head(store: Store, subject: str, clock: Clock) -> Stored | None:
    while True:
        try:
            return await store.head(subject)
        except Unknown:
            await clock.sleep(0.05)


def _check_clock(before_ms: int, broker_ms: int, after_ms: int) -> None:
    if not before_ms - MAX_SKEW_MS <= broker_ms <= after_ms + MAX_SKEW_MS:
        raise ClockSkew(f"the broker's time {broker_ms} lies outside {before_ms}..{after_ms} by over {MAX_SKEW_MS} ms")
