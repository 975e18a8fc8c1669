"""The lobby's tournament calls, as a director makes them."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from typing import Final

import grpc

from majlis.chassis.tokens import credentials
from majlis.cli.calls import AGAIN_S, channel, persist, token, unavailable
from majlis.v1 import lobby_pb2, tournament_pb2
from majlis.v1.lobby_pb2_grpc import LobbyStub

ENDED: Final = (tournament_pb2.TOURNAMENT_STAGE_FINISHED, tournament_pb2.TOURNAMENT_STAGE_ABORTED)

Summary = lobby_pb2.TournamentSummary


async def create(tournament_id: str, setup: tournament_pb2.TournamentSetup) -> str:
    """The new tournament's id."""
    async with channel("lobby") as opened:
        request = lobby_pb2.CreateTournamentRequest(tournament_id=tournament_id, setup=setup)
        created = await LobbyStub(opened).CreateTournament(request, metadata=token("director"))
        return created.tournament_id


async def register(request: lobby_pb2.RegisterRequest, guest: str = "") -> tuple[list[str], str]:
    """The entrants' ids; a person enters as a guest of that name, whose token comes back too."""
    async with channel("lobby") as opened:
        lobby = LobbyStub(opened)
        metadata, player_token = token("director"), ""
        if guest:
            player_token = (await lobby.SignIn(lobby_pb2.SignInRequest(name=guest))).token
            metadata = credentials(player_token)
        registered = await lobby.Register(request, metadata=metadata)
        return list(registered.entrant_ids), player_token


async def direct(tournament_id: str, command: tournament_pb2.TournamentCommand, for_s: float = 5.0) -> int:
    """The number of the entry. Repeated while the lobby is away, at most so long: the command id makes that safe."""
    request = lobby_pb2.DirectTournamentRequest(
        tournament_id=tournament_id, command_id=secrets.token_hex(8), command=command
    )
    async with channel("lobby") as opened:
        lobby = LobbyStub(opened)
        answer = await persist(lambda: lobby.Direct(request, metadata=token("director")), for_s=for_s)
        return answer.entry


async def get(tournament_id: str) -> Summary:
    async with channel("lobby") as opened:
        request = lobby_pb2.GetTournamentRequest(tournament_id=tournament_id)
        return (await LobbyStub(opened).GetTournament(request, metadata=token())).tournament


async def list_all(limit: int) -> list[Summary]:
    async with channel("lobby") as opened:
        request = lobby_pb2.ListTournamentsRequest(limit=limit)
        return list((await LobbyStub(opened).ListTournaments(request, metadata=token())).tournaments)


async def standings(tournament_id: str) -> lobby_pb2.GetStandingsResponse:
    async with channel("lobby") as opened:
        lobby = LobbyStub(opened)
        request = lobby_pb2.GetStandingsRequest(tournament_id=tournament_id)
        return await persist(lambda: lobby.GetStandings(request, metadata=token()), for_s=5)


async def pairings(tournament_id: str, round_number: int) -> lobby_pb2.GetPairingsResponse:
    async with channel("lobby") as opened:
        lobby = LobbyStub(opened)
        request = lobby_pb2.GetPairingsRequest(tournament_id=tournament_id, round=round_number)
        return await persist(lambda: lobby.GetPairings(request, metadata=token()), for_s=5)


async def watch(tournament_id: str, see: Callable[[Summary], None], for_s: float = 60.0) -> Summary:
    """Shows every change until the tournament has ended; returns its end. A lobby that has answered may be away for so long
    (it is started again); one that never has is not waited for."""
    request = lobby_pb2.WatchRequest(tournament_id=tournament_id)
    patience_ends = 0.0
    async with channel("lobby") as opened:
        while True:
            try:
                async for told in LobbyStub(opened).Watch(request, metadata=token()):
                    patience_ends = math.inf
                    see(told.tournament)
                    if told.tournament.stage in ENDED:
                        return told.tournament
            except grpc.RpcError as error:
                patience_ends = min(patience_ends, time.monotonic() + for_s)
                if not unavailable(error) or time.monotonic() >= patience_ends:
                    raise
            await asyncio.sleep(AGAIN_S)
