"""A table rig behind a real gRPC server, with tokens for everybody; and a Play stream as a client holds it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.lookup import Lookup
from majlis.chassis.rejections import Edge, rejected_from
from majlis.chassis.service import CLIENT_OPTIONS, SERVER_OPTIONS
from majlis.chassis.tokens import Signer
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.table.servicer import TableServicer
from majlis.v1 import entry_pb2, match_pb2, table_pb2, table_pb2_grpc
from tests.support.table import MATCH, Rig, rig


class FixedSeeds:
    def draw(self) -> bytes:
        return bytes(range(32))


class Edged:
    """A rig behind a real gRPC server, with tokens for everybody."""

    def __init__(self, table: Rig, channel: grpc.aio.Channel, signer: Signer) -> None:
        self.table = table
        self.stub: Any = table_pb2_grpc.TableStub(channel)
        self.signer = signer

    def seat_token(self, seat: int, match_id: str = MATCH) -> str:
        return self.signer.seat(match_id, seat, f"p{seat}")

    async def refused(self, call: Any) -> RejectionCode:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call
        rejected = rejected_from(error.value)
        assert rejected is not None, error.value
        assert rejected.detail
        assert rejected.remedy
        return rejected.code


@contextlib.asynccontextmanager
async def edge() -> AsyncIterator[Edged]:
    async with rig() as table:
        signer = Signer(Ed25519PrivateKey.generate())
        lookup: Any = Lookup.__new__(Lookup)
        servicer = TableServicer(table.host, signer.verifier, lookup, FixedSeeds(), table.clock)
        server = grpc.aio.server(interceptors=[Edge(lambda: True)], options=SERVER_OPTIONS)
        table_pb2_grpc.add_TableServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CLIENT_OPTIONS) as channel:
            yield Edged(table, channel, signer)
        await server.stop(0)


def take_seat() -> entry_pb2.Command:
    return entry_pb2.Command(take_seat=match_pb2.TakeSeat())


class Stream:
    """A Play stream as a client holds it."""

    def __init__(self, edged: Edged) -> None:
        self.call = edged.stub.Play()
        self.views: dict[str, bytes] = {}
        self.private: dict[int, bytes] = {}
        self.version: dict[int, int] = {}
        self.answers: dict[str, table_pb2.Answer] = {}
        self.attached: dict[int, table_pb2.Attached] = {}

    async def send(self, **fields: Any) -> None:
        await self.call.write(table_pb2.PlayUp(**fields))

    async def read(self) -> table_pb2.PlayDown:
        frame: table_pb2.PlayDown = await asyncio.wait_for(self.call.read(), 5)
        assert frame.ByteSize() <= 64 * 1024
        for update in frame.updates:
            self.views[update.match_id] = update.public
            for route in update.routes:
                self.private[route.route] = route.private
                assert route.view_version > self.version.get(route.route, 0)
                self.version[route.route] = route.view_version
        self.answers |= {answer.command_id: answer for answer in frame.answers}
        self.attached |= {attached.route: attached for attached in frame.attached}
        return frame
