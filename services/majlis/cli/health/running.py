"""Checks of what runs: the broker, its streams, the services' health."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError

from majlis.chassis import broker
from majlis.chassis.settings import Settings
from majlis.cli.health.finding import Finding, fail, ok, warn
from majlis.cli.supervisor import datadir
from majlis.cli.supervisor.platform import serving

STREAMS: Final = (broker.JOURNAL, broker.TOURNAMENTS, broker.RESULTS, broker.RECORDS, broker.CHECKPOINTS)
BROKER_S: Final = 5.0


async def running(settings: Settings) -> AsyncIterator[Finding]:
    """Nothing running is no fault, unless the broker is somewhere else: then it must answer."""
    pid = datadir.owner(settings.data_dir)
    if pid is None and settings.broker.embedded:
        yield ok("platform", f"nothing runs in {settings.data_dir}; `majlis up` starts it")
        return
    if pid is not None:
        yield ok("platform", f"runs as process {pid}")
    async for finding in _streams(settings):
        yield finding
    if pid is not None:
        async for finding in _services(settings):
            yield finding


async def _streams(settings: Settings) -> AsyncIterator[Finding]:
    try:
        client = await asyncio.wait_for(
            broker.connect(settings.broker.urls, "operator-doctor", reconnect=False), BROKER_S
        )
    except (OSError, NatsError, TimeoutError) as error:
        yield fail("broker", f"does not answer: {error!r}", "check broker.urls and the log nats.log")
        return
    try:
        yield ok("broker", f"nats-server {_version(client)} answers")
        jetstream = client.jetstream()
        for name in STREAMS:
            try:
                info = await asyncio.wait_for(jetstream.stream_info(name), BROKER_S)
            except (NatsError, TimeoutError) as error:
                yield fail(f"stream {name}", f"cannot be read: {error!r}", "`majlis up` makes the streams")
                continue
            copies = info.config.num_replicas or 1
            said = f"{info.state.messages} messages, {info.state.bytes / 2**20:.1f} MiB, {copies} copies"
            if copies < settings.broker.replicas:
                yield warn(
                    f"stream {name}",
                    f"{said}; wanted: {settings.broker.replicas}",
                    "nats stream edit --replicas",
                )
            else:
                yield ok(f"stream {name}", said)
    finally:
        await client.close()


async def _services(settings: Settings) -> AsyncIterator[Finding]:
    """Those that `majlis up` wrote down that it runs."""
    for service in datadir.running(settings.data_dir).get("services", []):
        name, address = service["name"], service["grpc"]
        if await serving(address):
            yield ok(name, f"serves at {address}")
        else:
            yield fail(name, f"does not serve at {address}", f"its log: {settings.logs_dir / name}.log")


def _version(client: Client) -> str:
    version = client.connected_server_version
    return f"{version.major}.{version.minor}.{version.patch}"
