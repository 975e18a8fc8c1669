"""A platform for one measurement: a nats-server and table instances in a temporary directory, on free ports."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from majlis.chassis import embedded
from majlis.chassis.settings import broker_url
from majlis.chassis.tokens import make_keys
from majlis.loadtest.directory import Directory

READY_S: Final = 30.0


class PlatformFailed(Exception):
    """A process of the private platform did not come up; says which and what it logged last."""


class PrivatePlatform(Struct):
    """Running processes and where they are reached."""

    folder: Path
    broker: asyncio.subprocess.Process
    tables: list[asyncio.subprocess.Process]
    addresses: tuple[str, ...]
    broker_url: str
    shards: int

    @property
    def keys_dir(self) -> Path:
        return self.folder / "keys"

    def check(self) -> None:
        """Raises PlatformFailed where a process has ended."""
        _check(self.broker, "broker", self.folder)
        for number, table in enumerate(self.tables):
            _check(table, f"table-{number}", self.folder)


@contextlib.asynccontextmanager
async def private_platform(shards: int = 8, instances: int = 1) -> AsyncIterator[PrivatePlatform]:
    """Every shard is owned when the block begins; everything is gone when it ends. Raises PlatformFailed."""
    with tempfile.TemporaryDirectory(prefix="majlis-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with contextlib.AsyncExitStack() as stack:
            make_keys(folder / "keys")
            broker, url = await _start_broker(folder, stack)
            ports = free_ports(2 * instances)
            tables = [
                await start(
                    f"table-{number}",
                    [sys.executable, "-m", "majlis.table"],
                    folder,
                    _table_environment(folder, url, shards, number, ports[2 * number : 2 * number + 2]),
                    stack,
                )
                for number in range(instances)
            ]
            addresses = tuple(f"127.0.0.1:{port}" for port in ports[::2])
            await _until_owned(addresses, shards, folder)
            yield PrivatePlatform(folder, broker, tables, addresses, url, shards)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at the moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


async def _start_broker(
    folder: Path, stack: contextlib.AsyncExitStack
) -> tuple[asyncio.subprocess.Process, str]:
    port, monitor_port = free_ports(2)
    passwords = embedded.make_passwords(folder / "keys")
    environment = embedded.environment(
        name="bench",
        host="127.0.0.1",
        port=port,
        monitor_port=monitor_port,
        store=folder / "nats",
        passwords=passwords,
    )
    command: list[str | Path] = [embedded.binary(), "-c", embedded.ONE_NODE]
    process = await start("broker", command, folder, environment, stack)
    async with asyncio.timeout(READY_S):
        while not await embedded.healthy(monitor_port):
            _check(process, "broker", folder)
            await asyncio.sleep(0.05)
    return process, broker_url("table", passwords["table"], port)


def _table_environment(
    folder: Path, url: str, shards: int, number: int, ports: Sequence[int]
) -> dict[str, str]:
    # Ports are given for instance 0; the process adds its number.
    return {
        "MAJLIS_DATA_DIR": str(folder),
        "MAJLIS_BROKER__URLS": url,
        "MAJLIS_SHARDS": str(shards),
        "MAJLIS_INSTANCE": str(number),
        "MAJLIS_PORTS__TABLE": str(ports[0] - number),
        "MAJLIS_METRICS__TABLE": str(ports[1] - number),
        "MAJLIS_LOG_LEVEL": "warning",
    }


async def start(
    name: str,
    command: Sequence[str | Path],
    folder: Path,
    environment: dict[str, str],
    stack: contextlib.AsyncExitStack,
) -> asyncio.subprocess.Process:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MAJLIS_")}
    with (folder / f"{name}.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=inherited | environment,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    stack.push_async_callback(end, process)
    return process


async def end(process: asyncio.subprocess.Process, grace_s: float = 5.0) -> None:
    """Stops a process in order, or kills it when it takes too long."""
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), grace_s)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _until_owned(addresses: Sequence[str], shards: int, folder: Path) -> None:
    directory = Directory(addresses)
    try:
        await directory.until_owned(shards, READY_S)
    except TimeoutError:
        raise PlatformFailed(
            f"the table owns {len(directory.owners)} shards: {_last_words(folder, 'table-0')}"
        ) from None
    finally:
        await directory.close()


def _check(process: asyncio.subprocess.Process, name: str, folder: Path) -> None:
    if process.returncode is not None:
        raise PlatformFailed(f"{name} ended with {process.returncode}: {_last_words(folder, name)}")


def _last_words(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-2000:]
