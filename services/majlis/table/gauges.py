"""The gauges of the operations page: how many matches are played, and which of them stand still."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Final

from majlis.chassis import metrics

from .host import TableHost
from .shard_host import ShardHost

EVERY_S: Final = 1.0


async def keep_gauges(host: TableHost) -> None:
    """Sets them once a second, for as long as the process lives."""
    told: set[str] = set()
    while True:
        active, stalled = Counter[str](), Counter[str]()
        for shard_host in host.shards.values():
            games = Counter(
                live.stored.game
                for live in shard_host.matches.values()
                if live.stored and not live.stored.ended
            )
            active += games
            if _stalled(shard_host):
                stalled += games
        told |= set(active)
        for game in told:
            metrics.MATCHES_ACTIVE.labels(game).set(active[game])
            metrics.TABLES_STALLED.labels(game).set(stalled[game])
        metrics.SHARDS_OWNED.set(len(host.shards))
        metrics.SHARDS_STALLED.set(sum(map(_stalled, host.shards.values())))
        await asyncio.sleep(EVERY_S)


def _stalled(shard_host: ShardHost) -> bool:
    return shard_host.shard is not None and shard_host.shard.stalled
