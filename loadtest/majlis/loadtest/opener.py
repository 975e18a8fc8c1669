"""Opens matches for load players, as the lobby would: with a service token, and seat tokens of its own signing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import grpc.aio
from msgspec import Struct

from majlis.chassis.tokens import Signer, credentials
from majlis.engine.ids import match_id
from majlis.loadtest.directory import Directory
from majlis.v1 import match_pb2, table_pb2

_TIMEOUT_S: Final = 5.0
_AGAIN_S: Final = 0.2
_PASSING: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})


class Opened(Struct, frozen=True):
    """A match that waits for its players: one token a seat."""

    match_id: str
    tokens: tuple[str, ...]


class Opener:
    """Opens one match after another; `run` keeps the ids of different runs apart."""

    def __init__(
        self,
        directory: Directory,
        signer: Signer,
        run: str,
        *,
        game: str,
        seats: int,
        shards: int,
        options: Mapping[str, str],
    ) -> None:
        self.game = game
        self.options = options
        self._directory = directory
        self._signer = signer
        self._run = run
        self._seats = seats
        self._shards = shards
        self._number = 0

    async def open(self) -> Opened:
        """Opens the next match, however often it takes."""
        self._number += 1
        made = match_id(self._shards, "loadtest", self._run, self._number)
        players = [f"load-{self._run}-{self._number}-{seat}" for seat in range(self._seats)]
        request = table_pb2.OpenMatchRequest(match_id=made, setup=self._setup(players))
        while not await self._opened(request):
            await asyncio.sleep(_AGAIN_S)
            await self._directory.refresh()
        return Opened(made, tuple(self._signer.seat(made, seat, who) for seat, who in enumerate(players)))

    def _setup(self, players: list[str]) -> match_pb2.OpenMatch:
        return match_pb2.OpenMatch(
            game=self.game,
            options=[match_pb2.Option(name=name, value=value) for name, value in self.options.items()],
            seats=[
                match_pb2.SeatSetup(player_id=player, controller=match_pb2.CONTROLLER_PERSON)
                for player in players
            ],
        )

    async def _opened(self, request: table_pb2.OpenMatchRequest) -> bool:
        """Whether the match is open now. Raises AioRpcError where it never will be."""
        address = self._directory.address_of(request.match_id)
        if address is None:
            return False
        token = credentials(self._signer.service("lobby", "loadtest"))
        try:
            await self._directory.stub(address).OpenMatch(request, metadata=token, timeout=_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            if error.code() in _PASSING:
                return False
            raise
        return True
