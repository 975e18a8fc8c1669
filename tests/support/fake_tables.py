"""A table instance that plays nothing: it opens what it is told to and publishes the results a test wants."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import grpc.aio
import msgspec
from nats.aio.client import Client
from nats.js.errors import BadRequestError

from majlis.chassis import broker
from majlis.chassis.journal.lease import Owner
from majlis.chassis.rejections import Edge
from majlis.chassis.tokens import Verifier, bearer
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.match import Controller, OpenMatch, Termination
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.result import Result, SeatResult
from majlis.engine.vocabulary.wire import encode_result, read_open_match
from majlis.v1 import table_pb2, table_pb2_grpc

SHARDS = 8
RENEW_S = 4.0


class _Unused(table_pb2_grpc.TableServicer):
    """What a lobby never calls; gRPC answers UNIMPLEMENTED."""

    Play = Act = View = ListMatches = ListShards = None  # type: ignore[assignment]


class FakeTables(_Unused):
    """Owns every shard. `plays` gives the places with which a match ends as soon as it is opened; None: it stays open."""

    def __init__(self, client: Client, verifier: Verifier) -> None:
        self.opened: dict[str, OpenMatch] = {}
        self.asked: Counter[str] = Counter()
        """How often each match was asked to be opened."""
        self.directed: list[tuple[str, str]] = []
        """(match id, command's stored name), in order."""
        self.refuse: RejectionCode | None = None
        self.plays: Callable[[OpenMatch], Sequence[int] | None] = lambda setup: range(1, len(setup.seats) + 1)
        self._client = client
        self._verifier = verifier
        self._tasks: set[asyncio.Task[None]] = set()

    async def OpenMatch(  # noqa: N802
        self, request: table_pb2.OpenMatchRequest, context: Any
    ) -> table_pb2.OpenMatchResponse:
        self._verifier.service(bearer(context), {"lobby"})
        self._check()
        self.asked[request.match_id] += 1
        setup = read_open_match(request.setup)
        existed = request.match_id in self.opened
        if existed and self.opened[request.match_id] != setup:
            raise Rejected(RejectionCode.MATCH_EXISTS, "opened otherwise", "take another id")
        self.opened[request.match_id] = setup
        places = self.plays(setup)
        if not existed and places is not None:
            work = asyncio.create_task(self.finish(request.match_id, places))
            self._tasks.add(work)
            work.add_done_callback(self._tasks.discard)
        return table_pb2.OpenMatchResponse(match_id=request.match_id, existed=existed)

    async def Direct(  # noqa: N802
        self, request: table_pb2.DirectRequest, context: Any
    ) -> table_pb2.DirectResponse:
        self._verifier.service(bearer(context), {"lobby"})
        self._check()
        if request.match_id not in self.opened:
            raise Rejected(RejectionCode.UNKNOWN_MATCH, "no such match", "open it first")
        self.directed.append((request.match_id, str(request.command.WhichOneof("kind"))))
        return table_pb2.DirectResponse(accepted=table_pb2.Accepted(entry=1))

    def _check(self) -> None:
        if self.refuse is not None:
            raise Rejected(self.refuse, "as the test wants it", "wait")

    async def finish(
        self,
        match_id: str,
        places: Sequence[int],
        *,
        revision: int = 1,
        absent: Sequence[int] = (),
    ) -> None:
        """Publishes a result, as a table does: once for each revision. No places: aborted."""
        setup = self.opened[match_id]
        result = Result(
            match_id=match_id,
            revision=revision,
            game=setup.game,
            tournament_id=setup.tournament_id,
            round=setup.round,
            pod=setup.pod,
            termination=Termination.PLAYED_OUT if places else Termination.ABORTED,
            seats=tuple(
                seat_result(setup, seat, places[seat] if places else 0, absent=seat in absent)
                for seat in range(len(setup.seats))
            ),
            entries=9,
        )
        subject = f"result.{setup.game}.{match_id}.{revision}"
        headers = {"Nats-Expected-Last-Subject-Sequence": "0"}
        with contextlib.suppress(BadRequestError):  # it is there already
            await self._client.jetstream().publish(subject, encode_result(result), headers=headers)


def seat_result(setup: OpenMatch, seat: int, place: int, *, absent: bool) -> SeatResult:
    one = setup.seats[seat]
    return SeatResult(
        player_id=one.player_id,
        place=place,
        total=10 * place,
        own_moves=0 if absent else 7,
        computer_moves=7 if absent else 0,
        controller=Controller.COMPUTER if absent else one.controller,
        opened_as_computer=one.controller is Controller.COMPUTER,
    )


@contextlib.asynccontextmanager
async def fake_tables(client: Client, verifier: Verifier) -> AsyncIterator[FakeTables]:
    """Serves it and keeps it in the bucket of owners."""
    tables = FakeTables(client, verifier)
    server = grpc.aio.server(interceptors=[Edge(lambda: True)])
    table_pb2_grpc.add_TableServicer_to_server(tables, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    bucket = await broker.shards_bucket(client.jetstream())
    owner = msgspec.json.encode(Owner(instance="table-x", address=address, renewed_ms=0, epoch=1))

    stop = asyncio.Event()

    async def own() -> None:
        while not stop.is_set():
            for shard in range(SHARDS):
                await bucket.put(f"match.{shard}", owner)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RENEW_S):
                    await stop.wait()

    owning = asyncio.create_task(own())
    try:
        yield tables
    finally:
        stop.set()
        await owning
        await server.stop(0)
