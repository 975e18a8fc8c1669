"""A TCP proxy before a nats-server that loses or delays exactly one message of one client.

    async with broker_proxy(server.port) as proxy: ...     # connect to proxy.url, then proxy.next_fault = Fault...

What happens is what the fault's name says, then the client's connection is cut.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from majlis.chassis.journal.memory_store import Fault


class Proxy:
    """Forwards bytes; `next_fault` befalls the next published message that passes."""

    def __init__(self, port: int) -> None:
        self.next_fault: Fault | None = None
        self.reachable = True
        self.url = ""
        self._port = port
        self._pipes: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._muted: set[asyncio.StreamWriter] = set()
        self._deaf: set[asyncio.StreamWriter] = set()
        self._late: list[tuple[asyncio.StreamWriter, bytes]] = []

    def cut(self) -> None:
        """Every connection breaks, and no new one is let through until `reachable` is set again."""
        self.reachable = False
        for writer in self._writers:
            writer.close()

    def mute(self) -> None:
        """The connections there are stay open, and nothing passes through them any more."""
        self._muted |= self._writers

    async def deliver_late(self) -> None:
        """What was held back reaches the server now."""
        late, self._late = self._late, []
        for writer, data in late:
            writer.write(data)
            await writer.drain()

    async def close(self) -> None:
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)
        for writer in self._writers:
            writer.close()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.reachable:
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, far_writer}
        for pipe in (self._up(reader, far_writer, writer), self._down(far_reader, writer)):
            task = asyncio.create_task(pipe)
            self._pipes.add(task)
            task.add_done_callback(self._pipes.discard)

    async def _up(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, client: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                fault = None
                if b"HPUB " in data:
                    fault, self.next_fault = self.next_fault, None
                if fault is Fault.LOSE_ACKNOWLEDGEMENT:
                    self._deaf.add(client)
                elif fault is not None:
                    if fault is Fault.WRITE_LATE:
                        self._late.append((server, data))
                    client.close()
                    return
                if server in self._muted:
                    continue
                server.write(data)
                await server.drain()
        server.close()

    async def _down(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if b"MSG " in data and client in self._deaf:
                    break
                client.write(data)
                await client.drain()
        client.close()


@contextlib.asynccontextmanager
async def broker_proxy(port: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(port)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.url = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
