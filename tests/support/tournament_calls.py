"""Calls to a lobby's tournaments, as tests make them; the tournament is called `cup`."""

from __future__ import annotations

import secrets
from typing import Any

from majlis.engine.vocabulary.tournament import (
    TournamentStage,
)
from majlis.engine.vocabulary.wire import fill_tournament_command
from majlis.v1 import lobby_pb2, match_pb2, tournament_pb2
from tests.support.lobby import Lobby, Platform, until

FINISHED = TournamentStage.FINISHED


def setup(**more: Any) -> tournament_pb2.TournamentSetup:
    fields: dict[str, Any] = {"name": "Winter cup", "game": "sounding", "rounds": 2, "pod_size": 4}
    return tournament_pb2.TournamentSetup(**(fields | more))


async def create(lobby: Lobby, tournament_id: str = "cup", **more: Any) -> str:
    request = lobby_pb2.CreateTournamentRequest(tournament_id=tournament_id, setup=setup(**more))
    return str((await lobby.stub.CreateTournament(request, metadata=lobby.director())).tournament_id)


async def enter_computers(lobby: Lobby, count: int, tournament_id: str = "cup") -> list[str]:
    request = lobby_pb2.RegisterRequest(
        tournament_id=tournament_id, controller=match_pb2.CONTROLLER_COMPUTER, count=count
    )
    return list((await lobby.stub.Register(request, metadata=lobby.director())).entrant_ids)


async def enter_person(lobby: Lobby, name: str, tournament_id: str = "cup") -> tuple[str, Any]:
    player_id, token = await lobby.sign_in(name)
    request = lobby_pb2.RegisterRequest(tournament_id=tournament_id, controller=match_pb2.CONTROLLER_PERSON)
    await lobby.stub.Register(request, metadata=token)
    return player_id, token


def direct(lobby: Lobby, command: Any, *, token: Any = None, command_id: str = "") -> Any:
    request = lobby_pb2.DirectTournamentRequest(
        tournament_id="cup", command_id=command_id or secrets.token_hex(8)
    )
    fill_tournament_command(request.command, command)
    return lobby.stub.Direct(request, metadata=token or lobby.director())


async def finished(lobby: Lobby, tournament_id: str = "cup") -> None:
    await until(lambda: lobby.hall.get(tournament_id).stage is FINISHED)


async def playing(lobby: Lobby, world: Platform, matches: int) -> None:
    await until(lambda: lobby.hall.get("cup").round > 0 and len(world.tables.opened) >= matches)
