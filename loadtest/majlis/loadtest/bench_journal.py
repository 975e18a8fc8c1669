"""`bench journal`: group-committed appends of real Sounding entries to a real broker that fsyncs each batch."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, Final

import uvloop
from msgspec import Struct
from nats.aio.client import Client

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.journal.recovery import open_shard
from majlis.chassis.journal.shard import Shard
from majlis.engine.registry import GAMES
from majlis.engine.vocabulary.entry import Batch
from majlis.loadtest.bench_engine import history
from majlis.loadtest.measure import Latencies, machine
from majlis.loadtest.private_brokers import private_brokers

_CASES: Final = ((8, 1), (1, 1), (64, 1), (8, 3))
"""Shards, nodes; the first is the case whose figures stand at the top."""
_OUTSTANDING: Final = 4096
"""Entries that wait for their answer in the closed loop, over all shards."""
_BARE_IN_FLIGHT: Final = 256
_TICK_S: Final = 0.001
_BEAT_S: Final = 0.1
_WARM_UP_S: Final = 0.5
_SMALLEST: Final = 140
_clock: Final = SystemClock()


def journal(*, rate: float = 5000.0, seconds: float = 3.0, rng_seed: int = 1) -> dict[str, Any]:
    """What the log takes, and how long an entry waits until it is stored.

    entries_per_s: a closed loop of 4,096 entries that are appended anew as soon as they are stored. p50_ms, p99_ms:
    an open loop, `rate` entries a second at random instants (Poisson), counted from the instant at which each was
    due. batch_mean: entries to an append then. bare_publish_per_s: the same entries as one message each, 256 in
    flight. Everything for 8 shards on one server, which stands at the top, and for 1 and 64 shards and three servers
    on this machine; `seconds` each.
    """
    entries = _entries(rng_seed)
    cases = uvloop.run(_measure(entries, rate, seconds, rng_seed))
    return {
        **cases[0],
        "cases": cases,
        "rate": rate,
        "entry_bytes": round(sum(map(len, entries)) / len(entries)),
        "machine": machine(),
    }


def _entries(rng_seed: int) -> list[bytes]:
    """The entries of some matches of Sounding as they are stored, the short ones left out."""
    rng = random.Random(rng_seed)
    steps = itertools.chain.from_iterable(history(GAMES["sounding"].game, rng, number) for number in range(5))
    return [step.stored for step in steps if len(step.stored) >= _SMALLEST]


async def _measure(entries: list[bytes], rate: float, seconds: float, rng_seed: int) -> list[dict[str, Any]]:
    told = []
    for nodes, cases in itertools.groupby(sorted(_CASES, key=lambda case: case[1]), key=lambda case: case[1]):
        async with private_brokers(nodes) as urls:
            for shards, _ in cases:
                async with _opened(urls, shards) as load:
                    await load.open(entries, rate, _WARM_UP_S, rng_seed)
                    figures = {
                        "shards": shards,
                        "nodes": nodes,
                        **await load.open(entries, rate, seconds, rng_seed),
                        "entries_per_s": await load.closed(entries, seconds),
                        "bare_publish_per_s": await _bare(urls, entries, seconds / 2),
                    }
                told.append(figures)
    return told


class _Nobody(Struct):
    """A claim and a folder where there is nothing to recover."""

    epoch: int = 1
    previous_alive_ms: int = 0

    async def begin(self) -> int:
        return 0

    def fold(self, sequence: int, batch: Batch) -> None:
        return


_names: Final = (f"b{number}" for number in itertools.count())


@contextlib.asynccontextmanager
async def _opened(urls: list[str], shards: int) -> AsyncIterator[_Load]:
    """Fresh shards that run, and drain at the end."""

    async def connect() -> Client:
        return await broker.connect(urls, "table-bench-journal", reconnect=False)

    store = NatsStore(broker.JOURNAL, connect, len(urls))
    opened = [
        await open_shard(store, f"journal.match.{name}", name, _Nobody(), "bench", _Nobody(), _clock)
        for name in itertools.islice(_names, shards)
    ]
    tasks = [asyncio.create_task(shard.run()) for shard in opened]
    beating = asyncio.create_task(_beat(opened))
    try:
        yield _Load(opened)
    finally:
        for shard in opened:
            shard.close()
        await asyncio.gather(*tasks)
        beating.cancel()
        await store.close()


async def _beat(shards: list[Shard]) -> None:
    while True:
        for shard in shards:
            shard.beat()
        await asyncio.sleep(_BEAT_S)


class _Load:
    """Appends to all shards in turn."""

    def __init__(self, shards: list[Shard]) -> None:
        self._shards = shards

    def _appends(self, entries: list[bytes]) -> Iterator[tuple[Callable[..., None], bytes]]:
        return zip(itertools.cycle([shard.append for shard in self._shards]), itertools.cycle(entries))

    async def closed(self, entries: list[bytes], seconds: float) -> float:
        """Entries stored a second when each that is stored makes room for the next."""
        stored, playing = 0, True
        appends = self._appends(entries)

        def append_one(ok: bool) -> None:
            nonlocal stored
            assert ok
            stored += 1
            if playing:
                append, entry = next(appends)
                append(entry, append_one)

        began = time.perf_counter()
        stored = -_OUTSTANDING
        for _ in range(_OUTSTANDING):
            append_one(True)
        await asyncio.sleep(seconds)
        playing = False
        return round(stored / (time.perf_counter() - began))

    async def open(
        self, entries: list[bytes], rate: float, seconds: float, rng_seed: int
    ) -> dict[str, float | None]:
        """How long an entry waits when `rate` of them come in a second, whatever the log does."""
        rng, latencies, appends = random.Random(rng_seed), Latencies(), self._appends(entries)

        def told(due: float, ok: bool) -> None:
            assert ok
            latencies.add(time.perf_counter() - due)

        before = [(shard.entries, shard.batches) for shard in self._shards]
        due = time.perf_counter()
        end = due + seconds
        while due < end:
            now = time.perf_counter()
            while due <= now:
                append, entry = next(appends)
                append(entry, partial(told, due))
                due += rng.expovariate(rate)
            await asyncio.sleep(_TICK_S)
        while not all(shard.idle for shard in self._shards):
            await asyncio.sleep(_TICK_S)
        number = sum(shard.entries for shard in self._shards) - sum(entries for entries, _ in before)
        batches = sum(shard.batches for shard in self._shards) - sum(batches for _, batches in before)
        return {
            "p50_ms": latencies.percentile_ms(50),
            "p99_ms": latencies.percentile_ms(99),
            "batch_mean": round(number / batches, 1),
        }


async def _bare(urls: list[str], entries: list[bytes], seconds: float) -> float:
    """Messages acknowledged a second when every entry is one."""
    client = await broker.connect(urls, "table-bench-bare")
    js = client.jetstream()
    end = time.perf_counter() + seconds

    async def publish(own: int) -> int:
        count = 0
        while time.perf_counter() < end:
            await js.publish(f"journal.match.bare-{own}", entries[count % len(entries)])
            count += 1
        return count

    acknowledged = sum(await asyncio.gather(*(publish(own) for own in range(_BARE_IN_FLIGHT))))
    await client.close()
    return round(acknowledged / seconds)
