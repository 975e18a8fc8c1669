"""The next owner of a shard: the same positions, from a bounded tail of the log, with clocks credited."""

from __future__ import annotations

import asyncio
import random

import pytest

from majlis.chassis.journal.memory_store import Fault
from majlis.engine import match
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import ClockCredited as ClockCreditedEvent
from majlis.engine.vocabulary.match import CreditCause
from tests.support.table import MATCH, Rig, rig, stored_entries


@pytest.mark.parametrize("saved_after", [0, 5, 40])
async def test_the_next_owner_has_the_same_position(saved_after: int) -> None:
    rng = random.Random(saved_after)
    async with rig() as table:
        await table.open(persons=4)
        await table.seat_everybody()
        await table.play(saved_after, rng)
        if saved_after:
            await table.shard_host.checkpoint()
        await table.play(25, rng)
        before = table.live.stored
        assert before is not None
        following = await table.take_over()
        after = following.live.stored
        assert after == before
        assert match.position_hash(after) == match.position_hash(before)
        await following.stop()


async def test_a_checkpoint_bounds_what_is_read() -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.play(30, random.Random(1))
        await table.shard_host.checkpoint()
        following = Rig(table.store, table.checkpoints, 2, table.clock)
        scan_from = await following.shard_host.begin()
        assert scan_from == table.store.messages[-1][1].sequence
        assert following.live.cold is not None
        assert following.live.decided is None


async def test_a_state_of_another_schema_is_folded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.play(12, random.Random(2))
        await table.shard_host.checkpoint()
        before = table.live.stored
        now = match.snapshot.schema("sounding")
        monkeypatch.setattr(match.snapshot, "schema", lambda game: now + 1)
        following = await table.take_over()
        assert following.live.stored == before
        await following.stop()


async def test_a_checkpoint_that_cannot_be_read_is_made_good_from_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.play(12, random.Random(6))
        with monkeypatch.context() as damaged:
            damaged.setattr(match.snapshot, "dump", lambda state: b"not a state")
            await table.shard_host.checkpoint()
        before = table.live.stored
        following = Rig(table.store, table.checkpoints, 2, table.clock)
        await following.start()
        assert following.live.stored == before
        await following.host.ask(MATCH, following.random_act(random.Random(7)))
        await following.stop()


async def test_a_credit_on_its_way_to_the_log_is_not_lost_with_the_process() -> None:
    async with rig() as table:
        await table.open(turn_ms="300000", initial_flips_ms="300000")
        await table.seat_everybody()
        await table.stop()
        await asyncio.sleep(0.2)
        second = await table.take_over()
        lost = second.live.credits
        second.store.fault = lambda subject, data: Fault.LOSE_REQUEST
        second.host.submit(MATCH, second.random_act(random.Random(8)), lambda answer: None)
        assert second.live.owed == ()
        await second.shard_host.checkpoint()
        await second.stop()
        second.store.fault = lambda subject, data: None
        third = await second.take_over()
        assert third.live.credits[: len(lost)] == lost
        await third.stop()


async def test_what_the_platform_lost_is_credited_before_anything_else() -> None:
    async with rig() as table:
        await table.open(turn_ms="300000", initial_flips_ms="300000")
        await table.seat_everybody()
        await table.stop()
        await asyncio.sleep(0.3)
        following = await table.take_over()
        promised = following.live.stored
        assert promised is not None
        decision = match.open_decision(promised)
        assert decision is not None
        assert following.live.credits[0].cause is CreditCause.TAKEOVER
        await following.host.ask(MATCH, following.random_act(random.Random(3)))
        credit, move = stored_entries(following)[-2:]
        (event,) = credit.events
        assert isinstance(event, ClockCreditedEvent)
        assert event.to_ms - event.from_ms >= 300
        assert move.actor_kind is ActorKind.SEAT
        state = following.live.stored
        assert state is not None
        assert state.decision is not None
        assert state.decision.due_ms == decision.due_ms + (event.to_ms - event.from_ms)
        await following.stop()
