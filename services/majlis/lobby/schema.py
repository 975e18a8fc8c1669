"""The lobby's SQL: players and casual tables. Personal data stands here and never in the log."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, String, Table

SCHEMA: Final = 1

metadata = MetaData()

players = Table(
    "lobby_players",
    metadata,
    Column("player_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
)

WAITING: Final = "waiting"
FULL: Final = "full"
OPENED: Final = "opened"
ENDED: Final = "ended"

tables = Table(
    "lobby_tables",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("game", String, nullable=False),
    Column("setup", LargeBinary, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    Index("lobby_tables_by_state", "state", "created_at_ms"),
)
"""Casual tables: WAITING for players, FULL (to be opened at a table instance), OPENED, ENDED. `setup` is an OpenMatch."""

seats = Table(
    "lobby_seats",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("player_id", String, nullable=False),
)
"""Persons' seats of casual tables; an empty player id is a free seat."""
