"""The brokers that tests start: they are real, they keep what they acknowledged, and they elect."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import nats
import nats.errors
import nats.js.errors
from nats.js.api import StreamConfig

from tests.support.nats import Cluster, Server, cluster, single_server


async def stored(url: str) -> int:
    """How many messages the stream KEEP holds."""
    client = await nats.connect(url)
    try:
        return (await client.jetstream().stream_info("KEEP")).state.messages
    finally:
        await client.close()


async def store_one(server: Server, replicas: int) -> None:
    client = await nats.connect(server.url)
    try:
        js = client.jetstream()
        await js.add_stream(StreamConfig("KEEP", subjects=["keep.*"], num_replicas=replicas))
        await js.publish("keep.one", b"1")
    finally:
        await client.close()


async def test_what_a_single_server_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    async with single_server(tmp_path) as server:
        await store_one(server, replicas=1)
        await server.restart()
        assert await stored(server.url) == 1
    assert not server.running


async def test_a_single_server_takes_more_configuration(tmp_path: Path) -> None:
    async with single_server(tmp_path, config="max_payload: 2048") as server:
        client = await nats.connect(server.url)
        try:
            assert client.max_payload == 2048
        finally:
            await client.close()


async def test_a_cluster_elects_again_and_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    async with cluster(tmp_path) as nodes:
        await store_one(nodes[0], replicas=3)
        killed = nodes.named(await nodes.meta_leader())
        await killed.kill()
        await elected_without(nodes, killed)
        survivor = next(node for node in nodes if node.running)
        assert await stored_once_led(survivor.url) == 1
        await killed.start()
        await nodes.ready()
    assert not any(node.running for node in nodes)


async def stored_once_led(url: str) -> int:
    """Like `stored`, waiting out the election of the stream's own leader."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(nats.errors.TimeoutError, nats.js.errors.ServiceUnavailableError):
                return await stored(url)


async def elected_without(nodes: Cluster, gone: Server) -> None:
    async with asyncio.timeout(30):
        while await nodes.meta_leader() in ("", gone.name):
            await asyncio.sleep(0.1)
