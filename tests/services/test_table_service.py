"""The Table service at its gRPC edge: who may do what, and that nothing sent to it stops it."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.lookup import Lookup
from majlis.chassis.rejections import Edge, rejected_from
from majlis.chassis.service import CLIENT_OPTIONS, SERVER_OPTIONS
from majlis.chassis.tokens import Signer, credentials
from majlis.engine import match
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import decode_match_view, decode_seat_private_view, fill_command
from majlis.table.servicer import TableServicer
from majlis.v1 import entry_pb2, match_pb2, sounding_pb2, table_pb2, table_pb2_grpc
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


def setup(persons: int = 2) -> match_pb2.OpenMatch:
    seats = [
        match_pb2.SeatSetup(player_id=f"p{i}", controller=match_pb2.CONTROLLER_PERSON) for i in range(persons)
    ]
    return match_pb2.OpenMatch(game="sounding", seats=seats)


def take_seat() -> entry_pb2.Command:
    return entry_pb2.Command(take_seat=match_pb2.TakeSeat())


async def test_only_the_lobby_opens_matches() -> None:
    async with edge() as edged:
        request = table_pb2.OpenMatchRequest(match_id=MATCH, setup=setup())
        open_match = edged.stub.OpenMatch
        assert await edged.refused(open_match(request)) is RejectionCode.UNAUTHENTICATED
        for token in (edged.signer.service("director", "d"), edged.signer.player("p0", "Zaynab")):
            code = await edged.refused(open_match(request, metadata=credentials(token)))
            assert code in {RejectionCode.FORBIDDEN, RejectionCode.UNAUTHENTICATED}
        assert edged.table.shard_host.matches == {}
        lobby = credentials(edged.signer.service("lobby", "lobby"))
        opened = await open_match(request, metadata=lobby)
        assert not opened.existed
        assert len(opened.commitment) == 32
        assert (await open_match(request, metadata=lobby)).existed
        other = table_pb2.OpenMatchRequest(match_id=MATCH, setup=setup(3))
        assert await edged.refused(open_match(other, metadata=lobby)) is RejectionCode.MATCH_EXISTS


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"game": "bridge"}, RejectionCode.UNKNOWN_GAME),
        ({"game": ""}, RejectionCode.UNKNOWN_GAME),
        ({"rules_version": 99}, RejectionCode.UNKNOWN_RULES_VERSION),
        ({"options": [match_pb2.Option(name="turn_ms", value="soon")]}, RejectionCode.BAD_OPTION),
        ({"options": [match_pb2.Option(name="no_such", value="1")]}, RejectionCode.BAD_OPTION),
        ({"seats": []}, RejectionCode.BAD_SEATS),
        ({"server_seed": b"chosen by the caller"}, RejectionCode.MALFORMED),
        ({"seats": [match_pb2.SeatSetup(player_id="p0")] * 2}, RejectionCode.MALFORMED),
        ({"deal_context": "x" * 5000}, RejectionCode.TOO_LARGE),
    ],
)
async def test_a_setup_that_cannot_be_played_is_refused_by_name(
    change: dict[str, Any], code: RejectionCode
) -> None:
    async with edge() as edged:
        asked = setup()
        for name in change:
            asked.ClearField(name)  # type: ignore[arg-type]
        asked.MergeFrom(match_pb2.OpenMatch(**change))
        lobby = credentials(edged.signer.service("lobby", "lobby"))
        before = len(edged.table.store.messages)
        request = table_pb2.OpenMatchRequest(match_id=MATCH, setup=asked)
        assert await edged.refused(edged.stub.OpenMatch(request, metadata=lobby)) is code
        assert len(edged.table.store.messages) == before


async def test_a_seat_is_reached_only_with_its_own_token() -> None:
    async with edge() as edged:
        await edged.table.open()

        def act(token: str, **change: Any) -> Any:
            request = {"match_id": MATCH, "seat_token": token, "command_id": "1", "command": take_seat()}
            request["decision_id"] = match.SEATING
            return edged.stub.Act(table_pb2.ActRequest(**{**request, **change}))

        stranger = edged.signer.seat(MATCH, 0, "somebody else")
        elsewhere = edged.signer.seat("0-zzzzzzzz", 0, "p0")
        forged = Signer(Ed25519PrivateKey.generate()).seat(MATCH, 0, "p0")
        assert await edged.refused(act("")) is RejectionCode.UNAUTHENTICATED
        assert await edged.refused(act("rubbish")) is RejectionCode.UNAUTHENTICATED
        assert await edged.refused(act(forged)) is RejectionCode.UNAUTHENTICATED
        assert (
            await edged.refused(act(edged.signer.seat(MATCH, 0, "p0", ttl_s=-1)))
            is RejectionCode.UNAUTHENTICATED
        )
        assert await edged.refused(act(elsewhere)) is RejectionCode.FORBIDDEN
        assert await edged.refused(act(stranger)) is RejectionCode.WRONG_SEAT
        assert await edged.refused(act(edged.signer.seat(MATCH, 9, "p0"))) is RejectionCode.WRONG_SEAT
        assert await edged.refused(act(edged.seat_token(0), match_id="no id")) is RejectionCode.UNKNOWN_MATCH
        assert (
            await edged.refused(act(edged.seat_token(0), match_id="0-zzzzzzzz"))
            is RejectionCode.UNKNOWN_MATCH
        )
        assert await edged.refused(act(edged.seat_token(0), command_id="")) is RejectionCode.MALFORMED
        assert await edged.refused(act(edged.seat_token(0), command_id="x" * 65)) is RejectionCode.MALFORMED
        assert (
            await edged.refused(act(edged.seat_token(0), command=entry_pb2.Command()))
            is RejectionCode.MALFORMED
        )
        accepted = (await act(edged.seat_token(0))).accepted
        assert accepted.entry == 2
        again = (await act(edged.seat_token(0))).accepted
        assert (again.entry, again.duplicate) == (2, True)


async def test_an_oversized_message_is_refused_and_the_process_lives() -> None:
    async with edge() as edged:
        await edged.table.open()
        huge = entry_pb2.Command(take_seat=match_pb2.TakeSeat(entropy=b"x" * 100_000))
        request = table_pb2.ActRequest(
            match_id=MATCH,
            seat_token=edged.seat_token(0),
            command_id="1",
            decision_id=match.SEATING,
            command=huge,
        )
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await edged.stub.Act(request)
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        request.command.take_seat.entropy = b"x" * 65
        assert await edged.refused(edged.stub.Act(request)) is RejectionCode.TOO_LARGE
        assert len(edged.table.store.messages) == 2


async def test_a_view_shows_what_is_stored_and_waits_for_a_newer_one() -> None:
    async with edge() as edged:
        await edged.table.open()
        first = await edged.stub.View(table_pb2.ViewRequest(match_id=MATCH))
        assert first.private == b""
        assert not first.HasField("seat")
        assert decode_match_view(first.public).waiting_for == (0, 1)
        newer = table_pb2.ViewRequest(
            match_id=MATCH, seat_token=edged.seat_token(1), newer_than=first.view_version, wait_ms=5000
        )
        waiting = asyncio.ensure_future(edged.stub.View(newer))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await edged.table.seat_everybody()
        seen = await waiting
        assert seen.view_version > first.view_version
        assert seen.seat == 1
        newer.wait_ms, newer.newer_than = 50, 1000
        assert (await edged.stub.View(newer)).view_version == 3


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


async def test_a_whole_match_is_played_over_one_stream() -> None:
    rng = random.Random(5)
    async with edge() as edged:
        await edged.table.open()
        stream = Stream(edged)
        attach = [
            table_pb2.Attach(route=seat + 1, match_id=MATCH, seat_token=edged.seat_token(seat))
            for seat in range(2)
        ]
        take = [
            table_pb2.Act(
                route=seat + 1, command_id=f"t{seat}", decision_id=match.SEATING, command=take_seat()
            )
            for seat in range(2)
        ]
        await stream.send(attach=attach, act=take)
        moves = 0
        while True:
            await stream.read()
            if MATCH not in stream.views or len(stream.answers) < moves + 2:
                continue
            view = decode_match_view(stream.views[MATCH])
            if view.ended is not None:
                break
            if not view.started:
                continue
            seat = view.waiting_for[0]
            state = edged.table.live.stored
            assert state is not None
            private = decode_seat_private_view(stream.private[seat + 1])
            assert private == match.private_view(state, seat), "the seat is shown what is stored"
            command = entry_pb2.Command()
            fill_command(command, rng.choice(list(match.game_of(state).legal(state.game_state, seat))))
            moves += 1
            act = table_pb2.Act(
                route=seat + 1, command_id=f"m{moves}", decision_id=view.decision_id, command=command
            )
            await stream.send(act=[act])
        assert all(answer.HasField("accepted") for answer in stream.answers.values())
        assert moves > 20


async def test_a_client_resumes_from_the_version_it_saw() -> None:
    async with edge() as edged:
        await edged.table.open()
        token = edged.seat_token(0)
        first = Stream(edged)
        await first.send(attach=[table_pb2.Attach(route=1, match_id=MATCH, seat_token=token)])
        await first.read()
        first.call.cancel()
        seen = first.version[1]
        resumed = Stream(edged)
        attach = table_pb2.Attach(route=4, match_id=MATCH, seat_token=token, have_view_version=seen)
        await resumed.send(attach=[attach])
        frame = await resumed.read()
        assert frame.attached[0].seat == 0
        assert not frame.updates, "it has the newest view already"
        await edged.table.seat_everybody()
        while resumed.version.get(4, 0) < 3:
            await resumed.read()


async def test_what_a_stream_may_not_do_is_answered_and_the_stream_goes_on() -> None:
    async with edge() as edged:
        await edged.table.open()
        stream = Stream(edged)
        flip = entry_pb2.Command(sounding_flip=sounding_pb2.SoundingFlip(cell=1))
        await stream.send(
            attach=[
                table_pb2.Attach(route=0, match_id=MATCH),
                table_pb2.Attach(route=1, match_id=MATCH),
                table_pb2.Attach(route=2, match_id="0-zzzzzzzz"),
                table_pb2.Attach(route=3, match_id="rubbish"),
                table_pb2.Attach(route=4, match_id=MATCH, seat_token="rubbish"),
                table_pb2.Attach(route=5, match_id=MATCH, seat_token=edged.seat_token(0)),
                table_pb2.Attach(route=5, match_id=MATCH, seat_token=edged.seat_token(0)),
            ],
            act=[
                table_pb2.Act(route=1, command_id="spectator", command=flip),
                table_pb2.Act(route=9, command_id="nobody", command=flip),
                table_pb2.Act(route=5, command_id="", command=flip),
                table_pb2.Act(route=5, command_id="empty", command=entry_pb2.Command()),
                table_pb2.Act(route=5, command_id="early", decision_id=match.SEATING, command=flip),
            ],
            pong=[table_pb2.Pong(id=12345)],
            detach=[77],
        )
        while len(stream.answers) < 5:
            await stream.read()
        codes = {key: RejectionCode(answer.rejected.code) for key, answer in stream.answers.items()}
        assert codes == {
            "spectator": RejectionCode.NOT_SEATED,
            "nobody": RejectionCode.NOT_SEATED,
            "": RejectionCode.MALFORMED,
            "empty": RejectionCode.MALFORMED,
            "early": RejectionCode.WRONG_PHASE,
        }
        assert RejectionCode(stream.attached[0].rejected.code) is RejectionCode.MALFORMED
        assert RejectionCode(stream.attached[2].rejected.code) is RejectionCode.UNKNOWN_MATCH
        assert RejectionCode(stream.attached[3].rejected.code) is RejectionCode.UNKNOWN_MATCH
        assert RejectionCode(stream.attached[4].rejected.code) is RejectionCode.UNAUTHENTICATED
        assert not stream.attached[1].HasField("seat")
        assert len(edged.table.store.messages) == 2


async def test_directors_direct_and_nobody_else_does() -> None:
    async with edge() as edged:
        await edged.table.open()
        await edged.table.seat_everybody()
        pause = table_pb2.DirectRequest(
            match_id=MATCH,
            command_id="1",
            command=entry_pb2.Command(pause=match_pb2.Pause(reason="a dispute")),
        )
        assert await edged.refused(edged.stub.Direct(pause)) is RejectionCode.UNAUTHENTICATED
        player = credentials(edged.signer.player("p0", "Zaynab"))
        assert await edged.refused(edged.stub.Direct(pause, metadata=player)) is RejectionCode.UNAUTHENTICATED
        director = credentials(edged.signer.service("director", "Salma"))
        assert (await edged.stub.Direct(pause, metadata=director)).accepted.entry == 4
        assert (await edged.stub.Direct(pause, metadata=director)).accepted.duplicate
        shown = await edged.stub.View(table_pb2.ViewRequest(match_id=MATCH))
        assert decode_match_view(shown.public).paused
        listed = await edged.stub.ListMatches(table_pb2.ListMatchesRequest(live_only=True))
        assert [(one.match_id, one.paused) for one in listed.matches] == [(MATCH, True)]
