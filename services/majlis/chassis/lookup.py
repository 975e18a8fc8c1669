"""Where a shard's owner is: the bucket of leases, watched."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
import nats.errors
import structlog
from nats.js.errors import Error as JetStreamError
from nats.js.kv import KV_DEL, KV_PURGE, KeyValue

from majlis.chassis.journal.lease import Owner
from majlis.engine.decider import Rejected
from majlis.engine.ids import shard_of
from majlis.engine.vocabulary.rejection import RejectionCode

log = structlog.get_logger(__name__)


class Lookup:
    """Keeps the owners of all shards at hand. Start with `run` as a task."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket
        self._owners: dict[str, Owner] = {}
        self._changed = asyncio.Event()

    def owner_of(self, match_id: str) -> Owner:
        """Who owns the match's shard. Raises Rejected(UNAVAILABLE) where nobody does at the moment."""
        owner = self._owners.get(match_key(shard_of(match_id)))
        if owner is None or owner.released:
            raise Rejected(
                RejectionCode.UNAVAILABLE,
                f"no table instance owns the shard of match {match_id} at the moment",
                "try again in a second; if it stays so, look at `majlis table shards`",
            )
        return owner

    def address_of(self, match_id: str) -> str:
        """The gRPC address of the match's table instance. Raises Rejected(UNAVAILABLE)."""
        return self.owner_of(match_id).address

    def owners(self) -> dict[str, Owner]:
        """Shard key -> owner, as last seen."""
        return dict(self._owners)

    async def changed(self) -> None:
        """Returns after the next change."""
        await self._changed.wait()

    async def run(self) -> None:
        """Watches for ever; a broken watch is begun anew."""
        while True:
            with contextlib.suppress(nats.errors.Error, JetStreamError, OSError, asyncio.TimeoutError):
                await self._watch()
            await asyncio.sleep(0.5)

    async def _watch(self) -> None:
        watcher = await self._bucket.watchall()
        try:
            async for entry in watcher:
                if entry is None:  # all present values have been seen
                    continue
                if entry.operation in (KV_DEL, KV_PURGE) or not entry.value:
                    self._owners.pop(entry.key, None)
                else:
                    self._owners[entry.key] = msgspec.json.decode(entry.value, type=Owner)
                self._changed.set()
                self._changed = asyncio.Event()
        finally:
            await watcher.stop()


def match_key(shard: str) -> str:
    """The bucket's key for a shard of matches."""
    return f"match.{shard}"
