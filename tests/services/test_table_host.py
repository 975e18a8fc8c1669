"""What a table instance promises of its matches, over an in-memory log with faults on demand."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
import pytest

from majlis.chassis.journal.memory_store import Fault
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import Abort, Controller, CreditCause, Pause, TakeSeat
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.sounding import SoundingDraw, SoundingFlip
from majlis.table import shard_host as shard_host_module
from majlis.table.answers import Answer
from tests.support.table import MATCH, eventually, rig, stored_entries


class Seen:
    """A watcher that remembers."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.versions: list[int] = []
        self.rejected: Rejected | None = None

    def show(self, shown: Any) -> None:
        self.versions.append(shown.seen[self.seat].version)

    def lost(self, moved: Rejected) -> None:
        self.rejected = moved


async def test_nothing_is_answered_or_shown_before_it_is_stored() -> None:
    async with rig() as table:
        await table.open()
        watcher = Seen(0)
        table.live.watchers.append(watcher)
        table.store.fault = lambda subject, data: Fault.LOSE_REQUEST
        answers: list[Answer] = []
        table.host.submit(MATCH, table.act(TakeSeat(), seat=0), answers.append)
        # A refusal rests on the state that is not stored yet: it waits as well.
        table.host.submit(MATCH, table.act(TakeSeat(), seat=0), answers.append)
        await asyncio.sleep(0.2)
        assert answers == []
        assert watcher.versions == []
        assert table.live.stored is not table.live.decided
        table.store.fault = lambda subject, data: None
        await eventually(lambda: len(answers) == 2)
        assert answers[0].rejected is None
        assert answers[1].rejected is not None
        assert answers[1].rejected.code is RejectionCode.SEAT_TAKEN
        await eventually(lambda: watcher.versions == [2])  # views go out in the tick after the answers


async def test_an_answer_lost_by_the_log_is_resolved_to_one_entry() -> None:
    async with rig() as table:
        await table.open()
        lose = [True]

        def once(subject: str, data: bytes) -> Fault | None:
            return Fault.LOSE_ACKNOWLEDGEMENT if lose and lose.pop() else None

        table.store.fault = once
        answer = await table.host.ask(MATCH, table.act(TakeSeat(), seat=0))
        assert answer.entry == 2
        assert [entry.number for entry in stored_entries(table)] == [1, 2]


async def test_a_refusal_leaves_no_trace_in_the_log() -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        before = len(table.store.messages)
        refused = [
            table.act(SoundingDraw(), seat=0),
            table.act(SoundingFlip(cell=0), seat=7),
            table.act(SoundingFlip(cell=0), seat=0, decision_id=99),
            table.act(Abort(reason="mine"), seat=0),
            table.act(Pause(reason=""), ActorKind.DIRECTOR, actor_id="d", command_id=""),
        ]
        for act in refused:
            with pytest.raises(Rejected):
                await table.host.ask(MATCH, act)
        assert len(table.store.messages) == before


async def test_a_repeated_command_is_answered_as_the_first_time() -> None:
    async with rig() as table:
        await table.open()
        act = table.act(TakeSeat(), seat=0)
        first = await table.host.ask(MATCH, act)
        again = await table.host.ask(MATCH, act)
        assert (first.entry, first.duplicate) == (2, False)
        assert (again.entry, again.duplicate) == (2, True)
        assert len(stored_entries(table)) == 2
        with pytest.raises(Rejected) as refused:
            await table.host.ask(MATCH, msgspec.structs.replace(act, command=TakeSeat(entropy=b"other")))
        assert refused.value.code is RejectionCode.DUPLICATE_COMMAND


async def test_opening_a_match_twice_is_opening_it_once() -> None:
    async with rig() as table:
        assert not (await table.open()).duplicate
        assert (await table.open()).duplicate
        assert len(stored_entries(table)) == 1


async def test_a_match_of_another_instance_is_answered_with_moved() -> None:
    async with rig() as table:
        with pytest.raises(Rejected) as refused:
            await table.open(match_id="1-abcdefgh")
        assert refused.value.code is RejectionCode.MOVED


async def test_a_fenced_owner_tells_its_waiters_and_watchers_that_the_match_has_moved() -> None:
    async with rig() as table:
        await table.open()
        watcher = Seen(0)
        table.live.watchers.append(watcher)
        shard = table.shard_host.shard
        assert shard is not None
        shard.on_lost = lambda: table.host.drop(table.shard_host)
        following = await table.take_over()
        with pytest.raises(Rejected) as refused:
            await table.host.ask(MATCH, table.act(TakeSeat(), seat=0))
        assert refused.value.code is RejectionCode.MOVED
        assert watcher.rejected is not None
        assert watcher.rejected.code is RejectionCode.MOVED
        assert len(stored_entries(table)) == 1
        # The same command id at the new owner: accepted there, once.
        await following.host.ask(MATCH, following.act(TakeSeat(), seat=0))
        assert sum(isinstance(entry.command, TakeSeat) for entry in stored_entries(table)) == 1
        await following.stop()


async def test_a_passed_deadline_is_a_command_of_the_clock() -> None:
    async with rig() as table:
        await table.open(turn_ms="100", drawn_ms="100", initial_flips_ms="100")
        await table.seat_everybody()
        await eventually(lambda: len(stored_entries(table)) > 4)
        clock = stored_entries(table)[3]
        assert clock.actor_kind is ActorKind.CLOCK
        assert clock.decision_id == 1


async def test_three_missed_decisions_and_the_computer_takes_the_seat() -> None:
    async with rig() as table:
        await table.open(turn_ms="100", drawn_ms="100", initial_flips_ms="100")
        await table.seat_everybody()

        def taken_over() -> bool:
            state = table.live.stored
            return state is not None and state.seats[0].controller is Controller.COMPUTER

        await eventually(taken_over)


async def test_no_deadline_is_decided_while_the_log_does_not_answer() -> None:
    async with rig() as table:
        await table.open(turn_ms="100", drawn_ms="100", initial_flips_ms="600")
        await table.seat_everybody()
        table.store.reachable = False
        table.host.submit(MATCH, table.random_act(random.Random(4)), lambda answer: None)
        await asyncio.sleep(0.9)
        shard = table.shard_host.shard
        assert shard is not None
        assert shard.stalled
        assert table.live.decided is not None
        assert table.live.decided.number == 4  # the move that waits, and nothing of the clock's
        table.store.reachable = True
        await eventually(lambda: table.live.stored is not None and table.live.stored.number == 4)
        assert table.live.credits[0].cause is CreditCause.STALL


async def test_a_finished_match_is_known_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.host.ask(
            MATCH, table.act(Abort(reason="test"), ActorKind.DIRECTOR, actor_id="d", decision_id=0)
        )
        table.live.published = True
        table.shard_host.forget_finished()
        assert MATCH in table.shard_host.matches, "kept whole for late retries"
        monkeypatch.setattr(shard_host_module, "FORGET_AFTER_MS", -1)
        table.shard_host.forget_finished()
        assert MATCH not in table.shard_host.matches
        with pytest.raises(Rejected) as refused:
            await table.host.ask(MATCH, table.act(TakeSeat(), seat=0))
        assert refused.value.code is RejectionCode.MATCH_FINISHED
        # The next owner knows it as well: from the checkpoint.
        await table.shard_host.checkpoint()
        following = await table.take_over()
        assert MATCH in following.shard_host.finished
        await following.stop()
        monkeypatch.setattr(shard_host_module, "TOMBSTONE_MS", -1)
        table.shard_host.forget_finished()
        with pytest.raises(Rejected) as unknown:
            await table.host.ask(MATCH, table.act(TakeSeat(), seat=0))
        assert unknown.value.code is RejectionCode.UNKNOWN_MATCH
