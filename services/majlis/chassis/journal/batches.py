"""Batches: the frozen bytes that are appended, and the chain they form."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgspec import Struct

from majlis.engine.vocabulary.entry import Batch, ShardOpened
from majlis.engine.vocabulary.wire import decode_batch, encode_batch

from .store import Stored

MAX_ENTRIES = 4096
MAX_BYTES = 512 * 1024
"""A batch stays well below the broker's payload limit of 1 MB; what does not fit goes into the next one."""


class JournalGap(Exception):
    """Batch numbers of a shard do not follow each other, or their hashes do not chain: the log is damaged."""


class Head(Struct, frozen=True):
    """Where a shard's log ends: its last message's sequence, batch number and hash."""

    sequence: int = 0
    number: int = 0
    hash: bytes = b""


class Frozen(Struct, frozen=True):
    """A batch as it is sent, however often: the same bytes under the same message id."""

    number: int
    data: bytes
    hash: bytes
    message_id: str


def freeze(
    shard: str, epoch: int, head: Head, entries: Sequence[bytes] = (), barrier: ShardOpened | None = None
) -> Frozen:
    """The batch that follows `head`."""
    number = head.number + 1
    batch = Batch(
        shard=shard, epoch=epoch, number=number, prev_hash=head.hash, shard_opened=barrier, entries=tuple(entries)
    )
    data = encode_batch(batch)
    return Frozen(number, data, hashlib.sha256(data).digest(), f"{shard}:{epoch}:{number}")


def follow(head: Head | None, stored: Stored) -> tuple[Batch, Head]:
    """Reads the batch that comes after `head` (None: whatever comes first). Raises JournalGap."""
    batch = decode_batch(stored.data)
    if head is not None and (batch.number != head.number + 1 or batch.prev_hash != head.hash):
        raise JournalGap(
            f"shard {batch.shard}: batch {batch.number} at sequence {stored.sequence} does not follow "
            f"batch {head.number} at sequence {head.sequence}"
        )
    return batch, Head(stored.sequence, batch.number, hashlib.sha256(stored.data).digest())
