"""The ladders' SQL: results in the order in which they count, and what they fold to."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table

SCHEMA: Final = 1

metadata = MetaData()

results = Table(
    "rating_results",
    metadata,
    Column("match_id", String, primary_key=True),
    Column("place", BigInteger, nullable=False),
    Column("game", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("result", LargeBinary, nullable=False),
    Index("rating_results_by_game", "game", "place"),
)
"""Each match's newest result; `place` is the stream's sequence of its first one: a correction counts where that stood."""

ladder = Table(
    "rating_ladder",
    metadata,
    Column("game", String, primary_key=True),
    Column("player_id", String, primary_key=True),
    Column("mu", Float(53), nullable=False),
    Column("sigma", Float(53), nullable=False),
    Column("shown", Integer, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("last_match_ms", BigInteger, nullable=False),
    Index("rating_ladder_by_rank", "game", "shown"),
)
