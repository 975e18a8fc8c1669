"""Players and casual tables: names, seats, tokens; on both databases, since the seats stand in SQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.match import Controller
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.lobby.names import clean_name
from majlis.v1 import lobby_pb2, match_pb2
from tests.support.lobby import Lobby, Metadata, Platform, platform, refused, until
from tests.support.nats import Server


@pytest.fixture
async def world(nats_server: Server, database_url: str) -> AsyncIterator[Platform]:
    async with platform(nats_server.url, database_url) as made:
        made.tables.plays = lambda setup: None
        yield made


def table(seats: int = 3, computers: int = 0, **more: Any) -> lobby_pb2.OpenTableRequest:
    fields: dict[str, Any] = {"game": "sounding", "seats": seats, "computers": computers}
    return lobby_pb2.OpenTableRequest(**(fields | more))


async def waiting(lobby: Lobby) -> list[lobby_pb2.OpenTableSummary]:
    return list((await lobby.stub.ListTables(lobby_pb2.ListTablesRequest(game="sounding"))).tables)


def join(lobby: Lobby, match_id: str, token: Metadata) -> Any:
    return lobby.stub.JoinTable(lobby_pb2.JoinTableRequest(match_id=match_id), metadata=token)


async def test_a_table_filled_with_computers_can_be_played_at_once(world: Platform) -> None:
    async with world.lobby() as lobby:
        player_id, token = await lobby.sign_in("Zaynab")
        request = table(4, 3, level=match_pb2.COMPUTER_LEVEL_EXPERT, thinking_percent=50)
        opened = await lobby.stub.OpenTable(request, metadata=token)
        setup = world.tables.opened[opened.match_id]
        assert [seat.player_id for seat in setup.seats] == [player_id, "", "", ""]
        assert [seat.controller for seat in setup.seats] == [Controller.PERSON] + 3 * [Controller.COMPUTER]
        assert setup.thinking_percent == 50
        claims = lobby.signer.verifier.seat(opened.seat_token, opened.match_id)
        assert (claims.seat, claims.player_id) == (opened.seat, player_id) == (0, player_id)
        assert opened.table_address
        assert await waiting(lobby) == []


async def test_a_table_is_played_when_its_last_seat_is_taken(world: Platform) -> None:
    async with world.lobby() as lobby:
        people = [await lobby.sign_in(name) for name in ("Zaynab", "عمر", "Søren")]
        first = await lobby.stub.OpenTable(table(4, 1), metadata=people[0][1])
        (listed,) = await waiting(lobby)
        assert (listed.match_id, listed.seats, listed.free) == (first.match_id, 4, 2)
        seats = [(await join(lobby, first.match_id, token)).seat for _, token in people]
        assert seats == [0, 1, 2]
        setup = world.tables.opened[first.match_id]
        assert [seat.player_id for seat in setup.seats] == [*(player_id for player_id, _ in people), ""]
        _, late = await lobby.sign_in("Late")
        assert (await refused(join(lobby, first.match_id, late))).code is Code.SEAT_TAKEN
        again = await join(lobby, first.match_id, people[1][1])  # a lost token is given again
        assert again.seat == 1
        assert again.seat_token
        assert world.tables.asked[first.match_id] == 1


async def test_who_joins_at_the_same_time_never_gets_the_same_seat(world: Platform) -> None:
    async with world.lobby() as lobby:
        people = [await lobby.sign_in(f"Player {n}") for n in range(12)]
        opened = await lobby.stub.OpenTable(table(8), metadata=people[0][1])
        answers = await asyncio.gather(
            *(join(lobby, opened.match_id, token) for _, token in [*people[1:], *people[1:]]),
            return_exceptions=True,
        )
        seats = [one.seat for one in answers if isinstance(one, lobby_pb2.JoinTableResponse)]
        setup = world.tables.opened[opened.match_id]
        seated = [seat.player_id for seat in setup.seats]
        assert len(set(seated)) == 8
        assert set(seats) == set(range(1, 8))


async def test_repeating_a_request_opens_nothing_new(world: Platform) -> None:
    async with world.lobby() as lobby:
        _, token = await lobby.sign_in("Zaynab")
        _, other = await lobby.sign_in("Umar")
        request = table(2, 1, request_id="r1")
        one = await lobby.stub.OpenTable(request, metadata=token)
        two = await lobby.stub.OpenTable(request, metadata=token)
        assert one.match_id == two.match_id
        assert (await lobby.stub.OpenTable(request, metadata=other)).match_id != one.match_id
        changed = await refused(lobby.stub.OpenTable(table(3, 1, request_id="r1"), metadata=token))
        assert changed.code is Code.DUPLICATE_COMMAND
        assert len(world.tables.opened) == 2


async def test_a_table_that_could_not_be_opened_yet_is_opened_after_a_restart(world: Platform) -> None:
    async with world.lobby() as lobby:
        _, token = await lobby.sign_in("Zaynab")
        world.tables.refuse = Code.DRAINING
        request = table(2, 1, request_id="r1")
        assert (await refused(lobby.stub.OpenTable(request, metadata=token))).code is Code.DRAINING
    world.tables.refuse = None
    async with world.lobby() as lobby:
        await until(lambda: len(world.tables.opened) == 1)
        opened = await lobby.stub.OpenTable(request, metadata=token)
        assert [opened.match_id] == list(world.tables.opened)


async def test_a_table_that_is_refused_for_good_is_not_tried_for_ever(world: Platform) -> None:
    async with world.lobby() as lobby:
        _, token = await lobby.sign_in("Zaynab")
        world.tables.refuse = Code.BAD_OPTION
        assert (await refused(lobby.stub.OpenTable(table(2, 1), metadata=token))).code is Code.BAD_OPTION
        world.tables.refuse = None
        await asyncio.sleep(1.3)
        assert not world.tables.opened


async def test_a_seat_token_can_be_fetched_again(world: Platform) -> None:
    async with world.lobby() as lobby:
        player_id, token = await lobby.sign_in("Zaynab")
        _, stranger = await lobby.sign_in("Umar")
        opened = await lobby.stub.OpenTable(table(2, 1), metadata=token)
        get = lobby_pb2.GetSeatRequest(match_id=opened.match_id)
        seat = await lobby.stub.GetSeat(get, metadata=token)
        claims = lobby.signer.verifier.seat(seat.seat_token, opened.match_id)
        assert (claims.seat, claims.player_id, seat.seat) == (0, player_id, 0)
        assert (await refused(lobby.stub.GetSeat(get, metadata=stranger))).code is Code.WRONG_SEAT
        found = await lobby.stub.FindMatch(lobby_pb2.FindMatchRequest(match_id=opened.match_id))
        assert found.table_address == opened.table_address
        assert found.owner == "table-x"


async def test_every_refusal_has_its_code(world: Platform) -> None:
    async with world.lobby() as lobby:
        _, token = await lobby.sign_in("Zaynab")
        seat_token = (await lobby.stub.OpenTable(table(2, 1), metadata=token)).seat_token
        opened = len(world.tables.opened)
        wrong_kind = (("authorization", f"Bearer {seat_token}"),)
        stub = lobby.stub
        refusals = [
            (stub.OpenTable(table(2, 1)), Code.UNAUTHENTICATED),
            (stub.OpenTable(table(2, 1), metadata=wrong_kind), Code.UNAUTHENTICATED),
            (stub.OpenTable(table(2, 2), metadata=token), Code.BAD_SEATS),
            (stub.OpenTable(table(0, 0), metadata=token), Code.BAD_SEATS),
            (stub.OpenTable(table(9, 8), metadata=token), Code.BAD_SEATS),
            (stub.OpenTable(table(4_000_000_000, 1), metadata=token), Code.BAD_SEATS),
            (stub.OpenTable(table(2, 1, game="chess"), metadata=token), Code.UNKNOWN_GAME),
            (stub.OpenTable(table(2, 1, rules_version=9), metadata=token), Code.UNKNOWN_RULES_VERSION),
            (stub.OpenTable(table(2, 1, level=9), metadata=token), Code.MALFORMED),
            (stub.OpenTable(table(2, 1, thinking_percent=10**6), metadata=token), Code.TOO_LARGE),
            (
                stub.OpenTable(table(2, 1, options=[match_pb2.Option(name="no")]), metadata=token),
                Code.BAD_OPTION,
            ),
            (stub.OpenTable(table(2, 1, request_id="r" * 65), metadata=token), Code.MALFORMED),
            (join(lobby, "3-nothere", token), Code.UNKNOWN_MATCH),
            (join(lobby, "x" * 5000, token), Code.UNKNOWN_MATCH),
            (stub.FindMatch(lobby_pb2.FindMatchRequest(match_id="nonsense")), Code.UNKNOWN_MATCH),
            (stub.GetSeat(lobby_pb2.GetSeatRequest(match_id="3-nothere"), metadata=token), Code.WRONG_SEAT),
            (stub.SignIn(lobby_pb2.SignInRequest(name="")), Code.BAD_NAME),
        ]
        for number, (call, code) in enumerate(refusals):
            assert (await refused(call)).code is code, number
        assert len(world.tables.opened) == opened
        assert await waiting(lobby) == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Zaynab", "Zaynab"),
        ("  Umm   Kulthum ", "Umm Kulthum"),
        ("\ufeb3\ufebc\u0631", "سصر"),
        ("Ｚｏé", "Zoé"),
        ("李 小龍", "李 小龍"),
    ],
)
def test_names_are_shown_in_one_spelling(given: str, shown: str) -> None:
    assert clean_name(given) == shown


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 33,
        "ab\u202ecd",
        "a\u200bb",
        "a\x07b",
        "a\u2066b",
        "…!?",
        "a\ue000",
        "\ufdfa" * 32,
        "n" * 10**6,
    ],
)
def test_names_that_disturb_are_refused(name: str) -> None:
    with pytest.raises(Rejected) as refusal:
        clean_name(name)
    assert refusal.value.code is Code.BAD_NAME
