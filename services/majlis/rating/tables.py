"""The rating service's SQL: the ladders, and the results they are the fold of."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Double, Index, Integer, LargeBinary, MetaData, String, Table, Text

SCHEMA: Final = 1

metadata = MetaData()

players = Table(
    "rating_players",
    metadata,
    Column("game", String, primary_key=True),
    Column("player_id", String, primary_key=True),
    Column("mu", Double, nullable=False),
    Column("sigma", Double, nullable=False),
    Column("rating", Integer, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("last_match_ms", BigInteger, nullable=False),
    Index("rating_players_by_rating", "game", "rating"),
    Index("rating_players_by_player", "player_id"),
)
"""The ladders."""

results = Table(
    "rating_results",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("game", String, nullable=False),
    Column("stored", LargeBinary, nullable=False),
    Index("rating_results_by_sequence", "game", "sequence"),
)
"""What the ladders rest on: of each match the newest result, in the place (sequence) of its first."""

skipped = Table(
    "rating_skipped",
    metadata,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("subject", String, nullable=False),
    Column("fault", Text, nullable=False),
)
"""Messages that are no results of a match, with the reason."""
