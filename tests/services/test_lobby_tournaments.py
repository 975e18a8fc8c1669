"""What the lobby promises of tournaments: over its gRPC face, with a real broker, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AbortTournament,
    AdjudicatePod,
    ForfeitEntrant,
    PauseTournament,
    ResumeTournament,
    ReturnEntrant,
    StartTournament,
    TournamentStage,
    WithdrawEntrant,
)
from majlis.v1 import lobby_pb2, tournament_pb2
from tests.support.lobby import Platform, platform, refused, until
from tests.support.nats import Server
from tests.support.tournament_calls import (
    create,
    direct,
    enter_computers,
    enter_person,
    finished,
    playing,
)


@pytest.fixture
async def world(nats_server: Server, tmp_path: Path) -> AsyncIterator[Platform]:
    async with platform(nats_server.url, f"sqlite+aiosqlite:///{tmp_path / 'lobby.db'}") as made:
        yield made


async def test_a_tournament_runs_by_itself_once_it_is_started(nats_server: Server, database_url: str) -> None:
    async with platform(nats_server.url, database_url) as world, world.lobby() as lobby:
        assert await create(lobby, rounds=3) == "cup"
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await finished(lobby)
        assert len(world.tables.opened) == 6
        assert set(world.tables.asked.values()) == {1}
        for one in world.tables.opened.values():
            assert one.tournament_id == "cup"
            assert [seat.player_id for seat in one.seats] == [
                seat.player_id for seat in one.seats if seat.level
            ]
        told = await lobby.stub.GetStandings(lobby_pb2.GetStandingsRequest(tournament_id="cup"))
        assert [line.place for line in told.standings] == list(range(1, 9))
        assert sum(line.score for line in told.standings) == 8 * 3 * 3
        assert told.after_round == 3
        summary = (
            await lobby.stub.GetTournament(lobby_pb2.GetTournamentRequest(tournament_id="cup"))
        ).tournament
        assert (summary.pods_decided, summary.pods_total, summary.round, summary.entrants) == (6, 6, 3, 8)
        listed = await lobby.stub.ListTournaments(lobby_pb2.ListTournamentsRequest())
        assert [one.tournament_id for one in listed.tournaments] == ["cup"]


async def test_the_rng_seed_is_told_only_when_it_is_over(world: Platform) -> None:
    async with world.lobby() as lobby:
        given = bytes(32)
        await create(lobby, rng_seed=given)
        get = lobby_pb2.GetTournamentRequest(tournament_id="cup")
        assert (await lobby.stub.GetTournament(get)).tournament.setup.rng_seed == b""
        await direct(lobby, AbortTournament(reason="no players"))
        seed = (await lobby.stub.GetTournament(get)).tournament.setup.rng_seed
        assert len(seed) == 32
        assert seed != given


async def test_watching_shows_every_stage_and_the_end(world: Platform) -> None:
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
        seen: list[int] = []

        async def watch() -> None:
            async for told in lobby.stub.Watch(lobby_pb2.WatchRequest(tournament_id="cup")):
                seen.append(told.tournament.stage)
                if told.tournament.stage == tournament_pb2.TOURNAMENT_STAGE_FINISHED:
                    return

        watching = asyncio.create_task(watch())
        await until(lambda: bool(seen))
        await direct(lobby, StartTournament())
        await asyncio.wait_for(watching, 20)
        assert seen[0] == tournament_pb2.TOURNAMENT_STAGE_REGISTRATION
        assert seen == sorted(seen, key=lambda stage: stage == tournament_pb2.TOURNAMENT_STAGE_FINISHED)


async def test_pausing_stops_the_open_matches_and_the_next_round(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
        await direct(lobby, PauseTournament(reason="fire alarm"))
        await until(lambda: len(world.tables.directed) == 2)
        assert {name for _, name in world.tables.directed} == {"pause"}
        for match_id in tuple(world.tables.opened):
            await world.tables.finish(match_id, (1, 2, 3, 4))
        await until(lambda: lobby.hall.get("cup").stage is TournamentStage.BETWEEN_ROUNDS)
        await asyncio.sleep(0.7)
        assert lobby.hall.get("cup").round == 1
        await direct(lobby, ResumeTournament())
        await playing(lobby, world, 4)


async def test_resuming_lets_the_open_matches_go_on(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
        await direct(lobby, PauseTournament(reason="fire alarm"))
        await until(lambda: len(world.tables.directed) == 2)
    async with world.lobby() as lobby:  # what was done is done again after a restart, and does no harm
        await direct(lobby, ResumeTournament(reason="false alarm"))
        await until(lambda: [name for _, name in world.tables.directed].count("resume") == 2)
        assert lobby.hall.get("cup").paused is False


async def test_who_withdraws_is_played_by_the_computer_and_paired_no_more(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, min_pod_size=2)
        await enter_computers(lobby, 7)
        zaynab, token = await enter_person(lobby, "Zaynab")
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
        other = WithdrawEntrant(entrant_id="computer-club-1")
        assert (await refused(direct(lobby, other, token=token))).code is Code.FORBIDDEN
        await direct(lobby, WithdrawEntrant(entrant_id=zaynab), token=token)
        await until(lambda: bool(world.tables.directed))
        match_id, name = world.tables.directed[0]
        assert name == "substitute_computer"
        assert zaynab in [seat.player_id for seat in world.tables.opened[match_id].seats]
        for one in tuple(world.tables.opened):
            await world.tables.finish(one, (1, 2, 3, 4))
        await until(lambda: lobby.hall.get("cup").round == 2)
        assert zaynab not in [one for pod in lobby.hall.get("cup").rounds[1].pods for one in pod.entrants]
        await direct(lobby, ReturnEntrant(entrant_id=zaynab), token=token)
        assert not lobby.hall.get("cup").entrants[zaynab].withdrawn


async def test_a_directors_decision_ends_the_match_and_stands_against_its_result(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, rounds=1)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
        pods = lobby.hall.get("cup").rounds[0].pods
        await direct(lobby, AdjudicatePod(round=1, pod=1, places=(4, 3, 2, 1), reason="cards were marked"))
        await until(lambda: (pods[0].pod.match_id, "adjudicate") in world.tables.directed)
        for pod in pods:
            await world.tables.finish(pod.pod.match_id, (1, 2, 3, 4))
        await finished(lobby)
        assert lobby.hall.get("cup").rounds[0].pods[0].places == (4, 3, 2, 1)
        await world.tables.finish(pods[0].pod.match_id, (2, 1, 3, 4), revision=2)
        await until(lambda: lobby.hall.get("cup").rounds[0].pods[0].places == (2, 1, 3, 4))
        score = {one.entrant_id: one.score for one in lobby.hall.get("cup").final_standings}
        assert score[pods[0].entrants[1]] == 6


async def test_a_pod_that_only_one_has_not_forfeited_is_over(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, rounds=1, pod_size=2)
        await enter_computers(lobby, 2)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 1)
        (pod,) = lobby.hall.get("cup").rounds[0].pods
        await direct(lobby, ForfeitEntrant(round=1, pod=1, entrant_id=pod.entrants[0], reason="left"))
        await finished(lobby)
        assert [line.entrant_id for line in lobby.hall.get("cup").final_standings] == list(
            reversed(pod.entrants)
        )
        await until(lambda: (pod.pod.match_id, "abort") in world.tables.directed)


async def test_who_did_not_come_is_recorded_and_forfeits_where_the_tournament_says_so(
    world: Platform,
) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby, rounds=1, no_show=tournament_pb2.NO_SHOW_POLICY_FORFEIT)
        await enter_computers(lobby, 3)
        late, _ = await enter_person(lobby, "Late")
        await direct(lobby, StartTournament())
        await playing(lobby, world, 1)
        (match_id,) = world.tables.opened
        seat = [one.player_id for one in world.tables.opened[match_id].seats].index(late)
        places = [1 + (n - seat) % 4 for n in range(4)]  # his computer wins
        await world.tables.finish(match_id, places, absent=[seat])
        await finished(lobby)
        last = lobby.hall.get("cup").final_standings[-1]
        assert (last.entrant_id, last.score, last.no_shows, last.forfeits) == (late, 0, 1, 1)


async def test_aborting_aborts_the_open_matches(world: Platform) -> None:
    world.tables.plays = lambda setup: None
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await playing(lobby, world, 2)
        await direct(lobby, AbortTournament(reason="power cut"))
        await until(lambda: [name for _, name in world.tables.directed] == ["abort", "abort"])
        assert (await refused(direct(lobby, StartTournament()))).code is Code.WRONG_STAGE


async def test_matches_are_opened_as_soon_as_a_table_answers(world: Platform) -> None:
    world.tables.refuse = Code.UNAVAILABLE
    async with world.lobby() as lobby:
        await create(lobby)
        await enter_computers(lobby, 8)
        await direct(lobby, StartTournament())
        await until(lambda: lobby.hall.get("cup").round == 1)
        await asyncio.sleep(0.7)
        assert not world.tables.opened
        world.tables.refuse = None
        await finished(lobby)
