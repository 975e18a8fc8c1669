"""Who may do what at the broker: the configuration that `majlis up` runs, tried by every user.

An insider with a live view of hands cheated for years elsewhere: nobody but table and archive reads the log of matches.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import ConsumerConfig, StreamConfig, StreamSource

from majlis.chassis import broker, embedded
from majlis.chassis.feed import open_feed
from majlis.chassis.settings import broker_url
from tests.support.ports import free_ports

WAIT_S = 0.4
READERS = {
    broker.JOURNAL: {"table", "archive"},
    broker.CHECKPOINTS: {"table"},
    broker.TOURNAMENTS: {"lobby"},
    broker.RESULTS: {"lobby", "rating", "archive", "operator"},
    broker.RECORDS: {"archive", "operator"},
}
WRITERS = {
    "journal.match.0": {"table"},
    "checkpoint.0.0": {"table"},
    "result.sounding.0-abcd.1": {"table"},
    "journal.tournament.0": {"lobby"},
    "record.sounding.0-abcd": {"archive"},
    "$KV.SHARDS.match.0": {"table"},
    "$KV.SHARDS.tournament.0": {"lobby"},
}


@dataclass
class Broker:
    """A running broker, and the password of each user."""

    port: int
    passwords: dict[str, str]

    @contextlib.asynccontextmanager
    async def user(self, name: str) -> AsyncIterator[Client]:
        client = await broker.connect([broker_url(name, self.passwords[name], self.port)], f"{name}-test")
        try:
            yield client
        finally:
            await client.close()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Broker]:
    port, monitor_port = free_ports(2)
    passwords = embedded.make_passwords(tmp_path / "keys")
    values = embedded.environment(
        name="test", host="127.0.0.1", port=port, monitor_port=monitor_port, store=tmp_path / "nats", passwords=passwords
    )  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        embedded.binary(),
        "-c",
        embedded.ONE_NODE,
        env={**os.environ, **values},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(20):
            while not await embedded.healthy(monitor_port):
                await asyncio.sleep(0.02)
        running = Broker(port, passwords)
        async with running.user("operator") as operator:
            await broker.ensure_streams(operator.jetstream(), 1)
        yield running
    finally:
        process.kill()
        await process.wait()


async def may(work: Callable[[], Awaitable[object]]) -> bool:
    """A permission that is denied shows as a time-out."""
    try:
        await asyncio.wait_for(work(), WAIT_S)
    except (NatsError, TimeoutError):
        return False
    return True


async def who(server: Broker, work: Callable[[Client], Awaitable[object]]) -> set[str]:
    """The users that may do this."""

    async def tried(user: str) -> bool:
        async with server.user(user) as client:
            return await may(lambda: work(client))

    answers = await asyncio.gather(*(tried(user) for user in embedded.USERS))
    return {user for user, allowed in zip(embedded.USERS, answers, strict=True) if allowed}


async def store_one(server: Broker, subject: str) -> None:
    (writer,) = WRITERS[subject]
    async with server.user(writer) as client:
        await client.jetstream().publish(subject, b"secret")


@pytest.mark.parametrize("subject", WRITERS)
async def test_each_subject_has_one_writer(server: Broker, subject: str) -> None:
    assert (
        await who(server, lambda client: client.jetstream().publish(subject, b"x", timeout=WAIT_S))
        == WRITERS[subject]
    )


@pytest.mark.parametrize("stream", READERS)
async def test_a_stream_is_read_by_those_who_need_it(server: Broker, stream: str) -> None:
    async def by_feed(client: Client) -> None:
        feed = await open_feed(client, stream, 0, "test")
        await feed.read(0.05)

    assert await who(server, by_feed) == READERS[stream]


@pytest.mark.parametrize("stream", [broker.JOURNAL, broker.CHECKPOINTS])
async def test_no_back_door_to_hands(server: Broker, stream: str) -> None:
    subject = {broker.JOURNAL: "journal.match.0", broker.CHECKPOINTS: "checkpoint.0.0"}[stream]
    await store_one(server, subject)
    readers = READERS[stream] & {"table"}  # only the table reads single messages
    assert await who(server, lambda client: client.jetstream().get_last_msg(stream, subject)) == readers
    assert (
        await who(server, lambda client: client.jetstream().get_last_msg(stream, subject, direct=True))
        <= readers
    )
    copy = StreamConfig(name="COPY", sources=[StreamSource(name=stream)])
    assert await who(server, lambda client: client.jetstream().add_stream(copy)) == set()
    snapshot = f"$JS.API.STREAM.SNAPSHOT.{stream}"
    assert (
        await who(server, lambda client: client.request(snapshot, b'{"deliver_subject":"x"}', timeout=WAIT_S))
        == set()
    )
    pushed = ConsumerConfig(deliver_subject="_INBOX.rating.stolen")
    assert (
        await who(server, lambda client: client.jetstream().add_consumer(stream, pushed)) <= READERS[stream]
    )


@pytest.mark.parametrize(
    ("subject", "publisher", "hearers"),
    [
        ("journal.match.0", "table", set()),
        ("checkpoint.0.0", "table", set()),
        ("computer.sounding", "table", {"computer"}),
        ("_INBOX.table.0.abc", "table", {"table"}),
        ("computers.table-0", "computer", {"table"}),
    ],
)
async def test_nobody_listens_in(server: Broker, subject: str, publisher: str, hearers: set[str]) -> None:
    heard = set()
    async with contextlib.AsyncExitStack() as stack:
        clients = {user: await stack.enter_async_context(server.user(user)) for user in embedded.USERS}
        for user, client in clients.items():
            for wish in (subject, ">", f"{subject.split('.', maxsplit=1)[0]}.>"):

                async def hear(_: object, user: str = user) -> None:
                    heard.add(user)

                await client.subscribe(wish, cb=hear)
            with contextlib.suppress(NatsError):
                await client.flush()
        await clients[publisher].publish(subject, b"secret")
        await clients[publisher].flush()
        await asyncio.sleep(WAIT_S)
    assert heard == hearers


async def test_nobody_empties_the_log(server: Broker) -> None:
    await store_one(server, "journal.match.0")
    emptied = StreamConfig(name=broker.JOURNAL, subjects=["journal.match.>"], max_age=1)
    works: list[Callable[[Client], Awaitable[object]]] = [
        lambda client: client.jetstream().update_stream(emptied),
        lambda client: client.jetstream().delete_stream(broker.JOURNAL),
        lambda client: client.jetstream().purge_stream(broker.JOURNAL),
        lambda client: client.jetstream().delete_msg(broker.JOURNAL, 1),
    ]
    for work in works:
        assert await who(server, work) == set()
    async with server.user("table") as table:
        assert (await table.jetstream().stream_info(broker.JOURNAL)).state.messages == 1


async def test_a_stranger_gets_no_connection(server: Broker) -> None:
    for url in (f"nats://127.0.0.1:{server.port}", broker_url("table", "wrong", server.port)):
        with pytest.raises((NatsError, OSError)):
            await nats.connect(url, allow_reconnect=False, connect_timeout=2)
