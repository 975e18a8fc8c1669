"""The shelf of records: what is there by the index, and the records themselves from the log."""

from __future__ import annotations

from typing import Any, Final

import nats.errors
from nats.aio.client import Client
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis.broker import RECORDS
from majlis.chassis.clock import Clock
from majlis.chassis.sql import reading
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

from .recorder import subject_of
from .tables import ENDED, PUBLISHED, QUARANTINED, players, records

SETTLE_S: Final = 30.0
"""How long somebody who asks about a match that has just ended is kept waiting for its record."""


class Shelf:
    """Reads records by match, tournament, game or player."""

    def __init__(self, engine: AsyncEngine, client: Client, clock: Clock) -> None:
        self._engine = engine
        self._client = client
        self._clock = clock

    async def find(self, query: Select[Any]) -> list[Any]:
        async with reading(self._engine) as connection:
            return list((await connection.execute(query)).all())

    async def players_of(self, match_ids: list[str]) -> dict[str, list[str]]:
        """Player ids by seat, for each match."""
        query = (
            select(players)
            .where(players.c.match_id.in_(match_ids))
            .order_by(players.c.match_id, players.c.seat)
        )
        found: dict[str, list[str]] = {}
        for row in await self.find(query):
            found.setdefault(row.match_id, []).append(row.player_id)
        return found

    async def row(self, match_id: str) -> Any:
        """The index row of a finished match. Raises Rejected(UNKNOWN_RECORD)."""
        found = await self.find(select(records).where(records.c.match_id == match_id))
        if not found:
            raise Rejected(
                RejectionCode.UNKNOWN_RECORD,
                f"there is no finished match {match_id[:80]!r} in the archive",
                "a match gets there within a second of its end; `majlis table list` shows those still played",
            )
        return found[0]

    async def scope(self, match_id: str, tournament_id: str) -> list[Any]:
        """The finished matches asked for, by match id, once none of them waits to be verified. Raises Rejected."""
        if bool(match_id) == bool(tournament_id):
            raise Rejected(
                RejectionCode.MALFORMED,
                "name either a match or a tournament",
                "set exactly one of the two ids",
            )
        if match_id:
            await self.row(match_id)
        chosen = records.c.match_id == match_id if match_id else records.c.tournament_id == tournament_id
        await self._settled(chosen)
        found = await self.find(select(records).where(chosen).order_by(records.c.match_id))
        if not found:
            raise Rejected(
                RejectionCode.UNKNOWN_TOURNAMENT,
                f"the archive has no finished match of a tournament {tournament_id[:80]!r}",
                "check the id: `majlis tournament list`",
            )
        return found

    async def _settled(self, chosen: Any) -> None:
        waiting = select(func.count()).select_from(records).where(chosen, records.c.state == ENDED)
        end = self._clock.monotonic() + SETTLE_S
        while (await self.find(waiting))[0][0]:
            if self._clock.monotonic() > end:
                raise Rejected(
                    RejectionCode.UNAVAILABLE,
                    "the archive is still verifying these matches",
                    "try again later",
                )
            await self._clock.sleep(0.05)

    async def record(self, row: Any) -> bytes:
        """The compressed record of a finished match. Raises Rejected(UNKNOWN_RECORD, CORRUPT_RECORD or UNAVAILABLE)."""
        self.check(row)
        subject = subject_of(row.game, row.match_id)
        try:
            return await self._read(subject)
        except NotFoundError:
            raise Rejected(
                RejectionCode.UNKNOWN_RECORD,
                f"the record of match {row.match_id} is not in the log, though the index says so",
                "tell an operator: the log of records has been tampered with or replaced",
            ) from None
        except (nats.errors.Error, JetStreamError, TimeoutError) as error:
            raise Rejected(
                RejectionCode.UNAVAILABLE, f"the broker does not answer: {error!r}", "try again in a moment"
            ) from error

    def check(self, row: Any) -> None:
        """Whether there is a good record of the match. Raises Rejected(UNKNOWN_RECORD or CORRUPT_RECORD)."""
        if row.state == QUARANTINED:
            raise Rejected(
                RejectionCode.CORRUPT_RECORD,
                f"match {row.match_id}: entry {row.fault_entry} {row.fault}",
                "its history is not in order: an operator has to look into it",
            )
        if row.state != PUBLISHED:
            raise Rejected(
                RejectionCode.UNKNOWN_RECORD,
                f"match {row.match_id} is being verified",
                "try again in a second",
            )

    async def _read(self, subject: str) -> bytes:
        """From any replica; one that lags is no proof that there is nothing, so the leader is asked then."""
        js = self._client.jetstream()
        try:
            return (await js.get_msg(RECORDS, subject=subject, direct=True)).data or b""
        except NotFoundError:
            return (await js.get_last_msg(RECORDS, subject)).data or b""
