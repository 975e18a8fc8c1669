"""Fixtures of all tests. What they start is real and private to the run: see `tests/support`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.nats import Cluster, Server, cluster, single_server
from tests.support.postgres import PostgresServer, postgres_server


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[Server]:
    """A private nats-server with an empty JetStream, for this test only (starts in some 50 ms)."""
    async with single_server(tmp_path / "nats") as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_nats(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """The nats-server of this run, for tests that leave it running and keep to subjects of their own."""
    async with single_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """The three-node cluster of this run, for tests that keep to subjects of their own.

    A test that stops a node starts it again, and is marked `asyncio(loop_scope="session")`: the processes belong to
    that loop.
    """
    async with cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The PostgreSQL server of this run; started by the first test that asks."""
    with postgres_server() as server:
        yield server


@pytest.fixture
async def postgres_url(postgres: PostgresServer) -> AsyncIterator[str]:
    """The SQLAlchemy address of an empty PostgreSQL database."""
    async with postgres.fresh_database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The SQLAlchemy address of an empty database: a test that asks for it runs on SQLite and on PostgreSQL."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite+aiosqlite:///{tmp_path / 'test.sqlite3'}"
