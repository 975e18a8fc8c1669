"""Checkpoints: a cache of folded state, in buckets, so that recovery reads a bounded tail of the log.

Every message holds one bucket of matches and says from where on the log must still be scanned, given that this
bucket and all that were written before it are stored. Recovery believes the newest such statement. Buckets are
written under the expectation of their last known message, so that a former owner cannot put an old one back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from .store import Store, Unknown, WrongLastSequence

BUCKET_SIZE: Final = 32
FORMAT: Final = 1

log = structlog.get_logger(__name__)


class Saved(Struct, frozen=True, array_like=True):
    """One match in a checkpoint; `state` is decoded at first touch."""

    match_id: str
    number: int
    """Entries folded into the state."""
    first_sequence: int
    """Where the match begins in the log: from there it is folded again if the state cannot be read."""
    state_schema: int
    state: bytes


class Bucket(Struct, frozen=True, array_like=True):
    """What one checkpoint message holds."""

    format: int
    scan_from: int
    """The log's sequence after which entries may be missing in the checkpoints as a whole."""
    matches: tuple[Saved, ...]


class Checkpoints:
    """The checkpoints of one shard, as its owner keeps them."""

    def __init__(self, store: Store, shard: str) -> None:
        self._store = store
        self._shard = shard
        self._members: dict[int, list[str]] = {}
        self._bucket_of: dict[str, int] = {}
        self._dirty: dict[int, int] = {}  # bucket -> the sequence before its first unsaved entry; oldest first
        self._expected: dict[int, int] = {}  # bucket -> sequence of its last message
        self._open = 0

    async def load(self) -> tuple[int, list[Saved]]:
        """The sequence after which to scan, and what is saved. For a fresh object only. Raises Unknown."""
        scan_from, saved, whole = 0, [], True
        for subject, stored in await self._store.last_each(f"checkpoint.{self._shard}.>"):
            number = int(subject.rsplit(".", 1)[-1])
            self._expected[number] = stored.sequence
            self._open = max(self._open, number + 1)
            try:
                bucket = msgspec.msgpack.decode(stored.data, type=Bucket)
            except msgspec.DecodeError as error:
                log.warning("checkpoint left out", event_type="checkpoint_unreadable", subject=subject, why=str(error))
                whole = False
                continue
            scan_from = max(scan_from, bucket.scan_from)
            saved.extend(bucket.matches)
            for match in bucket.matches:
                self._join(match.match_id, number)
        # Without one of the buckets its matches would be missing: then everything is folded from the start.
        return (scan_from, saved) if whole else (0, [])

    def touch(self, match_id: str, sequence: int) -> None:
        """An entry of the match is stored at `sequence`."""
        number = self._bucket_of.get(match_id)
        if number is None:
            number = self._bucket_with_room()
            self._join(match_id, number)
        self._dirty.setdefault(number, sequence - 1)

    @property
    def dirty(self) -> int:
        """How many buckets hold unsaved entries."""
        return len(self._dirty)

    async def write_oldest(self, settled: int, save: Callable[[str], Saved | None]) -> None:
        """Saves the bucket that has been dirty for longest.

        `save` gives a match with every entry up to sequence `settled` folded in, or None when it may be forgotten.
        """
        if not self._dirty:
            return
        number = next(iter(self._dirty))
        before = self._dirty.pop(number)
        scan_from = min(self._dirty.values(), default=settled)
        matches = []
        for match_id in tuple(self._members.get(number, ())):
            saved = save(match_id)
            if saved is not None:
                matches.append(saved)
            else:
                self._members[number].remove(match_id)
                del self._bucket_of[match_id]
        try:
            await self._append(number, Bucket(FORMAT, scan_from, tuple(matches)))
        except (Unknown, WrongLastSequence) as error:
            log.info("checkpoint not written", event_type="checkpoint_failed", shard=self._shard, why=str(error))
            self._dirty.pop(number, None)
            self._dirty = {number: before, **self._dirty}
            await self._relearn(number)

    async def _append(self, number: int, bucket: Bucket) -> None:
        data = msgspec.msgpack.encode(bucket)
        expected = self._expected.get(number, 0)
        subject = f"checkpoint.{self._shard}.{number}"
        # The id names the bytes: a message id is never used for other bytes.
        message_id = f"{subject}:{expected}:{hashlib.sha256(data).hexdigest()}"
        self._expected[number] = await self._store.append(subject, data, message_id, expected)

    async def _relearn(self, number: int) -> None:
        try:
            stored = await self._store.head(f"checkpoint.{self._shard}.{number}")
        except Unknown:
            return
        self._expected[number] = stored.sequence if stored else 0

    def _bucket_with_room(self) -> int:
        if len(self._members.get(self._open, ())) >= BUCKET_SIZE:
            half_empty = (n for n, members in self._members.items() if len(members) <= BUCKET_SIZE // 2)
            self._open = next(half_empty, max(self._members) + 1)
        return self._open

    def _join(self, match_id: str, number: int) -> None:
        self._members.setdefault(number, []).append(match_id)
        self._bucket_of[match_id] = number
