"""Batches: the frozen bytes that are appended, and the chain they form."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from majlis.engine.vocabulary.entry import Batch, ShardOpened
from majlis.engine.vocabulary.wire import decode_batch, encode_batch

from .store import Stored

SCHEMA: Final = 1
"""The newest entry schema this code writes and reads. Code with a lower one may not take a shard over."""
MAX_ENTRIES: Final = 4096
MAX_BYTES: Final = 512 * 1024
"""A batch stays well below the broker's payload limit of 1 MB; what does not fit goes into the next one."""


class JournalGap(Exception):
    """Batch numbers of a shard do not follow each other, or their hashes do not chain: the log is damaged."""


class Head(Struct, frozen=True):
    """Where a shard's log ends: its last message's sequence, batch number, hash and epoch."""

    sequence: int = 0
    number: int = 0
    hash: bytes = b""
    epoch: int = 0


class Frozen(Struct, frozen=True):
    """A batch as it is sent, however often: the same bytes under the same message id."""

    data: bytes
    message_id: str
    epoch: int
    number: int

    def at(self, sequence: int) -> Head:
        """The head once the batch is stored at `sequence`."""
        return Head(sequence, self.number, hashlib.sha256(self.data).digest(), self.epoch)


def freeze(
    shard: str, epoch: int, head: Head, entries: Sequence[bytes] = (), barrier: ShardOpened | None = None
) -> Frozen:
    """The batch that follows `head`."""
    number = head.number + 1
    batch = Batch(
        shard=shard,
        epoch=epoch,
        number=number,
        prev_hash=head.hash,
        shard_opened=barrier,
        entries=tuple(entries),
    )
    return Frozen(encode_batch(batch), f"{shard}:{epoch}:{number}", epoch, number)


def follow(head: Head | None, stored: Stored) -> tuple[Batch, Head]:
    """Reads the batch that comes after `head` (None: whatever comes first). Raises JournalGap or Unreadable."""
    batch = decode_batch(stored.data)
    if head is not None and (
        batch.number != head.number + 1 or batch.prev_hash != head.hash or batch.epoch < head.epoch
    ):
        raise JournalGap(
            f"shard {batch.shard}: batch {batch.number} of epoch {batch.epoch} at sequence {stored.sequence} does not "
            f"follow batch {head.number} of epoch {head.epoch} at sequence {head.sequence}"
        )
    return batch, Head(stored.sequence, batch.number, hashlib.sha256(stored.data).digest(), batch.epoch)
