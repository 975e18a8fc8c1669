"""A lobby in the test's own process, wired as `majlis.lobby.__main__` does it, that can be killed at any await."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats.aio.client import Client
from nats.js.kv import KeyValue
from sqlalchemy.ext.asyncio import AsyncConnection

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.feed import Message
from majlis.chassis.journal.nats_store import NatsStore
from majlis.chassis.lookup import Lookup
from majlis.chassis.projection import Projection
from majlis.chassis.rejections import Edge, rejected_from
from majlis.chassis.service import CLIENT_OPTIONS
from majlis.chassis.sql import create_schema, open_engine
from majlis.chassis.tokens import Signer, credentials
from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act
from majlis.engine.vocabulary.match import OpenMatch
from majlis.engine.vocabulary.wire import COMMAND_NAMES, TOURNAMENT_COMMAND_NAMES
from majlis.lobby.hall import Hall
from majlis.lobby.instances import TableInstances
from majlis.lobby.manager import Manager
from majlis.lobby.owner import Owner
from majlis.lobby.players import Players
from majlis.lobby.results import ResultFold
from majlis.lobby.schema import SCHEMA, metadata
from majlis.lobby.servicer import LobbyServicer
from majlis.lobby.tables import CasualTables
from majlis.v1 import lobby_pb2, lobby_pb2_grpc
from tests.support.fake_tables import SHARDS, FakeTables, fake_tables

LEASE_S = 0.4
DIES_S = 10.0
Crash = Callable[[str], None]
Metadata = tuple[tuple[str, str], ...]


class Killed(Exception):
    """What a crash point raises: the lobby goes no step further."""


class KillableHall(Hall):
    crash: Crash = staticmethod(lambda point: None)

    async def submit(self, tournament_id: str, act: Act) -> int:
        name = TOURNAMENT_COMMAND_NAMES[type(act.command)]
        self.crash(f"before {name}")
        number = await super().submit(tournament_id, act)
        self.crash(f"after {name}")
        return number


class KillableInstances(TableInstances):
    crash: Crash = staticmethod(lambda point: None)

    async def open_match(self, match_id: str, setup: OpenMatch) -> None:
        self.crash("before open")
        await super().open_match(match_id, setup)
        self.crash("after open")

    async def direct(self, match_id: str, command_id: str, command: Any, director: str) -> None:
        name = COMMAND_NAMES[type(command)]
        self.crash(f"before direct {name}")
        await super().direct(match_id, command_id, command, director)
        self.crash(f"after direct {name}")


class KillableFold(ResultFold):
    crash: Crash = staticmethod(lambda point: None)

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        await super().apply(connection, messages)
        self.crash("before the position moves")


class Lobby:
    """One life of a lobby, from `start` until `kill`."""

    def __init__(self, platform: Platform, client: Client, bucket: KeyValue, crash: Crash) -> None:
        clock = SystemClock()
        self.signer = platform.signer
        self.dead = asyncio.Event()
        """Set when a part of it has ended by a fault: the process would end."""
        self.hall, self._client = KillableHall(), client
        self._lookup = Lookup(bucket)
        self._instances = KillableInstances(self._lookup, self.signer)
        self._store = NatsStore(
            broker.TOURNAMENTS, lambda: broker.connect(platform.urls, "lobby-journal", reconnect=False)
        )
        self._engine = open_engine(platform.database_url)
        self._manager = Manager(self.hall, self._instances, SHARDS, clock)
        self.hall.on_change = self._manager.wake
        self._casual = CasualTables(self._engine, self._instances, SHARDS, clock)
        fold = KillableFold(self.hall, clock)

        def pass_point(point: str) -> None:
            if self.dead.is_set():
                raise Killed(point)
            try:
                crash(point)
            except Killed:
                self.dead.set()
                raise

        self.hall.crash = self._instances.crash = fold.crash = pass_point
        self._projection = Projection(fold, self._engine, client, clock, lease_s=LEASE_S)
        name = f"lobby-{secrets.token_hex(4)}"
        self._owner = Owner(self.hall, bucket, self._store, name, platform.address, clock)
        players = Players(self._engine, clock)
        servicer = LobbyServicer(self.hall, players, self._casual, self._instances, self.signer, clock)
        self._server = grpc.aio.server(interceptors=[Edge(lambda: True)])
        lobby_pb2_grpc.add_LobbyServicer_to_server(servicer, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self._channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CLIENT_OPTIONS)
        self.stub: Any = lobby_pb2_grpc.LobbyStub(self._channel)
        self._tasks: list[asyncio.Task[Any]] = []

    async def start(self) -> None:
        await create_schema(self._engine, "lobby", SCHEMA, metadata)
        await self._server.start()
        self._watch(self._lookup.run())
        await self._owner.open()
        works = (self._owner.keep(), self._projection.run(), self._manager.run(), self._casual.run())
        for work in works:
            self._watch(work)

    def _watch(self, work: Coroutine[Any, Any, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and task.exception() is not None:
                self.dead.set()

        task = asyncio.create_task(work)
        task.add_done_callback(ended)
        self._tasks.append(task)

    async def kill(self) -> None:
        """Ends it where it stands: nothing is drained, no lease is released."""
        await self._channel.close()
        if self._owner._running is not None:
            self._tasks.append(self._owner._running)
        for task in self._tasks:
            task.cancel()
        _, stuck = await asyncio.wait(self._tasks, timeout=DIES_S)
        assert not stuck, stuck
        await self._server.stop(0)
        await self._instances.close()
        await self._store.close()
        await self._client.close()
        await self._engine.dispose()

    async def all_booked(self) -> bool:
        """Whether the position stands behind every result that was published."""
        last = (await self._client.jetstream().stream_info(broker.RESULTS)).state.last_seq
        return await self._projection.position() >= last

    def director(self) -> Metadata:
        return credentials(self.signer.service("director", "Samira"))

    def player(self, player_id: str, name: str = "") -> Metadata:
        return credentials(self.signer.player(player_id, name or player_id))

    async def sign_in(self, name: str) -> tuple[str, Metadata]:
        """Player id and call metadata of a new guest."""
        answer = await self.stub.SignIn(lobby_pb2.SignInRequest(name=name))
        return answer.player_id, credentials(answer.token)


async def refused(call: Awaitable[Any]) -> Rejected:
    """The rejection that the call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    rejected = rejected_from(error.value)
    assert rejected is not None, error.value
    assert rejected.detail
    assert rejected.remedy
    return rejected


@dataclass
class Platform:
    """What outlives a lobby: broker, database, keys, tables."""

    urls: list[str]
    database_url: str
    client: Client
    signer: Signer
    tables: FakeTables
    address: str = "127.0.0.1:1"

    @contextlib.asynccontextmanager
    async def lobby(self, crash: Crash = lambda point: None) -> AsyncIterator[Lobby]:
        """Starts a lobby; leaving the block kills it. `crash` is told each named point that is passed."""
        client = await broker.connect(self.urls, "lobby")
        lobby = Lobby(self, client, await broker.shards_bucket(client.jetstream()), crash)
        try:
            await lobby.start()
            yield lobby
        finally:
            await lobby.kill()


@contextlib.asynccontextmanager
async def platform(url: str, database_url: str) -> AsyncIterator[Platform]:
    """A broker's streams, keys and fake tables, without a lobby."""
    client = await broker.connect([url], "test")
    try:
        await broker.ensure_streams(client.jetstream(), 1)
        signer = Signer(Ed25519PrivateKey.generate())
        async with fake_tables(client, signer.verifier) as tables:
            yield Platform([url], database_url, client, signer, tables)
    finally:
        await client.close()


async def until(holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Waits for something to become true."""
    async with asyncio.timeout(timeout_s):
        while not holds():
            await asyncio.sleep(0.01)
