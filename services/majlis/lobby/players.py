"""Players: guests under a name of their choice, known to everything else by an opaque id only."""

from __future__ import annotations

import secrets

from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis.clock import Clock
from majlis.chassis.sql import insert_new, writing

from .names import clean_name
from .schema import players


class Players:
    """The accounts of this platform."""

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def sign_in(self, name: str) -> tuple[str, str]:
        """A new guest: player id and the name as it will be shown. Raises Rejected(BAD_NAME)."""
        cleaned = clean_name(name)
        player_id = f"p-{secrets.token_hex(8)}"
        row = {"player_id": player_id, "name": cleaned, "created_at_ms": self._clock.now_ms()}
        async with writing(self._engine) as connection:
            await insert_new(connection, players, [row])
        return player_id, cleaned
