"""Where a shard's owner is: the bucket of leases, watched."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

import msgspec
import nats.errors
import structlog
from nats.js.kv import KV_DEL, KV_PURGE, KeyValue

from majlis.chassis.broker import LEASE_TTL_S
from majlis.chassis.journal.lease import Owner
from majlis.engine.decider import Rejected
from majlis.engine.ids import shard_of
from majlis.engine.vocabulary.rejection import RejectionCode

_PAUSE_S: Final = 0.5

log = structlog.get_logger(__name__)


class Lookup:
    """Keeps the owners of all shards at hand. Start with `run` as a task."""

    def __init__(self, bucket: KeyValue, lease_s: float = LEASE_TTL_S) -> None:
        self._bucket = bucket
        self._lease_s = lease_s
        self._owners: dict[str, tuple[Owner, float]] = {}  # shard key -> owner, when it was last heard of
        self._changed = asyncio.Event()

    def owner_of(self, match_id: str) -> Owner:
        """Who owns the match's shard. Raises Rejected(UNAVAILABLE) where nobody does at the moment."""
        key = match_key(shard_of(match_id))
        if not self._is_owned(key):
            raise Rejected(
                RejectionCode.UNAVAILABLE,
                f"no table instance owns the shard of match {match_id} at the moment",
                "try again in a second; if it stays so, look at `majlis table shards`",
            )
        return self._owners[key][0]

    def address_of(self, match_id: str) -> str:
        """The gRPC address of the match's table instance. Raises Rejected(UNAVAILABLE)."""
        return self.owner_of(match_id).address

    def owners(self) -> dict[str, Owner]:
        """Shard key -> owner, as last seen: neither released nor silent for a whole lease."""
        return {key: owner for key, (owner, _) in self._owners.items() if self._is_owned(key)}

    def _is_owned(self, key: str) -> bool:
        owner, at = self._owners.get(key, (None, 0.0))
        # The broker forgets an expired lease without telling.
        return owner is not None and not owner.released and time.monotonic() - at < self._lease_s

    async def changed(self) -> None:
        """Returns after the next change."""
        await self._changed.wait()

    async def run(self) -> None:
        """Watches for ever; a broken watch is begun anew."""
        while True:
            with contextlib.suppress(nats.errors.Error, OSError, TimeoutError):
                await self._watch()
            await asyncio.sleep(_PAUSE_S)

    async def _watch(self) -> None:
        watcher = await self._bucket.watchall(inactive_threshold=self._lease_s)
        try:
            while True:
                # Owners renew more often than that: a silent watch has died, say with the server that held it.
                entry = await watcher.updates(timeout=self._lease_s / 3)  # type: ignore[no-untyped-call]
                if entry is not None:  # None: all present values have been given
                    self._see(entry)
        finally:
            await watcher.stop()  # type: ignore[no-untyped-call]

    def _see(self, entry: KeyValue.Entry) -> None:
        if entry.operation in (KV_DEL, KV_PURGE) or not entry.value:
            self._owners.pop(entry.key, None)
        else:
            try:
                owner = msgspec.json.decode(entry.value, type=Owner)
            except msgspec.DecodeError as error:
                log.warning("lease unreadable", event_type="lease_unreadable", key=entry.key, why=str(error))
                return
            known = self._owners.get(entry.key)
            # A watch begun anew tells nothing new of an owner that has died.
            if known is None or known[0] != owner:
                self._owners[entry.key] = (owner, time.monotonic())
        self._changed.set()
        self._changed = asyncio.Event()


def match_key(shard: str) -> str:
    """The bucket's key for a shard of matches."""
    return f"match.{shard}"
