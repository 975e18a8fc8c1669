"""The Table service at its gRPC edge: who may do what, and that nothing sent to it stops it."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.tokens import Signer, credentials
from majlis.engine import match
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import decode_match_view
from majlis.v1 import entry_pb2, match_pb2, table_pb2
from tests.support.table import MATCH
from tests.support.table_edge import edge, take_seat


def setup(persons: int = 2) -> match_pb2.OpenMatch:
    seats = [
        match_pb2.SeatSetup(player_id=f"p{i}", controller=match_pb2.CONTROLLER_PERSON) for i in range(persons)
    ]
    return match_pb2.OpenMatch(game="sounding", seats=seats)


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
