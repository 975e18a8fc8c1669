"""One nats-server or three of them for a measurement, configured as in production, gone when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from majlis.chassis import broker, embedded
from majlis.chassis.settings import broker_url
from majlis.loadtest.private_platform import READY_S, free_ports, start


@contextlib.asynccontextmanager
async def private_brokers(nodes: int) -> AsyncIterator[list[str]]:
    """The addresses of `nodes` servers (1 or 3) that hold the platform's streams, `nodes` times each."""
    with tempfile.TemporaryDirectory(prefix="majlis-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        passwords = embedded.make_passwords(folder / "keys")
        ports, monitors, routes = (free_ports(nodes) for _ in range(3))
        peers = [f"nats://127.0.0.1:{route}" for route in routes]
        config = embedded.ONE_NODE if nodes == 1 else embedded.ONE_NODE.with_name("three-nodes.conf")
        async with contextlib.AsyncExitStack() as stack:
            for number in range(nodes):
                environment = embedded.environment(
                    name=f"bench-{number}",
                    host="127.0.0.1",
                    port=ports[number],
                    monitor_port=monitors[number],
                    store=folder / f"nats-{number}",
                    passwords=passwords,
                ) | {
                    "MAJLIS_NATS_CLUSTER_LISTEN": json.dumps(f"127.0.0.1:{routes[number]}"),
                    "MAJLIS_NATS_ROUTES": json.dumps(peers),
                }
                command: list[str | Path] = [embedded.binary(), "-c", config]
                await start(f"broker-{number}", command, folder, environment, stack)
            async with asyncio.timeout(READY_S):
                for monitor in monitors:
                    while not await embedded.healthy(monitor):
                        await asyncio.sleep(0.05)
            urls = [broker_url("table", passwords["table"], port) for port in ports]
            client = await broker.connect(urls, "table-bench")
            await broker.ensure_streams(client.jetstream(), nodes)
            await client.close()
            yield urls
