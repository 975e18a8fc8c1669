"""The Lobby service's gRPC face: checks who asks, converts, hands on."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc.aio

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.tokens import Signer, bearer
from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act, standings
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import ComputerLevel, Controller
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.tournament import (
    BookNoShow,
    BookResult,
    CreateTournament,
    Entrant,
    PairRound,
    RegisterEntrant,
    ReturnEntrant,
    TournamentCommand,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import (
    TOURNAMENT_COMMAND_NAMES,
    fill_pod,
    fill_standing,
    read_option,
    read_tournament_command,
)
from majlis.v1 import lobby_pb2, lobby_pb2_grpc, match_pb2

from . import tournaments
from .hall import Hall
from .instances import TableInstances
from .players import Players
from .tables import CasualTables, casual_setup

STAFF: Final = frozenset({"director", "operator"})
PLAYER_TOKEN_S: Final = 7 * 24 * 3600
MAX_LISTED: Final = 1000
WATCH_EVERY_S: Final = 0.1
_OURS: Final = (BookNoShow, BookResult, CreateTournament, PairRound, RegisterEntrant)
_ENTRANTS_OWN: Final = (WithdrawEntrant, ReturnEntrant)
Context = grpc.aio.ServicerContext[Any, Any]


class LobbyServicer(lobby_pb2_grpc.LobbyServicer):
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
        self._hall = hall
        self._players = players
        self._tables = tables
        self._instances = instances
        self._signer = signer
        self._verifier = signer.verifier
        self._clock = clock

    # --- players and tables -----------------------------------------------------------------------------------------

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
            _level(request.level),
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

    # --- tournaments ------------------------------------------------------------------------------------------------

    async def CreateTournament(
        self, request: lobby_pb2.CreateTournamentRequest, context: Context
    ) -> lobby_pb2.CreateTournamentResponse:
        claims = self._verifier.service(bearer(context), STAFF)
        setup = tournaments.read_setup(request.setup)
        tournament_id = tournaments.check_id(request.tournament_id or tournaments.made_id(setup.name))
        if not request.tournament_id and self._hall.is_taken(tournament_id):
            tournament_id = f"{tournament_id[:34]}-{secrets.token_hex(2)}"
        act = self._act(
            ActorKind.DIRECTOR, claims.name, f"create-{tournament_id}", CreateTournament(setup=setup)
        )
        await self._hall.submit(tournament_id, act)
        return lobby_pb2.CreateTournamentResponse(tournament_id=tournament_id)

    async def Register(
        self, request: lobby_pb2.RegisterRequest, context: Context
    ) -> lobby_pb2.RegisterResponse:
        state = self._hall.get(request.tournament_id)
        if request.controller == match_pb2.CONTROLLER_COMPUTER:
            claims = self._verifier.service(bearer(context), STAFF)
            entrants = tournaments.computer_entrants(
                state, request.name or "Computer", _level(request.level), request.count or 1
            )
            who = ActorKind.DIRECTOR, claims.name
        else:
            player = self._verifier.player(bearer(context))
            entrants = [
                Entrant(
                    entrant_id=player.player_id,
                    name=player.name,
                    player_ids=(player.player_id,),
                    controller=Controller.PERSON,
                )
            ]
            who = ActorKind.SEAT, player.player_id
        acts = [
            self._act(*who, f"register-{secrets.token_hex(8)}", RegisterEntrant(entrant=one))
            for one in entrants
        ]
        await asyncio.gather(*(self._hall.submit(request.tournament_id, act) for act in acts))
        return lobby_pb2.RegisterResponse(entrant_ids=[one.entrant_id for one in entrants])

    async def Direct(
        self, request: lobby_pb2.DirectTournamentRequest, context: Context
    ) -> lobby_pb2.DirectTournamentResponse:
        if not 1 <= len(request.command_id) <= 64:
            raise Rejected(
                RejectionCode.MALFORMED,
                "the command has no usable id",
                "give it 1 to 64 characters of your own",
            )
        try:
            command = read_tournament_command(request.command)
        except Unreadable as error:
            raise Rejected(RejectionCode.MALFORMED, str(error), "set exactly one command") from error
        kind, name = self._who_directs(bearer(context), command)
        number = await self._hall.submit(
            request.tournament_id, self._act(kind, name, request.command_id, command)
        )
        return lobby_pb2.DirectTournamentResponse(entry=number)

    def _who_directs(self, token: str, command: TournamentCommand) -> tuple[ActorKind, str]:
        """Directors direct; an entrant may withdraw itself and come back."""
        if isinstance(command, _OURS):
            raise Rejected(
                RejectionCode.FORBIDDEN,
                f"{TOURNAMENT_COMMAND_NAMES[type(command)]} is not given by Direct",
                "the lobby does that itself, or there is a call of its own for it",
            )
        if isinstance(command, _ENTRANTS_OWN):
            try:
                player = self._verifier.player(token)
            except Rejected:
                player = None
            if player is not None:
                if player.player_id != command.entrant_id:
                    raise Rejected(RejectionCode.FORBIDDEN, "that entrant is not you", "ask the director")
                return ActorKind.SEAT, player.player_id
        claims = self._verifier.service(token, STAFF)
        metrics.OPERATOR_ACTIONS.labels(TOURNAMENT_COMMAND_NAMES[type(command)], claims.role).inc()
        return ActorKind.DIRECTOR, claims.name

    async def GetTournament(
        self, request: lobby_pb2.GetTournamentRequest, context: Context
    ) -> lobby_pb2.GetTournamentResponse:
        return lobby_pb2.GetTournamentResponse(
            tournament=tournaments.summary(self._hall.get(request.tournament_id))
        )

    async def ListTournaments(
        self, request: lobby_pb2.ListTournamentsRequest, context: Context
    ) -> lobby_pb2.ListTournamentsResponse:
        newest = sorted(self._hall.stored.values(), key=lambda state: -state.created_at_ms)
        limit = min(request.limit or 100, MAX_LISTED)
        return lobby_pb2.ListTournamentsResponse(tournaments=map(tournaments.summary, newest[:limit]))

    async def GetStandings(
        self, request: lobby_pb2.GetStandingsRequest, context: Context
    ) -> lobby_pb2.GetStandingsResponse:
        state = self._hall.get(request.tournament_id)
        after = state.round if not state.rounds or state.rounds[-1].finished else state.round - 1
        response = lobby_pb2.GetStandingsResponse(after_round=after)
        for line in state.final_standings or standings(state):
            fill_standing(response.standings.add(), line)
        return response

    async def GetPairings(
        self, request: lobby_pb2.GetPairingsRequest, context: Context
    ) -> lobby_pb2.GetPairingsResponse:
        state = self._hall.get(request.tournament_id)
        number = request.round or state.round
        if not 1 <= number <= state.round:
            raise Rejected(
                RejectionCode.WRONG_STAGE,
                f"round {number} of {request.tournament_id} has not been paired",
                f"{state.round} rounds have been paired so far",
            )
        paired = state.rounds[number - 1]
        response = lobby_pb2.GetPairingsResponse(round=number, byes=paired.byes)
        for one in paired.pods:
            pod = response.pods.add(places=one.places, scores=one.scores, totals=one.totals)
            pod.status = int(one.status)  # type: ignore[assignment]
            fill_pod(pod.pod, one.pod)
        return response

    async def Watch(
        self, request: lobby_pb2.WatchRequest, context: Context
    ) -> AsyncIterator[lobby_pb2.WatchResponse]:
        """A slow watcher misses states in between, never the newest."""
        while True:
            state = self._hall.get(request.tournament_id)
            yield lobby_pb2.WatchResponse(tournament=tournaments.summary(state))
            if self._hall.get(request.tournament_id) is state:
                await self._hall.changed(request.tournament_id)
            await self._clock.sleep(WATCH_EVERY_S)

    def _act(self, kind: ActorKind, actor_id: str, command_id: str, command: TournamentCommand) -> Act:
        return Act(
            actor_kind=kind,
            actor_id=actor_id,
            command_id=command_id,
            command=command,
            received_at_ms=self._clock.now_ms(),
        )


def _level(number: int) -> ComputerLevel:
    """The level asked for; club where nothing is said. Raises Rejected(MALFORMED)."""
    try:
        return ComputerLevel(number) if number else ComputerLevel.CLUB
    except ValueError:
        raise Rejected(
            RejectionCode.MALFORMED, f"there is no level {number}", "choose novice, club or expert"
        ) from None
