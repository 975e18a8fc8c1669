"""What the lobby refuses of tournaments, and that asking twice changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.tokens import Signer, credentials
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AdjudicatePod,
    BookResult,
    PauseTournament,
    ReturnEntrant,
    StartTournament,
    WithdrawEntrant,
)
from majlis.v1 import lobby_pb2, match_pb2
from tests.support.lobby import Platform, platform, refused
from tests.support.nats import Server
from tests.support.tournament_calls import (
    create,
    direct,
    enter_computers,
    enter_person,
    setup,
)


@pytest.fixture
async def world(nats_server: Server, tmp_path: Path) -> AsyncIterator[Platform]:
    async with platform(nats_server.url, f"sqlite+aiosqlite:///{tmp_path / 'lobby.db'}") as made:
        yield made


async def test_a_command_id_is_answered_as_the_first_time(world: Platform) -> None:
    async with world.lobby() as lobby:
        await create(lobby)
        (one,) = await enter_computers(lobby, 1)
        command = WithdrawEntrant(entrant_id=one, reason="ill")
        first = await direct(lobby, command, command_id="w1")
        assert (await direct(lobby, command, command_id="w1")).entry == first.entry
        again = await refused(direct(lobby, ReturnEntrant(entrant_id=one), command_id="w1"))
        assert again.code is Code.DUPLICATE_COMMAND
        assert lobby.hall.get("cup").number == first.entry


async def test_creating_again_creates_nothing_new(world: Platform) -> None:
    async with world.lobby() as lobby:
        assert await create(lobby) == await create(lobby) == "cup"
        assert lobby.hall.get("cup").number == 1
        assert (await refused(create(lobby, rounds=9))).code is Code.TOURNAMENT_EXISTS
        assert await create(lobby, "", name="Été à Āb 2031!") == "ete-a-ab-2031"
        other = await create(lobby, "", name="Été à Āb 2031!", rounds=4)
        assert other.startswith("ete-a-ab-2031-")
        assert (await create(lobby, "", name="كأس الشتاء")).startswith("tournament-")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"game": "chess"}, Code.UNKNOWN_GAME),
        ({"pod_size": 9}, Code.BAD_SEATS),
        ({"pod_size": 4000}, Code.BAD_SEATS),
        ({"rounds": 0}, Code.MALFORMED),
        ({"name": "\u202e"}, Code.BAD_NAME),
        ({"name": "x" * 65}, Code.BAD_NAME),
        ({"rules_version": 99}, Code.UNKNOWN_RULES_VERSION),
        ({"options": [match_pb2.Option(name="nope", value="1")]}, Code.BAD_OPTION),
        ({"thinking_percent": 100_000}, Code.TOO_LARGE),
        ({"no_show": 77}, Code.MALFORMED),
        ({"byes_score_percent": 101}, Code.MALFORMED),
        ({"max_entrants": 100_000}, Code.MALFORMED),
    ],
)
async def test_a_setup_that_no_table_would_open_is_refused_at_once(
    world: Platform, change: dict[str, Any], code: Code
) -> None:
    async with world.lobby() as lobby:
        assert (await refused(create(lobby, **change))).code is code
        assert lobby.hall.stored == {}


async def test_every_refusal_has_its_code_and_leaves_no_trace(world: Platform) -> None:
    async with world.lobby() as lobby:
        await create(lobby)
        player_id, token = await enter_person(lobby, "Zaynab")
        number = lobby.hall.get("cup").number
        register = lobby.stub.Register
        person = lobby_pb2.RegisterRequest(tournament_id="cup", controller=match_pb2.CONTROLLER_PERSON)
        computer = lobby_pb2.RegisterRequest(tournament_id="cup", controller=match_pb2.CONTROLLER_COMPUTER)
        vacant = lobby_pb2.RegisterRequest(tournament_id="cup", controller=match_pb2.CONTROLLER_VACANT)
        nowhere = lobby_pb2.RegisterRequest(tournament_id="nope", controller=match_pb2.CONTROLLER_PERSON)
        unset = lobby_pb2.RegisterRequest(tournament_id="cup")
        bare = lobby_pb2.DirectTournamentRequest(tournament_id="cup", command_id="x")
        booking = BookResult(round=1, pod=1, match_id="0-x", revision=1, termination=Termination.PLAYED_OUT)
        refusals = [
            (register(person), Code.UNAUTHENTICATED),
            (register(person, metadata=lobby.director()), Code.UNAUTHENTICATED),
            (register(person, metadata=token), Code.ALREADY_REGISTERED),
            (register(computer, metadata=token), Code.UNAUTHENTICATED),
            (register(vacant, metadata=token), Code.MALFORMED),
            (register(unset, metadata=token), Code.MALFORMED),
            (register(nowhere, metadata=token), Code.UNKNOWN_TOURNAMENT),
            (register(person, metadata=lobby.player("p2", "ZAYNAB")), Code.NAME_TAKEN),
            (direct(lobby, StartTournament()), Code.TOO_FEW_ENTRANTS),
            (direct(lobby, StartTournament(), token=token), Code.UNAUTHENTICATED),
            (direct(lobby, WithdrawEntrant(entrant_id=player_id)), Code.REASON_REQUIRED),
            (direct(lobby, WithdrawEntrant(entrant_id="p9", reason="r")), Code.UNKNOWN_ENTRANT),
            (direct(lobby, AdjudicatePod(round=1, pod=1, reason="r")), Code.UNKNOWN_POD),
            (direct(lobby, PauseTournament(reason="r")), Code.WRONG_STAGE),
            (direct(lobby, booking), Code.FORBIDDEN),
            (direct(lobby, StartTournament(), command_id="x" * 65), Code.MALFORMED),
            (lobby.stub.Direct(bare, metadata=lobby.director()), Code.MALFORMED),
            (lobby.stub.CreateTournament(lobby_pb2.CreateTournamentRequest()), Code.UNAUTHENTICATED),
            (create(lobby, "Not An Id"), Code.MALFORMED),
            (lobby.stub.GetTournament(lobby_pb2.GetTournamentRequest()), Code.UNKNOWN_TOURNAMENT),
            (lobby.stub.GetPairings(lobby_pb2.GetPairingsRequest(tournament_id="cup")), Code.WRONG_STAGE),
        ]
        for call, code in refusals:
            assert (await refused(call)).code is code
        assert lobby.hall.get("cup").number == number


async def test_a_full_tournament_takes_nobody_more(world: Platform) -> None:
    async with world.lobby() as lobby:
        await create(lobby, max_entrants=2)
        for name in ("Zaynab", "Umar"):
            await enter_person(lobby, name)
        assert (await refused(enter_person(lobby, "Third"))).code is Code.TOURNAMENT_FULL


async def test_a_token_of_another_key_opens_nothing(world: Platform) -> None:
    async with world.lobby() as lobby:
        forged = credentials(Signer(Ed25519PrivateKey.generate()).service("director", "Mallory"))
        request = lobby_pb2.CreateTournamentRequest(tournament_id="cup", setup=setup())
        rejected = await refused(lobby.stub.CreateTournament(request, metadata=forged))
        assert rejected.code is Code.UNAUTHENTICATED
