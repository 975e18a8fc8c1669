"""Claims: who may open a shard. A claim is a compare-and-set on a key-value bucket; safety never rests on it.

The epoch of an owner is the revision of its claim; renewals keep it. The broker forgets a claim that has not been
renewed for 15 s; a claim whose owner is known to be gone may be replaced at once (`seize`).
"""

from __future__ import annotations

from typing import Final

import msgspec
import nats.errors
from msgspec import Struct
from nats.js.errors import Error as JetStreamError
from nats.js.errors import KeyDeletedError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from majlis.chassis.clock import Clock

RENEW_EVERY_S: Final = 4.0


class Owner(Struct, frozen=True, kw_only=True):
    """What stands in the bucket under a shard's key."""

    instance: str
    address: str
    """Where its callers reach the owner (gRPC)."""
    renewed_ms: int
    epoch: int = 0
    """0 in the claim itself, whose revision is the epoch; renewals repeat it."""
    released: bool = False
    """Given up on purpose: anybody may claim at once."""


class Taken(Exception):
    """Somebody else holds, or has just taken, the claim."""


class Claim:
    """One shard's claim, held by this process until lost or released."""

    def __init__(self, bucket: KeyValue, key: str, owner: Owner, epoch: int, previous_alive_ms: int) -> None:
        self.key = key
        self.epoch = epoch
        self.previous_alive_ms = previous_alive_ms
        self._bucket = bucket
        self._owner = owner
        self._revision = epoch

    async def renew(self, clock: Clock) -> None:
        """Keeps the claim for another lease. Raises Taken where somebody else has it, or a broker error."""
        await self._write(released=False, now_ms=clock.now_ms())

    async def release(self, clock: Clock) -> None:
        """Gives the claim up, so that another instance need not wait; a failure is only a longer wait."""
        try:
            await self._write(released=True, now_ms=clock.now_ms())
        except (Taken, nats.errors.Error, JetStreamError):
            return

    async def _write(self, released: bool, now_ms: int) -> None:
        value = msgspec.structs.replace(self._owner, epoch=self.epoch, renewed_ms=now_ms, released=released)
        try:
            self._revision = await self._bucket.update(
                self.key, msgspec.json.encode(value), last=self._revision
            )
        except KeyWrongLastSequenceError as error:
            # An earlier renewal whose answer was lost looks the same: the value tells.
            found = await read_owner(self._bucket, self.key)
            if found is None or found[0].instance != self._owner.instance or found[0].epoch != self.epoch:
                raise Taken(self.key) from error
            self._revision = found[1]


async def read_owner(bucket: KeyValue, key: str) -> tuple[Owner, int] | None:
    """Who holds the key, with the revision that says so; None where nobody does."""
    try:
        entry = await bucket.get(key)
    except (KeyNotFoundError, KeyDeletedError):
        return None
    if entry.value is None or entry.revision is None:
        return None
    return msgspec.json.decode(entry.value, type=Owner), entry.revision


async def claim(bucket: KeyValue, key: str, instance: str, address: str, clock: Clock) -> Claim:
    """Claims a key that nobody holds. Raises Taken."""
    found = await read_owner(bucket, key)
    if found is not None and not found[0].released:
        raise Taken(f"{key} is held by {found[0].instance}")
    return await _take(bucket, key, instance, address, clock, found)


async def seize(bucket: KeyValue, key: str, instance: str, address: str, clock: Clock, gone: Owner) -> Claim:
    """Claims a key from an owner known to be gone. Raises Taken where it is not that owner's any more."""
    found = await read_owner(bucket, key)
    if found is not None and (found[0].instance, found[0].epoch) != (gone.instance, gone.epoch):
        raise Taken(f"{key} is held by {found[0].instance}")
    return await _take(bucket, key, instance, address, clock, found)


async def _take(
    bucket: KeyValue, key: str, instance: str, address: str, clock: Clock, found: tuple[Owner, int] | None
) -> Claim:
    owner = Owner(instance=instance, address=address, renewed_ms=clock.now_ms())
    value = msgspec.json.encode(owner)
    try:
        if found is None:
            revision = await bucket.create(key, value)
        else:
            revision = await bucket.update(key, value, last=found[1])
    except KeyWrongLastSequenceError as error:
        raise Taken(key) from error
    return Claim(bucket, key, owner, revision, found[0].renewed_ms if found else 0)
