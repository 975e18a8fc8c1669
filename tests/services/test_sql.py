"""What SQL promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, func, insert, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis.sql import (
    SchemaMismatch,
    UnsupportedDatabase,
    create_schema,
    insert_new,
    open_engine,
    reading,
    upsert,
    writing,
)

metadata = MetaData()
players = Table(
    "players",
    metadata,
    Column("game", String, primary_key=True),
    Column("player", String, primary_key=True),
    Column("matches", Integer, nullable=False),
    Column("note", String, nullable=False, server_default="none"),
)
moves = Table(
    "moves",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("game", String),
    Column("owner", String, ForeignKey("owners.name")),
)
Table("owners", metadata, Column("name", String, primary_key=True))


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(database_url)
    await create_schema(engine, "test", 1, metadata)
    yield engine
    await engine.dispose()


async def all_players(engine: AsyncEngine) -> list[tuple[object, ...]]:
    async with reading(engine) as connection:
        rows = await connection.execute(select(players).order_by(players.c.game, players.c.player))
        return [tuple(row) for row in rows]


async def test_upsert_inserts_what_is_new_and_overwrites_what_is_given(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        await connection.execute(
            insert(players), [{"game": "sounding", "player": "a", "matches": 1, "note": "kept"}]
        )
        rows = [{"game": "sounding", "player": name, "matches": 7} for name in ("a", "وقّف")]
        await upsert(connection, players, rows)
        await upsert(connection, players, [])
    assert await all_players(engine) == [("sounding", "a", 7, "kept"), ("sounding", "وقّف", 7, "none")]


async def test_of_rows_with_the_same_key_the_last_one_stands(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        rows = [{"game": "sounding", "player": "a", "matches": n} for n in (1, 2, 3)]
        await upsert(connection, players, rows)
    assert await all_players(engine) == [("sounding", "a", 3, "none")]


async def test_insert_new_leaves_what_is_there(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        for matches in (1, 2):
            await insert_new(connection, players, [{"game": "sounding", "player": "a", "matches": matches}])
    assert await all_players(engine) == [("sounding", "a", 1, "none")]


async def test_a_failed_transaction_leaves_nothing(engine: AsyncEngine) -> None:
    async def failing() -> None:
        async with writing(engine) as connection:
            await upsert(connection, players, [{"game": "sounding", "player": "a", "matches": 1}])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert await all_players(engine) == []


async def test_foreign_keys_hold(engine: AsyncEngine) -> None:
    with pytest.raises(IntegrityError):
        async with writing(engine) as connection:
            await connection.execute(insert(moves), [{"number": 1, "owner": "nobody"}])


async def test_writers_that_read_first_wait_for_each_other(engine: AsyncEngine) -> None:
    """Read, think, write: the second writer must see what the first wrote, not fail and not overwrite it."""

    async def one_more(number: int) -> None:
        async with writing(engine) as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(text("LOCK TABLE players IN EXCLUSIVE MODE"))
            matches = await connection.scalar(select(func.max(players.c.matches))) or 0
            await asyncio.sleep(0.01)
            row = {"game": "sounding", "player": str(number), "matches": matches + 1}
            await upsert(connection, players, [row])

    await asyncio.gather(*(one_more(number) for number in range(5)))
    assert sorted(row[2] for row in await all_players(engine)) == [1, 2, 3, 4, 5]  # type: ignore[type-var]


async def test_a_writer_that_is_cancelled_at_any_point_leaves_no_lock(engine: AsyncEngine) -> None:
    async def busy() -> None:
        for number in range(1000):
            async with writing(engine) as connection:
                await connection.scalar(select(func.count()).select_from(players))
                await upsert(connection, players, [{"game": "sounding", "player": "a", "matches": number}])

    chance = random.Random(1)
    for _ in range(40):
        task = asyncio.create_task(busy())
        await asyncio.sleep(chance.uniform(0, 0.01))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(5), writing(engine) as connection:
            await upsert(connection, players, [{"game": "sounding", "player": "b", "matches": 0}])


async def test_a_reader_sees_one_state_and_never_waits_for_a_writer(engine: AsyncEngine) -> None:
    async with writing(engine) as connection:
        await upsert(connection, players, [{"game": "sounding", "player": "a", "matches": 1}])
        assert await asyncio.wait_for(all_players(engine), 5) == []


async def test_many_instances_may_make_the_schema_at_once(database_url: str) -> None:
    engines = [open_engine(database_url) for _ in range(8)]
    try:
        await asyncio.gather(*(create_schema(engine, "test", 1, metadata) for engine in engines))
        await create_schema(engines[0], "test", 1, metadata)
        assert await all_players(engines[1]) == []
    finally:
        for engine in engines:
            await engine.dispose()


@pytest.mark.parametrize(("ours", "remedy"), [(1, "newer Majlis"), (3, "folded anew")])
async def test_a_database_of_another_schema_is_refused_and_untouched(
    database_url: str, ours: int, remedy: str
) -> None:
    engine = open_engine(database_url)
    try:
        await create_schema(engine, "test", 2, MetaData())
        with pytest.raises(SchemaMismatch, match=remedy):
            await create_schema(engine, "test", ours, metadata)
        with pytest.raises(Exception, match="players"):
            await all_players(engine)
        await create_schema(
            engine, "other", 1, metadata
        )  # another name in the same database is another schema
    finally:
        await engine.dispose()


async def test_a_sqlite_file_is_durable_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "directory" / "rating.db"
    engine = open_engine(f"sqlite+aiosqlite:///{path}")
    try:
        await create_schema(engine, "test", 1, metadata)
        async with reading(engine) as connection:
            pragmas = [await connection.scalar(text(f"PRAGMA {p}")) for p in ("journal_mode", "synchronous")]
        assert pragmas == ["wal", 2]
        files = sorted(path.parent.iterdir())
        assert {file.stat().st_mode & 0o077 for file in files} == {0}
    finally:
        await engine.dispose()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite+aiosqlite://",
        "sqlite:///x.db",
        "mysql+aiomysql://secret:word@host/x",
        "postgresql+psycopg://host/x",
    ],
)
def test_other_databases_are_refused_without_telling_the_password(url: str) -> None:
    with pytest.raises(UnsupportedDatabase) as refused:
        open_engine(url)
    assert "word" not in str(refused.value)
