"""The databases that tests are given: empty each time, and PostgreSQL really is PostgreSQL."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine


async def run(url: str, query: str, before: tuple[str, ...] = ()) -> object:
    """The first value that the query answers, after the statements before it, in one transaction."""
    engine = create_async_engine(url)
    try:
        async with engine.begin() as connection:
            for statement in before:
                await connection.execute(text(statement))
            return await connection.scalar(text(query))
    finally:
        await engine.dispose()


async def test_the_server_is_a_postgresql_of_utf8(postgres_url: str) -> None:
    version = await run(postgres_url, "select version()")
    assert str(version).startswith("PostgreSQL ")
    assert await run(postgres_url, "show server_encoding") == "UTF8"


@pytest.mark.parametrize("time", ["first", "second"])
async def test_every_test_gets_an_empty_database(database_url: str, time: str) -> None:
    before = ("create table seen (name text)", f"insert into seen values ('{time} · وقّف')")
    assert await run(database_url, "select count(*) from seen", before) == 1
