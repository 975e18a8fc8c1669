"""SQL for read models and accounts: SQLite files by default, PostgreSQL by URL, the same statements on both.

engine = open_engine("sqlite+aiosqlite:////var/lib/majlis/rating.db")
await create_schema(engine, "rating", version=1, metadata=metadata)
async with writing(engine) as connection:
    await upsert(connection, players, rows)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

BUSY_TIMEOUT_S: Final = 30
_SCHEMA_LOCK: Final = 0x6D616A6C
"""PostgreSQL's advisory lock under which schemas are made: instances that start together wait for each other."""

_metadata = MetaData()
_schema_versions = Table(
    "schema_versions",
    _metadata,
    Column("name", String, primary_key=True),
    Column("version", Integer, nullable=False),
)

Row = Mapping[str, Any]


class UnsupportedDatabase(Exception):
    """The address names a database or a driver that Majlis does not run on."""


class SchemaMismatch(Exception):
    """The database was written by another version of Majlis, which this one must not touch."""

    def __init__(self, name: str, found: int, ours: int) -> None:
        remedy = (
            "run that newer Majlis, or give this one another database"
            if found > ours
            else "move it away and start again: read models are folded anew from the log"
        )
        super().__init__(f"the {name} database has schema {found}, this Majlis has {ours}: {remedy}")


def open_engine(url: str) -> AsyncEngine:
    """An engine for `sqlite+aiosqlite:///path` or `postgresql+asyncpg://…`; a SQLite file is made, for its owner only.

    Commits are durable (WAL with a synchronous log). Nothing is connected before the first use. Raises
    UnsupportedDatabase.
    """
    address = make_url(url)
    if address.drivername == "sqlite+aiosqlite" and address.database not in (None, "", ":memory:"):
        _make_file(Path(str(address.database)))
        engine = create_async_engine(address, connect_args={"timeout": BUSY_TIMEOUT_S})
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        event.listen(engine.sync_engine, "invalidate", _roll_back_sqlite)
        return engine
    if address.drivername == "postgresql+asyncpg":
        return create_async_engine(address, pool_pre_ping=True)
    shown = address.render_as_string(hide_password=True)
    raise UnsupportedDatabase(
        f"{shown}: use sqlite+aiosqlite:///PATH or postgresql+asyncpg://USER@HOST/DATABASE"
    )


def writing(engine: AsyncEngine) -> AbstractAsyncContextManager[AsyncConnection]:
    """A transaction that will write.

    On SQLite it takes the write lock at once: one that had begun by reading could not wait for another writer, it
    would have to fail.
    """
    return engine.execution_options(writing=True).begin()


def reading(engine: AsyncEngine) -> AbstractAsyncContextManager[AsyncConnection]:
    """A transaction that only reads; on SQLite it sees one state throughout and never waits for a writer."""
    return engine.begin()


async def create_schema(engine: AsyncEngine, name: str, version: int, metadata: MetaData) -> None:
    """Makes the tables that are missing and notes the schema's version under its name; raises SchemaMismatch.

    Idempotent, also for processes that start at the same time. Several names can share a database.
    """
    async with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(select(func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
        await connection.run_sync(_metadata.create_all)
        found = await connection.scalar(
            select(_schema_versions.c.version).where(_schema_versions.c.name == name)
        )
        if found is not None and found != version:
            raise SchemaMismatch(name, found, version)
        await insert_new(connection, _schema_versions, [{"name": name, "version": version}])
        await connection.run_sync(metadata.create_all)


async def upsert(connection: AsyncConnection, table: Table, rows: Sequence[Row]) -> None:
    """Inserts the rows; where the primary key is there already, the given columns overwrite it.

    All rows give the same columns; of rows with the same key the last one stands.
    """
    if not rows:
        return
    keys = [column.name for column in table.primary_key]
    insert = _insert(connection, table)
    changed = {name: insert.excluded[name] for name in rows[0] if name not in keys}
    await connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=changed), rows)


async def insert_new(connection: AsyncConnection, table: Table, rows: Sequence[Row]) -> None:
    """Inserts those rows whose primary key is not there yet and leaves the others as they are."""
    if rows:
        keys = [column.name for column in table.primary_key]
        await connection.execute(_insert(connection, table).on_conflict_do_nothing(index_elements=keys), rows)


def check_key(text: str, what: str) -> str:
    """A text from outside, to be looked up as it is. Raises Rejected(MALFORMED): PostgreSQL's texts hold no NUL."""
    if "\x00" in text:
        raise Rejected(
            RejectionCode.MALFORMED, f"the {what} holds a NUL character", "send the id as it was given out"
        )
    return text


def _insert(connection: AsyncConnection, table: Table) -> Any:
    """Both dialects' INSERT know ON CONFLICT by the same methods, though they share no type."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _make_file(path: Path) -> None:
    """Hidden hands and accounts stand in these files; SQLite gives its log files the mode of the database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=True)


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    # The driver would begin transactions by itself, late, and never around reads.
    connection.isolation_level = None
    cursor = connection.cursor()
    # First the patience, then what may meet another process's lock.
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_S * 1000}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _roll_back_sqlite(connection: Any, _record: Any, _error: BaseException | None) -> None:
    # Of a caller that was cancelled: closing alone would keep the write lock until the last cursor is collected.
    connection.rollback()
