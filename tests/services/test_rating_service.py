"""The rating service by its public face: ladders, players, rebuilding, refusals, and its death at any moment."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc.aio
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats.aio.client import Client
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import broker, metrics
from majlis.chassis.clock import SystemClock
from majlis.chassis.projection import Projection
from majlis.chassis.sql import create_schema, open_engine
from majlis.chassis.tokens import Signer, credentials, load_signer, make_keys
from majlis.engine.ratings import Ladder, fold
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.result import Result
from majlis.engine.vocabulary.wire import encode_result
from majlis.rating.fold import LadderFold
from majlis.rating.servicer import RatingServicer
from majlis.rating.tables import SCHEMA, metadata
from majlis.v1 import rating_pb2
from majlis.v1.rating_pb2_grpc import RatingStub, add_RatingServicer_to_server
from tests.support.nats import Server
from tests.support.results import result, season, seat
from tests.support.serving import refused, served, service_process
from tests.support.words import running

if TYPE_CHECKING:
    from majlis.v1.rating_pb2_grpc import RatingAsyncStub


@dataclass
class Rig:
    """The service over a real broker and database, in this process."""

    client: Client
    projection: Projection
    stub: RatingAsyncStub
    signer: Signer

    async def told(self, results: Sequence[Result]) -> None:
        await publish(self.client, results)
        await asyncio.wait_for(self.projection.catch_up(), 30)

    async def ladder(self, **request: int) -> rating_pb2.GetLadderResponse:
        return await self.stub.GetLadder(rating_pb2.GetLadderRequest(game="sounding", **request))

    async def rebuild(self, token: str) -> rating_pb2.RebuildResponse:
        return await self.stub.Rebuild(rating_pb2.RebuildRequest(), metadata=credentials(token))


async def publish(client: Client, results: Sequence[Result]) -> None:
    for each in results:
        subject = f"result.{each.game}.{each.match_id}.{each.revision}"
        await client.jetstream().publish(subject, encode_result(each))


@pytest.fixture
async def client(nats_server: Server) -> AsyncIterator[Client]:
    client = await broker.connect([nats_server.url], "test")
    await broker.ensure_streams(client.jetstream(), 1)
    yield client
    await client.close()


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(database_url)
    await create_schema(engine, "rating", SCHEMA, metadata)
    yield engine
    await engine.dispose()


@pytest.fixture
async def rig(client: Client, engine: AsyncEngine) -> AsyncIterator[Rig]:
    signer = Signer(Ed25519PrivateKey.generate())
    projection = Projection(LadderFold(), engine, client, SystemClock(), lease_s=0.6)
    servicer = RatingServicer(engine, projection, signer.verifier)
    async with running(projection), served(add_RatingServicer_to_server, servicer) as channel:
        yield Rig(client, projection, RatingStub(channel), signer)


def as_ladder(answer: rating_pb2.GetLadderResponse) -> dict[str, tuple[float, float, int, int]]:
    return {p.player_id: (p.mu, p.sigma, p.matches, p.last_match_ms) for p in answer.players}


def expected(ladder: Ladder) -> dict[str, tuple[float, float, int, int]]:
    return {name: (r.mu, r.sigma, r.matches, r.last_match_ms) for name, r in ladder.items()}


async def test_the_ladder_is_the_fold_of_the_results_best_first(rig: Rig) -> None:
    told = season(50)
    await rig.told(told)
    answer = await rig.ladder()
    assert as_ladder(answer) == expected(fold(told)["sounding"])
    assert answer.total == len(answer.players) == 24
    shown = [player.rating for player in answer.players]
    assert shown == sorted(shown, reverse=True)
    assert answer.players[0].rank == 1


async def test_equal_ratings_share_a_rank_also_across_pages(rig: Rig) -> None:
    await rig.told([result(n, seat(f"a{n}", 1), seat(f"b{n}", 2)) for n in range(3)])
    whole = await rig.ladder()
    assert [(p.rank, p.player_id) for p in whole.players] == [
        *[(1, "a0"), (1, "a1"), (1, "a2")],
        *[(4, "b0"), (4, "b1"), (4, "b2")],
    ]
    for offset in range(6):
        page = await rig.ladder(limit=2, offset=offset)
        assert list(page.players) == list(whole.players)[offset : offset + 2]
        assert page.total == 6
    assert not (await rig.ladder(offset=4_000_000_000)).players


async def test_a_page_holds_a_hundred_and_at_most_a_thousand(rig: Rig) -> None:
    await rig.told([result(n, *(seat(f"p{n}-{i}", i + 1) for i in range(8))) for n in range(130)])
    assert len((await rig.ladder()).players) == 100
    assert len((await rig.ladder(limit=1_000_000)).players) == 1000
    assert (await rig.ladder()).total == 1040


async def test_a_player_is_shown_in_all_games(rig: Rig) -> None:
    await rig.told(
        [result(1, seat("a", 1), seat("b", 2)), result(2, seat("a", 1), seat("c", 2), game="thousand")]
    )
    answer = await rig.stub.GetPlayer(rating_pb2.GetPlayerRequest(player_id="a"))
    assert [(rating.game, rating.rank, rating.matches) for rating in answer.ratings] == [
        ("sounding", 1, 1),
        ("thousand", 1, 1),
    ]


async def test_unknown_games_and_players_are_refused(rig: Rig) -> None:
    for game in ("", "bridge", "sounding' or 1=1"):
        with refused(RejectionCode.UNKNOWN_GAME):
            await rig.stub.GetLadder(rating_pb2.GetLadderRequest(game=game))
    for player in ("", "nobody", "x" * 10_000):
        with refused(RejectionCode.UNKNOWN_PLAYER):
            await rig.stub.GetPlayer(rating_pb2.GetPlayerRequest(player_id=player))


async def test_a_rebuild_gives_identical_rows_and_counts_the_results(rig: Rig) -> None:
    await rig.told(season(60))
    before = await rig.ladder()
    acts = metrics.OPERATOR_ACTIONS.labels("rating_rebuild", "operator")._value.get()
    answer = await rig.rebuild(rig.signer.service("operator", "somebody"))
    assert answer.results == 60
    assert await rig.ladder() == before
    assert metrics.OPERATOR_ACTIONS.labels("rating_rebuild", "operator")._value.get() == acts + 1


async def test_only_operators_rebuild(rig: Rig) -> None:
    others = Signer(Ed25519PrivateKey.generate())
    expired = rig.signer.service("operator", "somebody", ttl_s=-1)
    for token in (
        "",
        "nonsense",
        others.service("operator", "somebody"),
        expired,
        rig.signer.player("a", "A"),
    ):
        with refused(RejectionCode.UNAUTHENTICATED):
            await rig.rebuild(token)
    for role in ("lobby", "table", "archive", "rating", "director"):
        with refused(RejectionCode.FORBIDDEN):
            await rig.rebuild(rig.signer.service(role, "somebody"))


async def test_stopped_by_newer_code_it_shows_what_it_has_and_says_so(rig: Rig) -> None:
    await rig.told(season(3))
    newer = bytearray(encode_result(result(4, seat("a", 1), seat("b", 2))))
    at = newer.index(b"\x40\x01")  # field 8, the termination
    newer[at + 1] = 99
    await rig.client.jetstream().publish("result.sounding.0-newer.1", bytes(newer))
    async with asyncio.timeout(20):
        while rig.projection.fault is None:
            await asyncio.sleep(0.02)
    assert as_ladder(await rig.ladder()) == expected(fold(season(3))["sounding"])
    with refused(RejectionCode.UNAVAILABLE) as told:
        await rig.rebuild(rig.signer.service("operator", "somebody"))
    assert "sequence 4" in told[0].detail


async def test_the_process_killed_again_and_again_rates_every_result_once(
    client: Client, nats_server: Server, tmp_path: Path
) -> None:
    make_keys(tmp_path / "keys")
    told = season(400)
    publishing = asyncio.create_task(publish(client, told))
    async with service_process("rating", tmp_path, nats_server.url) as process:
        await asyncio.sleep(0.2)
        await process.kill()
        await process.start()
        await publishing
        async with process.channel() as channel:
            stub = RatingStub(channel)
            ladder = await until_rated(stub, len(told))
            assert as_ladder(ladder) == expected(fold(told)["sounding"])
            token = load_signer(tmp_path / "keys").service("operator", "test")
            rebuilt = await stub.Rebuild(rating_pb2.RebuildRequest(), metadata=credentials(token))
            assert rebuilt.results == len(told)
            assert await stub.GetLadder(rating_pb2.GetLadderRequest(game="sounding")) == ladder
        assert await process.terminate() == 0


async def until_rated(stub: RatingAsyncStub, matches: int) -> rating_pb2.GetLadderResponse:
    """The ladder once it rests on that many matches of four."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                ladder = await stub.GetLadder(rating_pb2.GetLadderRequest(game="sounding"))
                if sum(player.matches for player in ladder.players) == 4 * matches:
                    return ladder
            await asyncio.sleep(0.1)
