"""Every store there is, each on a stream of its own, and what can be done to it: `tests/contracts` runs on all."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing

from msgspec import Struct
from nats.aio.client import Client
from nats.js.api import StreamConfig

from majlis.chassis import broker
from majlis.chassis.journal.memory_store import Fault, MemoryStore
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.journal.store import Store, Stored
from tests.support.proxy import Proxy, broker_proxy

WINDOW_S = 0.1
"""The duplicate window of the streams here: as short as the broker allows."""
numbers = itertools.count()


class Rig(Struct):
    """A store on a stream of its own, and what can be done to it."""

    store: Store
    subject: str
    proxy: Proxy | None = None

    @property
    def memory(self) -> MemoryStore:
        assert isinstance(self.store, MemoryStore)
        return self.store

    async def fail_next(self, fault: Fault) -> None:
        """The next append suffers `fault`."""
        if self.proxy is not None:
            await self.store.head(self.subject)  # connected: what passes next is the append
            self.proxy.next_fault = fault
            return
        faults = iter([fault])
        self.memory.fault = lambda subject, data: next(faults, None)

    async def deliver_late(self) -> None:
        if self.proxy is not None:
            await self.proxy.deliver_late()
        else:
            self.memory.deliver_late()

    async def let_the_duplicate_window_pass(self) -> None:
        if self.proxy is not None:
            await asyncio.sleep(3 * WINDOW_S)
        else:
            self.memory.forget_message_ids()

    def be_unreachable(self, yes: bool) -> None:
        if self.proxy is None:
            self.memory.reachable = not yes
        elif yes:
            self.proxy.cut()
        else:
            self.proxy.reachable = True


@contextlib.asynccontextmanager
async def nats_rig(port: int, replicas: int) -> AsyncIterator[Rig]:
    name = f"CONTRACT{next(numbers)}"
    async with broker_proxy(port) as proxy:
        client = await broker.connect([f"nats://127.0.0.1:{port}"], "contract")
        await client.jetstream().add_stream(
            StreamConfig(
                name,
                subjects=[f"{name}.>"],
                num_replicas=replicas,
                duplicate_window=WINDOW_S,
                allow_direct=True,
            )
        )

        async def connect() -> Client:
            return await broker.connect([proxy.url], "contract-journal", reconnect=False)

        store = NatsStore(name, connect)
        try:
            yield Rig(store, f"{name}.one", proxy)
        finally:
            await store.close()
            await client.jetstream().delete_stream(name)
            await client.close()


async def append(rig: Rig, data: bytes, expected: int, *, to: str = "") -> int:
    """Under an id that names the bytes, as the journal does."""
    return await rig.store.append(to or rig.subject, data, f"{to}{data[:40]!r}:{expected}", expected)


async def read(rig: Rig, after: int = 0, upto: int | None = None) -> list[Stored]:
    if upto is None:
        head = await rig.store.head(rig.subject)
        upto = head.sequence if head else 0
    async with aclosing(rig.store.scan(rig.subject, after, upto)) as messages:
        return [message async for message in messages]


async def interleave(rig: Rig, *, subjects: int, each: int) -> dict[str, list[int]]:
    """Fills several subjects at once; subject -> its sequences. The first subject is the rig's own."""
    names = [rig.subject, *(f"{rig.subject}.{number}" for number in range(1, subjects))]

    async def fill(subject: str) -> list[int]:
        sequences = [0]
        for number in range(each):
            sequences.append(
                await append(rig, b"%s %d" % (subject.encode(), number), sequences[-1], to=subject)
            )
        return sequences[1:]

    return dict(zip(names, await asyncio.gather(*(fill(name) for name in names)), strict=True))
