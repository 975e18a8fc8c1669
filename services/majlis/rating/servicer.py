"""The Rating service's gRPC face."""

from __future__ import annotations

from typing import Any, Final

import grpc.aio
import structlog
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.projection import Projection
from majlis.chassis.sql import reading
from majlis.chassis.tokens import Verifier, bearer
from majlis.engine.decider import Rejected
from majlis.engine.registry import game
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import rating_pb2, rating_pb2_grpc

from .schema import ladder, results

log = structlog.get_logger(__name__)

MAX_LISTED: Final = 1000
Context = grpc.aio.ServicerContext[Any, Any]


class RatingServicer(rating_pb2_grpc.RatingServicer):
    """Shows the ladders; an operator may have them folded again."""

    def __init__(self, engine: AsyncEngine, projection: Projection, verifier: Verifier) -> None:
        self._engine = engine
        self._projection = projection
        self._verifier = verifier

    async def GetLadder(
        self, request: rating_pb2.GetLadderRequest, context: Context
    ) -> rating_pb2.GetLadderResponse:
        game(request.game)
        mine = ladder.c.game == request.game
        ranked = select(ladder).where(mine).order_by(ladder.c.shown.desc(), ladder.c.player_id)
        rows = await self._find(ranked.limit(min(request.limit or 100, MAX_LISTED)).offset(request.offset))
        total = (await self._find(select(func.count()).select_from(ladder).where(mine)))[0][0]
        players = [_message(row, request.offset + n) for n, row in enumerate(rows, 1)]
        return rating_pb2.GetLadderResponse(players=players, total=total)

    async def GetPlayer(
        self, request: rating_pb2.GetPlayerRequest, context: Context
    ) -> rating_pb2.GetPlayerResponse:
        rows = await self._find(
            select(ladder).where(ladder.c.player_id == request.player_id).order_by(ladder.c.game)
        )
        if not rows:
            raise Rejected(
                RejectionCode.UNKNOWN_PLAYER,
                f"player {request.player_id[:80]!r} has no rating",
                "a rating begins with the first finished match",
            )
        return rating_pb2.GetPlayerResponse(ratings=[_message(row, await self._rank(row)) for row in rows])

    async def _rank(self, row: Any) -> int:
        """1 + those above, by the order in which the ladder is shown."""
        above = (ladder.c.shown > row.shown) | (
            (ladder.c.shown == row.shown) & (ladder.c.player_id < row.player_id)
        )
        query = select(func.count()).select_from(ladder).where(ladder.c.game == row.game, above)
        return int((await self._find(query))[0][0]) + 1

    async def Rebuild(
        self, request: rating_pb2.RebuildRequest, context: Context
    ) -> rating_pb2.RebuildResponse:
        claims = self._verifier.service(bearer(context), {"operator"})
        metrics.OPERATOR_ACTIONS.labels("rebuild_ratings", claims.role).inc()
        log.info("ladders forgotten and folded again", event_type="ratings_rebuilt", by=claims.name)
        await self._projection.rebuild()
        await self._projection.catch_up()
        counted = (await self._find(select(func.count()).select_from(results)))[0][0]
        return rating_pb2.RebuildResponse(results=counted)

    async def _find(self, query: Select[Any]) -> list[Any]:
        async with reading(self._engine) as connection:
            return list((await connection.execute(query)).all())


def _message(row: Any, rank: int) -> rating_pb2.PlayerRating:
    return rating_pb2.PlayerRating(
        rank=rank,
        player_id=row.player_id,
        game=row.game,
        mu=row.mu,
        sigma=row.sigma,
        rating=row.shown,
        matches=row.matches,
        last_match_ms=row.last_match_ms,
    )
