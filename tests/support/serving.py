"""Services for tests: a servicer behind the product's own edge, or a whole service as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from majlis.chassis.rejections import Edge, rejected_from
from majlis.chassis.service import SERVER_OPTIONS, open_channel
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
READY_S = 60.0


@contextlib.asynccontextmanager
async def served(
    add: Callable[[Any, grpc.aio.Server], object], servicer: object
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the servicer, in this process, through the interceptor and under the limits of every service."""
    server = grpc.aio.server(interceptors=[Edge(lambda: True)], options=SERVER_OPTIONS)
    add(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with open_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


@contextlib.contextmanager
def refused(code: RejectionCode) -> Iterator[list[Rejected]]:
    """The call inside must be refused with this code, and say what happened and what to do."""
    told: list[Rejected] = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield told
    rejected = rejected_from(caught.value)
    assert rejected is not None, caught.value
    assert rejected.code is code, rejected
    assert rejected.detail
    assert rejected.remedy
    told.append(rejected)


@dataclass
class ServiceProcess:
    """`python -m majlis.<name>` with ports of its own on a data directory and a broker."""

    name: str
    data_dir: Path
    broker_url: str
    port: int = 0
    metrics_port: int = 0
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    @property
    def log(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    async def start(self) -> None:
        """Returns when the process serves."""
        self.port, self.metrics_port = free_ports(2)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MAJLIS_")}
        settings = {
            "DATA_DIR": str(self.data_dir),
            "BROKER__URLS": self.broker_url,
            f"PORTS__{self.name.upper()}": str(self.port),
            f"METRICS__{self.name.upper()}": str(self.metrics_port),
        }
        environment = clean | {f"MAJLIS_{name}": value for name, value in settings.items()}
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-m", f"majlis.{self.name}"],
                env=environment,
                stdout=log,
                stderr=log,
                cwd=ROOT,
            )
        async with asyncio.timeout(READY_S), self.channel() as channel:
            while not await self._serves(channel):
                assert self.process.returncode is None, self.log.read_text()[-3000:]
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """kill -9."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def terminate(self) -> int:
        """SIGTERM: the exit code."""
        assert self.process is not None
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), 30)

    def channel(self) -> grpc.aio.Channel:
        return open_channel(f"127.0.0.1:{self.port}")

    async def _serves(self, channel: grpc.aio.Channel) -> bool:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=5
            )
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


@contextlib.asynccontextmanager
async def service_process(name: str, data_dir: Path, broker_url: str) -> AsyncIterator[ServiceProcess]:
    """Serving when the block begins, gone when it ends."""
    service = ServiceProcess(name, data_dir, broker_url)
    try:
        await service.start()
        yield service
    finally:
        await service.kill()


async def eventually(check: Callable[[], Awaitable[bool]], within_s: float = 30.0) -> None:
    """Waits until the check is true."""
    async with asyncio.timeout(within_s):
        while not await check():
            await asyncio.sleep(0.05)
