"""Claims: who may open a shard. A claim is a compare-and-set on a key-value bucket; safety never rests on it.

The epoch of an owner is the revision of its claim; renewals keep it. The broker forgets a claim that has not been
renewed for 15 s; a claim whose owner is known to be gone may be replaced at once (`seize`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import msgspec
import nats.errors
import structlog
from msgspec import Struct
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from majlis.chassis.clock import Clock

RENEW_EVERY_S: Final = 4.0
RETRY_EVERY_S: Final = 1.0
"""After a renewal that was not answered: a broker election leaves time for a few of them only."""
_ANSWER_S: Final = 2.0

log = structlog.get_logger(__name__)


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
    """One shard's claim, held by this process until lost or released. For opening the shard once."""

    def __init__(self, bucket: KeyValue, key: str, owner: Owner, epoch: int, previous_alive_ms: int) -> None:
        self.key = key
        self.epoch = epoch
        self.previous_alive_ms = previous_alive_ms
        self._bucket = bucket
        self._owner = owner
        self._revision = epoch

    async def renew(self, clock: Clock) -> None:
        """Keeps the claim for another lease. Raises Taken where it is lost, or a broker error (`nats.errors.Error`)."""
        await self._write(released=False, clock=clock)

    async def release(self, clock: Clock) -> None:
        """Gives the claim up, so that another instance need not wait; a failure is only a longer wait."""
        try:
            await self._write(released=True, clock=clock)
        except (Taken, nats.errors.Error) as error:
            log.info("claim not released", event_type="release_failed", key=self.key, why=repr(error))

    async def _write(self, released: bool, clock: Clock) -> None:
        value = msgspec.json.encode(
            msgspec.structs.replace(
                self._owner, epoch=self.epoch, renewed_ms=clock.now_ms(), released=released
            )
        )
        try:
            self._revision = await _update(self._bucket, self.key, value, self._revision)
        except Taken:
            # An earlier renewal whose answer was lost looks the same: the value tells.
            found = await read_owner(self._bucket, self.key)
            if found is None or (found[0].instance, found[0].epoch) != (self._owner.instance, self.epoch):
                raise
            self._revision = await _update(self._bucket, self.key, value, found[1])


async def read_owner(bucket: KeyValue, key: str) -> tuple[Owner, int] | None:
    """Who holds the key, with the revision that says so; None where nobody does. Raises `nats.errors.Error`."""
    try:
        async with _in_time():
            entry = await bucket.get(key)
    except KeyNotFoundError:
        return None
    if entry.value is None or entry.revision is None:
        return None
    return msgspec.json.decode(entry.value, type=Owner), entry.revision


async def claim(bucket: KeyValue, key: str, instance: str, address: str, clock: Clock) -> Claim:
    """Claims a key that nobody holds. Raises Taken or `nats.errors.Error`.

    After such an error the key may stand in this instance's name already: then it is claimed anew.
    """
    found = await read_owner(bucket, key)
    if found is not None and not found[0].released and found[0].instance != instance:
        raise Taken(f"{key} is held by {found[0].instance}")
    return await _take(bucket, key, instance, address, clock, found)


async def seize(bucket: KeyValue, key: str, instance: str, address: str, clock: Clock, gone: Owner) -> Claim:
    """Claims a key from an owner known to be gone. Raises Taken where it is not that owner's any more, as `claim`."""
    found = await read_owner(bucket, key)
    if found is not None and (found[0].instance, found[0].epoch) != (gone.instance, gone.epoch):
        raise Taken(f"{key} is held by {found[0].instance}")
    return await _take(bucket, key, instance, address, clock, found)


async def _take(
    bucket: KeyValue, key: str, instance: str, address: str, clock: Clock, found: tuple[Owner, int] | None
) -> Claim:
    owner = Owner(instance=instance, address=address, renewed_ms=clock.now_ms())
    epoch = await _update(bucket, key, msgspec.json.encode(owner), found[1] if found else 0)
    # Its own lost claim does not say when the former owner was alive.
    known = found is not None and found[0].instance != instance
    return Claim(bucket, key, owner, epoch, found[0].renewed_ms if found and known else 0)


async def _update(bucket: KeyValue, key: str, value: bytes, last: int) -> int:
    try:
        async with _in_time():
            return await bucket.update(key, value, last=last)
    except KeyWrongLastSequenceError as error:
        raise Taken(key) from error


@contextlib.asynccontextmanager
async def _in_time() -> AsyncGenerator[None, None]:
    try:
        async with asyncio.timeout(_ANSWER_S):
            yield
    except TimeoutError as error:
        raise nats.errors.TimeoutError from error
