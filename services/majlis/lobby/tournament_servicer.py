"""The Lobby service's gRPC face for tournaments: checks who asks, converts, hands on."""

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
from majlis.engine.tournament import Act, TournamentState, standings
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
    Standing,
    TournamentCommand,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import (
    TOURNAMENT_COMMAND_NAMES,
    fill_pod,
    fill_standing,
    read_tournament_command,
)
from majlis.v1 import lobby_pb2, lobby_pb2_grpc, match_pb2

from . import tournaments
from .hall import Hall
from .names import clean_name

STAFF: Final = frozenset({"director", "operator"})
MAX_LISTED: Final = 1000
WATCH_EVERY_S: Final = 0.1
_OURS: Final = (BookNoShow, BookResult, CreateTournament, PairRound, RegisterEntrant)
_ENTRANTS_OWN: Final = (WithdrawEntrant, ReturnEntrant)
Context = grpc.aio.ServicerContext[Any, Any]


class TournamentServicer(lobby_pb2_grpc.LobbyServicer):
    """Everything about tournaments."""

    def __init__(self, hall: Hall, signer: Signer, clock: Clock) -> None:
        self._hall = hall
        self._verifier = signer.verifier
        self._clock = clock
        self._shown: dict[str, tuple[TournamentState, tuple[Standing, ...]]] = {}

    async def CreateTournament(
        self, request: lobby_pb2.CreateTournamentRequest, context: Context
    ) -> lobby_pb2.CreateTournamentResponse:
        claims = self._verifier.service(bearer(context), STAFF)
        setup = tournaments.read_setup(request.setup)
        tournament_id = tournaments.check_id(request.tournament_id or tournaments.made_id(setup.name))
        if not request.tournament_id and self._hall.newest(tournament_id) is not None:
            tournament_id = f"{tournament_id[:34]}-{secrets.token_hex(2)}"
        existing = self._hall.newest(tournament_id)
        if existing is not None and tournaments.same_setup(existing.setup, setup):
            await self._hall.settle()  # asked for again: it exists as it was asked for
        else:
            command_id = f"create-{secrets.token_hex(8)}"
            act = self._act(ActorKind.DIRECTOR, claims.name, command_id, CreateTournament(setup=setup))
            await self._hall.submit(tournament_id, act)
        return lobby_pb2.CreateTournamentResponse(tournament_id=tournament_id)

    async def Register(
        self, request: lobby_pb2.RegisterRequest, context: Context
    ) -> lobby_pb2.RegisterResponse:
        self._hall.get(request.tournament_id)
        entrants, kind, name = self._who_enters(request, bearer(context))
        acts = [
            self._act(kind, name, f"register-{secrets.token_hex(8)}", RegisterEntrant(entrant=one))
            for one in entrants
        ]
        await asyncio.gather(*(self._hall.submit(request.tournament_id, act) for act in acts))
        return lobby_pb2.RegisterResponse(entrant_ids=[one.entrant_id for one in entrants])

    def _who_enters(
        self, request: lobby_pb2.RegisterRequest, token: str
    ) -> tuple[list[Entrant], ActorKind, str]:
        """The entrants, and whose act that is: directors enter computers, players themselves."""
        if request.controller == match_pb2.CONTROLLER_COMPUTER:
            claims = self._verifier.service(token, STAFF)
            newest = self._hall.newest(request.tournament_id) or self._hall.get(request.tournament_id)
            name = clean_name(request.name or "Computer")
            computers = tournaments.computer_entrants(
                newest, name, level_of(request.level), request.count or 1
            )
            return computers, ActorKind.DIRECTOR, claims.name
        if request.controller != match_pb2.CONTROLLER_PERSON:
            raise Rejected(
                RejectionCode.MALFORMED,
                "an entrant is a person or a computer",
                "say CONTROLLER_PERSON or CONTROLLER_COMPUTER",
            )
        player = self._verifier.player(token)
        person = Entrant(
            entrant_id=player.player_id,
            name=clean_name(request.name) if request.name else player.name,
            player_ids=(player.player_id,),
            controller=Controller.PERSON,
        )
        return [person], ActorKind.SEAT, player.player_id

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
        for line in self._standings(state):
            fill_standing(response.standings.add(), line)
        return response

    def _standings(self, state: TournamentState) -> tuple[Standing, ...]:
        """Counted once for each state: everybody asks after every change."""
        if state.final_standings:
            return state.final_standings
        counted, lines = self._shown.get(state.tournament_id, (None, ()))
        if counted is not state:
            lines = standings(state)
            self._shown[state.tournament_id] = state, lines
        return lines

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


def level_of(number: int) -> ComputerLevel:
    """The level asked for; club where nothing is said. Raises Rejected(MALFORMED)."""
    try:
        return ComputerLevel(number) if number else ComputerLevel.CLUB
    except ValueError:
        raise Rejected(
            RejectionCode.MALFORMED, f"there is no level {number}", "choose novice, club or expert"
        ) from None
