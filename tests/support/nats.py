"""Real private nats-servers on loopback, with JetStream in a directory of the test.

    async with single_server(tmp_path) as server: ...      # server.url
    async with cluster(tmp_path) as nodes: ...             # nodes.urls, nodes[0].kill()

Everything is acknowledged after an fsync (`sync_interval: always`), as in production.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import free_ports

BINARY = Path(sys.executable).with_name("nats-server")
READY_S = 20.0
POLL_S = 0.02


@dataclass
class Server:
    """One nats-server process; its ports and its data survive `kill` and `start`."""

    name: str
    config: Path
    port: int
    monitor_port: int
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """What the server wrote; the first place to look when a test fails."""
        return self.config.with_suffix(".log")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def start(self) -> None:
        """Starts the process and returns when it can be connected to; use `ready` to wait for JetStream."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                BINARY, "-c", self.config, stdout=log, stderr=log, stdin=asyncio.subprocess.DEVNULL
            )
        await self._until(self._accepts, "accepts no connection")

    async def ready(self) -> None:
        """Waits until JetStream serves (in a cluster: until a meta leader is elected and this node is current)."""
        await self._until(self._healthy, "is not healthy")

    async def kill(self) -> None:
        """kill -9: what a crash or a lost machine looks like."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """An orderly stop."""
        await self._end(signal.SIGTERM)

    async def restart(self) -> None:
        """kill -9 and start again on the same data and ports."""
        await self.kill()
        await self.start()
        await self.ready()

    def freeze(self) -> None:
        """Stops the process where it stands (SIGSTOP): connections stay open and nothing answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    async def monitor(self, path: str) -> tuple[int, dict[str, object]]:
        """Status and body of a monitoring endpoint, such as `/jsz?meta=1`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.monitor_port)
        try:
            writer.write(f"GET {path} HTTP/1.0\r\nHost: nats\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        return int(head.split()[1]), json.loads(body)

    async def _end(self, how: signal.Signals) -> None:
        if not self.running:
            return
        assert self.process is not None
        self.process.send_signal(how)
        if how is not signal.SIGKILL:
            self.process.send_signal(signal.SIGCONT)  # a frozen server hears SIGTERM only then
        await self.process.wait()

    async def _accepts(self) -> bool:
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.close()
        return True

    async def _healthy(self) -> bool:
        status, _ = await self.monitor("/healthz")
        return status == 200

    async def _until(self, check: Callable[[], Awaitable[bool]], complaint: str) -> None:
        deadline = time.monotonic() + READY_S
        while True:
            with contextlib.suppress(OSError, ValueError, IndexError):
                if await check():
                    return
            if not self.running or time.monotonic() > deadline:
                await self.kill()
                raise RuntimeError(f"{self.name} {complaint}:\n{self.log.read_text()[-4000:]}")
            await asyncio.sleep(POLL_S)


@dataclass
class Cluster:
    """Nodes of one JetStream cluster."""

    nodes: list[Server]

    @property
    def urls(self) -> list[str]:
        return [node.url for node in self.nodes]

    def __getitem__(self, number: int) -> Server:
        return self.nodes[number]

    def __iter__(self) -> Iterator[Server]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def named(self, name: str) -> Server:
        """The node of that name, e.g. the leader that a stream's information gives."""
        return next(node for node in self.nodes if node.name == name)

    async def meta_leader(self) -> str:
        """The name of the meta leader, empty while there is none."""
        for node in self.nodes:
            if node.running:
                with contextlib.suppress(OSError):
                    _, body = await node.monitor("/jsz")
                    meta = body.get("meta_cluster")
                    if isinstance(meta, dict) and meta.get("leader"):
                        return str(meta["leader"])
        return ""

    async def ready(self) -> None:
        """Waits until a meta leader is elected and every running node is healthy."""
        deadline = time.monotonic() + READY_S
        while not await self.meta_leader():
            if time.monotonic() > deadline:
                raise RuntimeError("the cluster elected no meta leader")
            await asyncio.sleep(POLL_S)
        await asyncio.gather(*(node.ready() for node in self.nodes if node.running))


@contextlib.asynccontextmanager
async def single_server(directory: Path, *, name: str = "nats", config: str = "") -> AsyncIterator[Server]:
    """One server with JetStream, stopped at the end. `config` is added to its configuration (accounts, limits)."""
    port, monitor_port = free_ports(2)
    server = _configure(directory, name, port, monitor_port, config)
    try:
        await server.start()
        await server.ready()
        yield server
    finally:
        await server.kill()


@contextlib.asynccontextmanager
async def cluster(directory: Path, size: int = 3, *, config: str = "") -> AsyncIterator[Cluster]:
    """A JetStream cluster whose nodes are called n1, n2, ...; it has a meta leader when the block begins."""
    ports = free_ports(3 * size)
    clients, monitors, routes = ports[:size], ports[size : 2 * size], ports[2 * size :]
    peers = ", ".join(f'"nats://127.0.0.1:{route}"' for route in routes)
    nodes = [
        _configure(
            directory,
            f"n{number + 1}",
            clients[number],
            monitors[number],
            f'cluster {{ name: "test", listen: "127.0.0.1:{routes[number]}", routes: [{peers}] }}\n{config}',
        )
        for number in range(size)
    ]
    nodes_together = Cluster(nodes)
    try:
        await asyncio.gather(*(node.start() for node in nodes))
        await nodes_together.ready()
        yield nodes_together
    finally:
        await asyncio.gather(*(node.kill() for node in nodes))


def _configure(directory: Path, name: str, port: int, monitor_port: int, more: str) -> Server:
    home = directory / name
    home.mkdir(parents=True, exist_ok=True)
    config = home / "nats.conf"
    config.write_text(
        f"""server_name: "{name}"
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor_port}"
jetstream {{ store_dir: "{home}", sync_interval: always }}
{more}
"""
    )
    return Server(name, config, port, monitor_port)
