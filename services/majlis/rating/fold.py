"""How results become ladders.

What no version could take for a result (damaged bytes, an enum that is not set, places that cannot be) is noted, counted
and left out: everybody who folds leaves out the same. What only newer code can read stops the projection, because going
on without it would give other ladders than that code gives.

A correction, a further revision of a match's result, folds its game again from the start: rare, and then exact.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final

import structlog
from msgspec import Struct
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from majlis.chassis import metrics
from majlis.chassis.broker import RESULTS
from majlis.chassis.feed import Message
from majlis.chassis.projection import Unfoldable
from majlis.chassis.sql import insert_new, upsert
from majlis.engine.ratings import Ladder, Rated, corrects, fault, rate
from majlis.engine.unreadable import Unreadable, UnspecifiedValue
from majlis.engine.vocabulary.result import Result
from majlis.engine.vocabulary.wire import decode_result

from .tables import players, results, skipped

log = structlog.get_logger(__name__)

_PAGE: Final = 2000
"""Results read and folded at a time when a game is folded again: bounds memory and the event loop's rest."""


class Read(Struct, frozen=True):
    """A message and the result in it, or the fault that keeps it from being one."""

    message: Message
    result: Result | None
    fault: str = ""


class LadderFold:
    """Folds RESULTS into the ladders."""

    name = "rating"
    stream = RESULTS

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        """Notes every result and rates those that come first; a game with a correction is folded again."""
        read = [_read(message) for message in messages]
        await _skip(connection, [each for each in read if each.result is None])
        known = await _known(connection, {each.result.match_id for each in read if each.result is not None})
        fresh: dict[str, Result] = {}
        corrected: set[str] = set()
        rows: dict[str, dict[str, Any]] = {}
        for each in read:
            result = each.result
            if result is None:
                continue
            before = known.get(result.match_id)
            if before is not None and not corrects(result, before["game"], before["revision"]):
                continue
            if before is None:
                fresh[result.match_id] = result
            else:
                corrected.add(result.game)
            row = {
                "match_id": result.match_id,
                "sequence": before["sequence"] if before is not None else each.message.sequence,
                "revision": result.revision,
                "game": result.game,
                "stored": each.message.data,
            }
            known[result.match_id] = rows[result.match_id] = row
        await upsert(connection, results, list(rows.values()))
        for game in sorted({result.game for result in fresh.values()} - corrected):
            await _rate(connection, game, [result for result in fresh.values() if result.game == game])
        for game in sorted(corrected):
            await _fold_again(connection, game)

    async def forget(self, connection: AsyncConnection) -> None:
        """Everything: the log of results gives it again."""
        for table in (players, results, skipped):
            await connection.execute(delete(table))


def _read(message: Message) -> Read:
    """Raises Unfoldable for what newer code wrote."""
    try:
        result = decode_result(message.data)
    except UnspecifiedValue as error:
        if error.number:
            raise Unfoldable(f"result {message.subject} at sequence {message.sequence}: {error}") from error
        return Read(message, None, str(error))
    except Unreadable as error:
        return Read(message, None, str(error))
    wrong = fault(result)
    return Read(message, None if wrong else result, wrong)


async def _skip(connection: AsyncConnection, read: Iterable[Read]) -> None:
    rows = []
    for each in read:
        message = each.message
        metrics.RESULTS_SKIPPED.inc()
        log.error("result left out", event_type="result_skipped", subject=message.subject, fault=each.fault)
        rows.append({"sequence": message.sequence, "subject": message.subject, "fault": each.fault})
    await insert_new(connection, skipped, rows)


async def _known(connection: AsyncConnection, match_ids: set[str]) -> dict[str, dict[str, Any]]:
    query = select(results.c.match_id, results.c.sequence, results.c.revision, results.c.game)
    found = await connection.execute(query.where(results.c.match_id.in_(match_ids)))
    return {row["match_id"]: dict(row) for row in found.mappings()}


async def _rate(connection: AsyncConnection, game: str, fresh: Sequence[Result]) -> None:
    """Rates matches that come after everything rated before."""
    ids = {seat.player_id for result in fresh for seat in result.seats}
    query = select(players).where(players.c.game == game, players.c.player_id.in_(ids))
    found = await connection.execute(query)
    before = {row.player_id: Rated(row.mu, row.sigma, row.matches, row.last_match_ms) for row in found.all()}
    changed = await asyncio.to_thread(_rate_all, fresh, before)
    await upsert(connection, players, _rows(game, changed))


async def _fold_again(connection: AsyncConnection, game: str) -> None:
    log.info("folding a ladder again", event_type="ladder_refolded", game=game)
    ladder: Ladder = {}
    async for page in _pages(connection, game):
        ladder |= await asyncio.to_thread(_rate_stored, page, ladder)
    await connection.execute(delete(players).where(players.c.game == game))
    await insert_new(connection, players, _rows(game, ladder))


async def _pages(connection: AsyncConnection, game: str) -> AsyncIterator[Sequence[bytes]]:
    """The game's results in their order."""
    query = select(results.c.sequence, results.c.stored).where(results.c.game == game)
    after = 0
    while True:
        here = query.where(results.c.sequence > after).order_by(results.c.sequence).limit(_PAGE)
        page = (await connection.execute(here)).all()
        if not page:
            return
        yield [row.stored for row in page]
        after = page[-1].sequence


def _rate_stored(stored: Sequence[bytes], before: Ladder) -> Ladder:
    return _rate_all([decode_result(each) for each in stored], before)


def _rate_all(fresh: Sequence[Result], before: Ladder) -> Ladder:
    """Those who have changed after all these matches. Pure: runs in a thread."""
    changed: Ladder = {}
    for result in fresh:
        known = {
            seat.player_id: changed.get(seat.player_id) or before.get(seat.player_id) for seat in result.seats
        }
        changed |= rate(result, {player: rated for player, rated in known.items() if rated is not None})
    return changed


def _rows(game: str, ladder: Ladder) -> list[dict[str, Any]]:
    return [
        {
            "game": game,
            "player_id": player_id,
            "mu": rated.mu,
            "sigma": rated.sigma,
            "rating": rated.rating,
            "matches": rated.matches,
            "last_match_ms": rated.last_match_ms,
        }
        for player_id, rated in sorted(ladder.items())
    ]
