"""The Rating service's gRPC face."""

from __future__ import annotations

from typing import Any, Final

import grpc.aio
import structlog
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.projection import Projection, Stopped
from majlis.chassis.sql import check_key, reading
from majlis.chassis.tokens import Verifier, bearer
from majlis.engine import registry
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import rating_pb2, rating_pb2_grpc

from .tables import players, results

log = structlog.get_logger(__name__)

PAGE: Final = 100
MAX_PAGE: Final = 1000
Context = grpc.aio.ServicerContext[Any, Any]


class RatingServicer(rating_pb2_grpc.RatingServicer):
    """Reads ladders; folds them anew for operators."""

    def __init__(self, engine: AsyncEngine, projection: Projection, verifier: Verifier) -> None:
        self._engine = engine
        self._projection = projection
        self._verifier = verifier

    async def GetLadder(
        self, request: rating_pb2.GetLadderRequest, context: Context
    ) -> rating_pb2.GetLadderResponse:
        registry.game(request.game)
        of_game = players.c.game == request.game
        page = select(players).where(of_game).order_by(players.c.rating.desc(), players.c.player_id)
        rows = await self._find(page.limit(min(request.limit or PAGE, MAX_PAGE)).offset(request.offset))
        total = (await self._find(select(func.count()).select_from(players).where(of_game)))[0][0]
        told: list[rating_pb2.PlayerRating] = []
        rank = await self._rank(rows[0]) if rows else 0
        for place, row in enumerate(rows, start=request.offset + 1):
            if told and row.rating != told[-1].rating:
                rank = place
            told.append(_player(row, rank))
        return rating_pb2.GetLadderResponse(players=told, total=total)

    async def GetPlayer(
        self, request: rating_pb2.GetPlayerRequest, context: Context
    ) -> rating_pb2.GetPlayerResponse:
        player_id = check_key(request.player_id, "player id")
        his = select(players).where(players.c.player_id == player_id).order_by(players.c.game)
        rows = await self._find(his)
        if not rows:
            raise Rejected(
                RejectionCode.UNKNOWN_PLAYER,
                f"no rated match of a player {request.player_id[:80]!r} is known",
                "check the id; a player is rated from the first finished match on",
            )
        return rating_pb2.GetPlayerResponse(ratings=[_player(row, await self._rank(row)) for row in rows])

    async def Rebuild(
        self, request: rating_pb2.RebuildRequest, context: Context
    ) -> rating_pb2.RebuildResponse:
        claims = self._verifier.service(bearer(context), {"operator"})
        metrics.OPERATOR_ACTIONS.labels("rating_rebuild", claims.role).inc()
        log.warning(
            "ladders are rebuilt", event_type="operator_action", action="rating_rebuild", by=claims.name
        )
        await self._projection.rebuild()
        try:
            await self._projection.catch_up()
        except Stopped as stopped:
            raise Rejected(
                RejectionCode.UNAVAILABLE,
                f"the ladders stand still: {stopped}",
                "see the log of the rating service; a message of newer code needs that newer Majlis",
            ) from stopped
        count = (await self._find(select(func.count()).select_from(results)))[0][0]
        return rating_pb2.RebuildResponse(results=count)

    async def _rank(self, row: Any) -> int:
        """1 + how many are rated higher: equal ratings share a rank."""
        higher = (players.c.game == row.game) & (players.c.rating > row.rating)
        return 1 + int((await self._find(select(func.count()).select_from(players).where(higher)))[0][0])

    async def _find(self, query: Select[Any]) -> list[Any]:
        async with reading(self._engine) as connection:
            return list((await connection.execute(query)).all())


def _player(row: Any, rank: int) -> rating_pb2.PlayerRating:
    return rating_pb2.PlayerRating(
        rank=rank,
        player_id=row.player_id,
        game=row.game,
        mu=row.mu,
        sigma=row.sigma,
        rating=row.rating,
        matches=row.matches,
        last_match_ms=row.last_match_ms,
    )
