"""Calls to table instances: finds the owner of a match's shard and speaks to it as the lobby."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import grpc
import grpc.aio

from majlis.chassis.lookup import Lookup
from majlis.chassis.rejections import rejected_from
from majlis.chassis.service import open_channel
from majlis.chassis.tokens import Signer, credentials
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import OpenMatch
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import fill_command, fill_open_match
from majlis.v1 import table_pb2
from majlis.v1.table_pb2_grpc import TableStub

CALL_S: Final = 5.0
PASSING: Final = frozenset({RejectionCode.UNAVAILABLE, RejectionCode.DRAINING, RejectionCode.MOVED})
"""Refusals that say nothing about the request: the same one may be accepted in a moment."""
Answer = TypeVar("Answer")


class TableInstances:
    """One channel to each instance, kept open."""

    def __init__(self, lookup: Lookup, signer: Signer) -> None:
        self.lookup = lookup
        self._signer = signer
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def open_match(self, match_id: str, setup: OpenMatch) -> None:
        """Opens a match; opening it again is opening it once. Raises Rejected (UNAVAILABLE: try again)."""
        request = table_pb2.OpenMatchRequest(match_id=match_id)
        fill_open_match(request.setup, setup)
        await self._call(match_id, lambda stub: stub.OpenMatch(request, **self._as_lobby()))

    async def direct(self, match_id: str, command_id: str, command: Command, director: str) -> None:
        """Gives a director's command to a match. Raises Rejected."""
        request = table_pb2.DirectRequest(match_id=match_id, command_id=command_id, director_id=director)
        fill_command(request.command, command)
        await self._call(match_id, lambda stub: stub.Direct(request, **self._as_lobby()))

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()

    def _as_lobby(self) -> dict[str, Any]:
        return {"metadata": credentials(self._signer.service("lobby", "lobby")), "timeout": CALL_S}

    async def _call(self, match_id: str, call: Callable[[Any], Awaitable[Answer]]) -> Answer:
        address = self.lookup.address_of(match_id)
        if address not in self._channels:
            self._channels[address] = open_channel(address)
        try:
            return await call(TableStub(self._channels[address]))
        except grpc.RpcError as error:
            rejected = rejected_from(error)
            if rejected is not None and rejected.code is not RejectionCode.MOVED:
                raise rejected from error
            raise Rejected(
                RejectionCode.UNAVAILABLE,
                f"the table instance at {address} did not answer for match {match_id}",
                "try again in a second",
            ) from error
