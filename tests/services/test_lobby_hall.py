"""Tournaments are decided in one order, whatever is asked at the same time, and told only when stored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.memory_store import Fault, MemoryStore
from majlis.chassis.journal.recovery import open_shard
from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act, fold
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    CreateTournament,
    PairRound,
    RegisterEntrant,
    StartTournament,
    TournamentCommand,
    TournamentStage,
    WithdrawEntrant,
)
from majlis.engine.vocabulary.wire import decode_batch
from majlis.lobby.hall import SHARD, SUBJECT, Hall
from tests.engine.tournament.played import person, setup
from tests.support.journal import Claimed


@contextlib.asynccontextmanager
async def hall_over(store: MemoryStore, epoch: int = 1) -> AsyncIterator[Hall]:
    hall, clock = Hall(), SystemClock()
    claim = Claimed(epoch=epoch, previous_alive_ms=0)
    hall.shard = await open_shard(store, SUBJECT, SHARD, claim, f"lobby-{epoch}", hall, clock)
    running = asyncio.create_task(hall.shard.run())
    beating = asyncio.create_task(beat(hall))
    try:
        yield hall
    finally:
        for task in (running, beating):
            task.cancel()
        await asyncio.gather(running, beating, return_exceptions=True)


async def beat(hall: Hall) -> None:
    while hall.shard is not None:
        hall.shard.beat()
        await asyncio.sleep(0.05)


def store_of_now() -> MemoryStore:
    return MemoryStore(now_ms=SystemClock().now_ms)


def act(command: TournamentCommand, command_id: str = "") -> Act:
    return Act(
        actor_kind=ActorKind.LOBBY, actor_id="lobby", command_id=command_id, command=command, received_at_ms=1
    )


async def begun(hall: Hall, entrants: int) -> None:
    await hall.submit("cup", act(CreateTournament(setup=setup(min_pod_size=2))))
    await asyncio.gather(
        *(hall.submit("cup", act(RegisterEntrant(entrant=person(n)))) for n in range(entrants))
    )
    await hall.submit("cup", act(StartTournament()))


async def test_who_leaves_while_a_round_is_being_paired_is_not_in_it() -> None:
    store = store_of_now()
    async with hall_over(store) as hall:
        await begun(hall, 24)
        pairing = asyncio.create_task(hall.submit("cup", act(PairRound(round=1, shards=8))))
        await asyncio.sleep(0)
        await hall.submit("cup", act(WithdrawEntrant(entrant_id="e7")))
        assert not hall.get("cup").rounds, (
            "the pairing was done before the withdrawal: the test shows nothing"
        )
        await pairing
        state = hall.get("cup")
        assert state.stage is TournamentStage.PLAYING
        seated = [one for pod in state.rounds[0].pods for one in pod.entrants]
        assert sorted(seated) == sorted(f"e{n}" for n in range(24) if n != 7)
        stored = [entry for _, message in store.messages for entry in decode_batch(message.data).entries]
        assert fold(stored) == state


async def test_a_round_is_paired_once_whoever_asks_twice() -> None:
    async with hall_over(store_of_now()) as hall:
        await begun(hall, 8)
        asked = [hall.submit("cup", act(PairRound(round=1, shards=8))) for _ in range(3)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        refusals = [one for one in answers if isinstance(one, Rejected)]
        assert [one.code for one in refusals] == [Code.WRONG_STAGE, Code.WRONG_STAGE]
        assert hall.get("cup").round == 1


async def test_nothing_is_shown_or_refused_before_what_it_rests_on_is_stored() -> None:
    store = store_of_now()
    async with hall_over(store) as hall:
        await hall.submit("cup", act(CreateTournament(setup=setup())))
        store.fault = lambda subject, data: Fault.LOSE_REQUEST
        first = asyncio.create_task(hall.submit("cup", act(RegisterEntrant(entrant=person(1)))))
        again = asyncio.create_task(hall.submit("cup", act(RegisterEntrant(entrant=person(1)))))
        await asyncio.sleep(0.2)
        assert not first.done()
        assert not again.done()
        assert not hall.get("cup").entrants
        store.fault = lambda subject, data: None
        assert await first == 2
        with pytest.raises(Rejected) as refusal:
            await again
        assert refusal.value.code is Code.ALREADY_REGISTERED


async def test_a_hall_that_was_taken_over_says_unavailable_and_shows_nothing_unstored() -> None:
    store = store_of_now()
    async with hall_over(store) as former:
        await former.submit("cup", act(CreateTournament(setup=setup())))
        async with hall_over(store, epoch=2) as present:
            with pytest.raises(Rejected) as refusal:
                await former.submit("cup", act(RegisterEntrant(entrant=person(1))))
            assert refusal.value.code is Code.UNAVAILABLE
            assert not former.get("cup").entrants
            assert await present.submit("cup", act(RegisterEntrant(entrant=person(2)))) == 2
