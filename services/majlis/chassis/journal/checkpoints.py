"""Checkpoints: a cache of folded state, in buckets, so that recovery reads a bounded tail of the log.

Every message holds one bucket of matches and says from where on the log must still be scanned, given that this
bucket and all that its owner counts on are stored. Recovery believes the newest owner alone.

A former owner that has not noticed yet may still write, at any time. What it writes is true but may be old: a match
that has ended and been forgotten since would come back as it once was. So
* no bucket is written over one of a later owner;
* a new owner writes every bucket it has found once, before those it adds itself, and puts only new matches into the
  latter: when it lets go of a match, no former owner can write the match's bucket any more;
* buckets that a former owner adds meanwhile are told by their number, and do not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, Protocol

import msgspec
import structlog
from msgspec import Struct

from .batches import SCHEMA
from .store import Store, Stored, TooLarge, Unknown, WrongLastSequence

BUCKET_SIZE: Final = 32
FORMAT: Final = 1
_NOTHING_UNSAVED: Final = 2**63
"""In place of a sequence, for a bucket that is written only to take it over."""

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
    schema: int
    """The entry schema of its writer: code with a lower one must find the barrier in the log instead."""
    epoch: int
    """Its writer's."""
    own_from: int
    """The lowest bucket number that its writer added: from there on, only its writer's buckets count."""
    scan_from: int
    """The log's sequence after which entries may be missing in the checkpoints as a whole."""
    matches: tuple[Saved, ...]


class Owning(Protocol):
    """What a checkpoint's writer must be: the owner of the shard."""

    @property
    def epoch(self) -> int: ...

    @property
    def settled(self) -> int:
        """Everything up to this sequence is stored."""


class Checkpoints:
    """The checkpoints of one shard, as its owner keeps them. One call at a time."""

    def __init__(self, store: Store, shard: str, bucket_size: int = BUCKET_SIZE) -> None:
        self._store = store
        self._shard = shard
        self._bucket_size = bucket_size
        self._members: dict[int, list[str]] = {}
        self._bucket_of: dict[str, int] = {}
        self._dirty: dict[int, int] = {}  # bucket -> sequence before its first unsaved entry; oldest first
        self._expected: dict[int, int] = {}  # bucket -> sequence of its last message
        self._own_from = 0
        self._open = 0
        self._superseded = False

    async def load(self) -> tuple[int, list[Saved]]:
        """The sequence after which to scan, and what is saved. For a fresh object only. Raises Unknown."""
        found: dict[int, Bucket] = {}
        for subject, stored in await self._store.last_each(f"checkpoint.{self._shard}.>"):
            number = int(subject.rsplit(".", 1)[-1])
            self._expected[number] = stored.sequence
            bucket = _read(subject, stored)
            if bucket is not None:
                found[number] = bucket
        if len(found) < len(self._expected) or not found:
            # Without one bucket its matches would be missing: everything is folded from the start, and saved anew.
            self._dirty = dict.fromkeys(sorted(self._expected), _NOTHING_UNSAVED)
            return 0, []
        newest = max(found.values(), key=lambda bucket: bucket.epoch)
        counting = {
            number: bucket for number, bucket in sorted(found.items()) if _counts(number, bucket, newest)
        }
        self._own_from = self._open = max(counting) + 1
        self._dirty = dict.fromkeys(counting, _NOTHING_UNSAVED)
        saved: dict[str, Saved] = {}
        for number, bucket in counting.items():
            for match in bucket.matches:
                saved[match.match_id] = match
                self._bucket_of[match.match_id] = number
        for match_id, number in self._bucket_of.items():
            self._members.setdefault(number, []).append(match_id)
        scan_from = max(bucket.scan_from for bucket in counting.values() if bucket.epoch == newest.epoch)
        return scan_from, list(saved.values())

    def touch(self, match_id: str, sequence: int) -> None:
        """An entry of the match is stored at `sequence`."""
        number = self._bucket_of.get(match_id)
        if number is None:
            number = self._bucket_of[match_id] = self._bucket_with_room()
            self._members.setdefault(number, []).append(match_id)
        self._dirty[number] = min(self._dirty.get(number, sequence - 1), sequence - 1)

    @property
    def dirty(self) -> int:
        """How many buckets there are to write."""
        return 0 if self._superseded else len(self._dirty)

    async def write_oldest(self, owner: Owning, save: Callable[[str], Saved | None]) -> None:
        """Saves the bucket that has been dirty for longest.

        `save` gives a match with every entry up to `owner.settled` folded in, or None when it may be forgotten.
        """
        if not self.dirty:
            return
        number = next(iter(self._dirty))
        before = self._dirty.pop(number)
        bucket = Bucket(
            format=FORMAT,
            schema=SCHEMA,
            epoch=owner.epoch,
            own_from=self._own_from,
            scan_from=min(owner.settled, *self._dirty.values()) if self._dirty else owner.settled,
            matches=self._save_members(number, save),
        )
        written = False
        try:
            await self._append(number, bucket)
            written = True
        except (Unknown, WrongLastSequence, TooLarge) as error:
            log.info(
                "checkpoint not written", event_type="checkpoint_failed", shard=self._shard, why=str(error)
            )
            await self._relearn(number, owner.epoch)
        finally:
            if not written:
                self._dirty = {number: min(before, self._dirty.pop(number, before)), **self._dirty}

    def _save_members(self, number: int, save: Callable[[str], Saved | None]) -> tuple[Saved, ...]:
        kept = []
        for match_id in self._members.pop(number, ()):
            saved = save(match_id)
            if saved is not None:
                kept.append(saved)
            else:
                del self._bucket_of[match_id]
        self._members[number] = [saved.match_id for saved in kept]
        return tuple(kept)

    async def _append(self, number: int, bucket: Bucket) -> None:
        data = msgspec.msgpack.encode(bucket)
        expected = self._expected.get(number, 0)
        subject = f"checkpoint.{self._shard}.{number}"
        # The id names the bytes: a message id is never used for other bytes.
        message_id = f"{subject}:{expected}:{hashlib.sha256(data).hexdigest()}"
        self._expected[number] = await self._store.append(subject, data, message_id, expected)

    async def _relearn(self, number: int, epoch: int) -> None:
        """Looks what stands in the bucket now: if a later owner has written, this one never writes again."""
        subject = f"checkpoint.{self._shard}.{number}"
        try:
            stored = await self._store.head(subject)
        except Unknown:
            return
        if stored is not None and stored.sequence != self._expected.get(number, 0):
            bucket = _read(subject, stored)
            self._superseded = bucket is None or bucket.epoch > epoch
        self._expected[number] = stored.sequence if stored else 0

    def _bucket_with_room(self) -> int:
        if len(self._members.get(self._open, ())) >= self._bucket_size:
            half_empty = (n for n, members in self._members.items() if len(members) <= self._bucket_size // 2)
            self._open = next(half_empty, max(self._members) + 1)
        return self._open


def _counts(number: int, bucket: Bucket, newest: Bucket) -> bool:
    """Whether the newest owner counts on the bucket: it is its own, or it has found it."""
    return bucket.epoch == newest.epoch or number < newest.own_from


def _read(subject: str, stored: Stored) -> Bucket | None:
    try:
        bucket = msgspec.msgpack.decode(stored.data, type=Bucket)
        if bucket.format == FORMAT and bucket.schema <= SCHEMA:
            return bucket
        why = f"format {bucket.format}, schema {bucket.schema}"
    except msgspec.DecodeError as error:
        why = str(error)
    log.warning("checkpoint unreadable", event_type="checkpoint_unreadable", subject=subject, why=why)
    return None
