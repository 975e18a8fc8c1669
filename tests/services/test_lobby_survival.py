"""A lobby that dies at any named point, and comes back: each pairing is one match, each result counts once."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import grpc.aio
import pytest

from majlis.chassis import broker
from majlis.engine.tournament import TournamentState, fold
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.tournament import (
    AdjudicatePod,
    PodDecided,
    RoundPaired,
    StartTournament,
    TournamentEntry,
    TournamentStage,
)
from majlis.engine.vocabulary.wire import decode_batch, decode_tournament_entry
from tests.support.lobby import Killed, Lobby, Platform, platform, refused, until
from tests.support.nats import Server
from tests.support.tournament_calls import create, direct, enter_computers, enter_person, playing

POINTS = [
    "before start_tournament",
    "after start_tournament",
    "before pair_round",
    "after pair_round",
    "before open",
    "after open",
    "before book_result",
    "after book_result",
    "before book_no_show",
    "after book_no_show",
    "before the position moves",
]
CASES = [(point, nth) for point in POINTS for nth in (1, 2) if nth == 1 or "start" not in point]


@pytest.fixture
async def world(nats_server: Server, tmp_path: Path) -> AsyncIterator[Platform]:
    async with platform(nats_server.url, f"sqlite+aiosqlite:///{tmp_path / 'lobby.db'}") as made:
        yield made


class Assassin:
    """Kills the lobby the `nth` time it passes the point, once."""

    def __init__(self, point: str, nth: int) -> None:
        self.point, self.left = point, nth
        self.struck = False

    def __call__(self, point: str) -> None:
        if point == self.point and not self.struck:
            self.left -= 1
            if self.left == 0:
                self.struck = True
                raise Killed(point)


async def stored_entries(world: Platform) -> list[bytes]:
    """The log of tournaments as it stands."""
    js = world.client.jetstream()
    last = (await js.stream_info(broker.TOURNAMENTS)).state.last_seq
    found: list[bytes] = []
    for sequence in range(1, last + 1):
        message = await js.get_msg(broker.TOURNAMENTS, sequence)
        found += decode_batch(message.data or b"").entries
    return found


def assert_played_once(world: Platform, entries: list[TournamentEntry], rounds: int) -> None:
    events = [event for entry in entries for event in entry.events]
    paired = [event.round for event in events if isinstance(event, RoundPaired)]
    assert paired == list(range(1, rounds + 1))
    decided = Counter((event.round, event.pod) for event in events if isinstance(event, PodDecided))
    pods = {(e.round, pod.pod): pod.match_id for e in events if isinstance(e, RoundPaired) for pod in e.pods}
    assert decided == Counter(pods.keys())
    assert sorted(world.tables.opened) == sorted(pods.values())
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))


def somebody_stays_away(world: Platform, player_id: str) -> None:
    """In his matches the result says that he made no move."""
    plain = world.tables.finish

    async def finish(match_id: str, places: object, **more: object) -> None:
        seats = [seat.player_id for seat in world.tables.opened[match_id].seats]
        absent = [seats.index(player_id)] if player_id in seats else []
        await plain(match_id, places, absent=absent, **more)  # type: ignore[arg-type]

    world.tables.finish = finish  # type: ignore[method-assign]


async def run(lobby: Lobby) -> TournamentState | None:
    """Starts what is not started; the final state, or None where the lobby was killed before it."""
    if lobby.hall.get("cup").stage is TournamentStage.REGISTRATION:
        with contextlib.suppress(grpc.aio.AioRpcError):  # a lobby that dies answers nothing
            await direct(lobby, StartTournament())
    while not lobby.dead.is_set():
        state = lobby.hall.get("cup")
        if state.stage is TournamentStage.FINISHED and await lobby.all_booked():
            return state
        await asyncio.sleep(0.01)
    return None


@pytest.mark.parametrize(("point", "nth"), CASES)
async def test_a_lobby_goes_on_where_it_was_killed(world: Platform, point: str, nth: int) -> None:
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 7)
        away, _ = await enter_person(lobby, "Away")
        somebody_stays_away(world, away)
    assassin = Assassin(point, nth)
    final: TournamentState | None = None
    lives = 0
    while final is None:
        async with world.lobby(assassin) as lobby, asyncio.timeout(20):
            final = await run(lobby)
        lives += 1
    assert (assassin.struck, lives) == (True, 2)
    stored = await stored_entries(world)
    assert_played_once(world, [decode_tournament_entry(one) for one in stored], rounds=2)
    assert fold(stored) == final
    assert sum(line.no_shows for line in final.final_standings) == 2


async def test_a_director_whose_answer_was_lost_repeats_the_command(world: Platform) -> None:
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
    async with world.lobby(Assassin("after start_tournament", 1)) as lobby:
        with pytest.raises(grpc.aio.AioRpcError):
            await direct(lobby, StartTournament(), command_id="start-1")
    async with world.lobby() as lobby:
        before = lobby.hall.get("cup").number
        answer = await direct(lobby, StartTournament(), command_id="start-1")
        assert answer.entry == 10
        assert before >= 10


async def test_results_that_came_while_no_lobby_lived_are_booked(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, rounds=1)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
    for match_id in tuple(world.tables.opened):
        await world.tables.finish(match_id, (1, 2, 3, 4))
        await world.tables.finish(match_id, (1, 2, 3, 4))
    async with world.lobby() as lobby:
        await until(lambda: lobby.hall.get("cup").stage is TournamentStage.FINISHED)
    assert len(world.tables.opened) == 2


async def test_a_directors_decision_reaches_the_table_after_a_restart(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, rounds=1)
        await enter_computers(lobby, 4)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 1)
    async with world.lobby(Assassin("before direct adjudicate", 1)) as lobby:
        await direct(lobby, AdjudicatePod(round=1, pod=1, places=(1, 2, 2, 4), reason="time"))
        await until(lobby.dead.is_set)
    assert world.tables.directed == []
    async with world.lobby():
        await until(lambda: [name for _, name in world.tables.directed] == ["adjudicate"])


async def test_two_lobbies_never_decide_at_the_same_time(world: Platform) -> None:
    async with world.lobby() as first:
        await create(first)
        async with world.lobby() as second:  # it has taken the tournaments over
            await enter_computers(second, 8)
            rejected = await refused(enter_computers(first, 8))
            assert rejected.code is RejectionCode.UNAVAILABLE
            assert len(second.hall.get("cup").entrants) == 8
    numbers = [decode_tournament_entry(one).number for one in await stored_entries(world)]
    assert numbers == list(range(1, 10))
