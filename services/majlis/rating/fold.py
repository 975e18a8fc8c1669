"""What the rating service makes of the stream of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import structlog
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from majlis.chassis.broker import RESULTS
from majlis.chassis.feed import Message
from majlis.chassis.sql import upsert
from majlis.engine.ratings import Rating, rate
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.result import Result
from majlis.engine.vocabulary.wire import decode_result

from .schema import ladder, results

log = structlog.get_logger(__name__)


class LadderFold:
    """Folds RESULTS into ladders, each match once; a correction folds its game's ladder anew."""

    name = "rating"
    stream = RESULTS

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        """Fresh results are added to the ladder; a higher revision replaces its match's result where it stood."""
        for message in messages:
            try:
                result = decode_result(message.data)
            except Unreadable as error:
                # Unknown fails closed: a ladder that leaves out what it cannot read would be another ladder.
                log.critical(
                    "unreadable result",
                    event_type="result_unreadable",
                    subject=message.subject,
                    why=str(error),
                )
                raise
            await self._apply(connection, message, result)

    async def forget(self, connection: AsyncConnection) -> None:
        """Deletes all ladders."""
        await connection.execute(delete(ladder))
        await connection.execute(delete(results))

    async def _apply(self, connection: AsyncConnection, message: Message, result: Result) -> None:
        known = select(results.c.place, results.c.revision).where(results.c.match_id == result.match_id)
        row = (await connection.execute(known)).first()
        if row is not None and row.revision >= result.revision:
            return
        kept = {
            "match_id": result.match_id,
            "place": row.place if row is not None else message.sequence,
            "game": result.game,
            "revision": result.revision,
            "result": message.data,
        }
        await upsert(connection, results, [kept])
        if row is None:
            await _fold(connection, [result])
        else:
            await _fold_anew(connection, result.game)


async def _fold_anew(connection: AsyncConnection, game: str) -> None:
    await connection.execute(delete(ladder).where(ladder.c.game == game))
    stored = select(results.c.result).where(results.c.game == game).order_by(results.c.place)
    rows = (await connection.scalars(stored)).all()
    await _fold(connection, (decode_result(row) for row in rows))


async def _fold(connection: AsyncConnection, fresh: Iterable[Result]) -> None:
    """Adds results to the ladders, reading and writing each player once."""
    ladders: dict[str, dict[str, Rating]] = {}
    for result in fresh:
        ratings = ladders.setdefault(result.game, {})
        unread = [seat.player_id for seat in result.seats if seat.player_id not in ratings]
        ratings |= await _load(connection, result.game, unread)
        ratings |= rate(result, ratings)
    rows = [
        {
            "game": game,
            "player_id": player_id,
            "mu": rating.mu,
            "sigma": rating.sigma,
            "shown": rating.shown,
            "matches": rating.matches,
            "last_match_ms": rating.last_match_ms,
        }
        for game, ratings in ladders.items()
        for player_id, rating in ratings.items()
    ]
    await upsert(connection, ladder, rows)


async def _load(connection: AsyncConnection, game: str, players: Sequence[str]) -> dict[str, Rating]:
    query = select(ladder).where(ladder.c.game == game, ladder.c.player_id.in_(players))
    return {
        row.player_id: Rating(row.mu, row.sigma, row.matches, row.last_match_ms)
        for row in await connection.execute(query)
    }
