"""The Lobby service's gRPC face for players and tables: checks who asks, converts, hands on."""

from __future__ import annotations

from typing import Final

from majlis.chassis.clock import Clock
from majlis.chassis.tokens import Signer, bearer
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import read_option
from majlis.v1 import lobby_pb2

from .hall import Hall
from .instances import TableInstances
from .players import Players
from .tables import CasualTables, casual_setup
from .tournament_servicer import MAX_LISTED, Context, TournamentServicer, level_of

PLAYER_TOKEN_S: Final = 7 * 24 * 3600


class LobbyServicer(TournamentServicer):
    """Players, tables and tournaments."""

    def __init__(
        self,
        hall: Hall,
        players: Players,
        tables: CasualTables,
        instances: TableInstances,
        signer: Signer,
        clock: Clock,
    ) -> None:
        super().__init__(hall, signer, clock)
        self._players = players
        self._tables = tables
        self._instances = instances
        self._signer = signer

    async def SignIn(self, request: lobby_pb2.SignInRequest, context: Context) -> lobby_pb2.SignInResponse:
        player_id, name = await self._players.sign_in(request.name)
        return lobby_pb2.SignInResponse(
            player_id=player_id,
            token=self._signer.player(player_id, name, PLAYER_TOKEN_S),
            expires_at_ms=self._signer.expires_at_ms(PLAYER_TOKEN_S),
        )

    async def OpenTable(
        self, request: lobby_pb2.OpenTableRequest, context: Context
    ) -> lobby_pb2.OpenTableResponse:
        player = self._verifier.player(bearer(context))
        setup = casual_setup(
            request.game,
            request.seats,
            request.computers,
            level_of(request.level),
            options=tuple(read_option(option) for option in request.options),
            thinking_percent=request.thinking_percent,
            seating_timeout_ms=request.seating_timeout_ms,
            rules_version=request.rules_version,
        )
        place = await self._tables.open(player.player_id, request.request_id, setup)
        return lobby_pb2.OpenTableResponse(
            match_id=place.match_id,
            seat_token=self._signer.seat(place.match_id, place.seat, player.player_id),
            seat=place.seat,
            table_address=self._instances.lookup.address_of(place.match_id),
        )

    async def JoinTable(
        self, request: lobby_pb2.JoinTableRequest, context: Context
    ) -> lobby_pb2.JoinTableResponse:
        player = self._verifier.player(bearer(context))
        place = await self._tables.join(player.player_id, request.match_id)
        return lobby_pb2.JoinTableResponse(
            seat_token=self._signer.seat(place.match_id, place.seat, player.player_id),
            seat=place.seat,
            table_address=self._instances.lookup.address_of(place.match_id),
        )

    async def ListTables(
        self, request: lobby_pb2.ListTablesRequest, context: Context
    ) -> lobby_pb2.ListTablesResponse:
        found = await self._tables.waiting(request.game, min(request.limit or 100, MAX_LISTED))
        return lobby_pb2.ListTablesResponse(
            tables=[
                lobby_pb2.OpenTableSummary(
                    match_id=one.match_id,
                    game=one.game,
                    seats=one.seats,
                    free=sum(not player_id for player_id in one.player_ids),
                    player_ids=one.player_ids,
                )
                for one in found
            ]
        )

    async def FindMatch(
        self, request: lobby_pb2.FindMatchRequest, context: Context
    ) -> lobby_pb2.FindMatchResponse:
        owner = self._instances.lookup.owner_of(request.match_id)
        return lobby_pb2.FindMatchResponse(
            match_id=request.match_id, table_address=owner.address, owner=owner.instance
        )

    async def GetSeat(self, request: lobby_pb2.GetSeatRequest, context: Context) -> lobby_pb2.GetSeatResponse:
        player = self._verifier.player(bearer(context))
        seat = self._tournament_seat(request.match_id, player.player_id)
        if seat is None:
            seat = await self._tables.seat_of(request.match_id, player.player_id)
        if seat is None:
            raise Rejected(
                RejectionCode.WRONG_SEAT,
                f"you have no seat at match {request.match_id[:80]!r}",
                "GetPairings says who plays where",
            )
        return lobby_pb2.GetSeatResponse(
            seat_token=self._signer.seat(request.match_id, seat, player.player_id),
            seat=seat,
            table_address=self._instances.lookup.address_of(request.match_id),
        )

    def _tournament_seat(self, match_id: str, player_id: str) -> int | None:
        place = self._hall.place_of(match_id)
        if place is None:
            return None
        state = self._hall.get(place[0])
        pod = state.pod(place[1], place[2])
        for seat, entrant_id in enumerate(pod.entrants if pod is not None else ()):
            if player_id in (state.entrants[entrant_id].entrant.player_ids or (entrant_id,)):
                return seat
        return None
