"""The archive's SQL: an index of records, and the entries of matches that are not recorded yet."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, String, Table, Text

SCHEMA: Final = 1

metadata = MetaData()

shards = Table(
    "archive_shards",
    metadata,
    Column("shard", String, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)
"""The last batch seen of each shard."""

entries = Table(
    "archive_entries",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("stored", LargeBinary, nullable=False),
)
"""Entries as they stood in the log, until their match is recorded."""

ENDED: Final = "ended"
PUBLISHED: Final = "published"
QUARANTINED: Final = "quarantined"

records = Table(
    "archive_records",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("state", String, nullable=False),
    Column("game", String, nullable=False),
    Column("tournament_id", String, nullable=False),
    Column("round", Integer, nullable=False),
    Column("pod", Integer, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("started_at_ms", BigInteger, nullable=False),
    Column("ended_at_ms", BigInteger, nullable=False),
    Column("history_hash", LargeBinary, nullable=False),
    Column("fault", Text, nullable=False),
    Column("fault_entry", Integer, nullable=False),
    Index("archive_records_by_tournament", "tournament_id", "round", "pod"),
    Index("archive_records_by_state", "state"),
    Index("archive_records_by_end", "ended_at_ms"),
)
"""Finished matches: ENDED (to be verified), PUBLISHED (its record is in the log) or QUARANTINED (it is not in order)."""

players = Table(
    "archive_players",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("player_id", String, nullable=False),
    Index("archive_players_by_player", "player_id"),
)
