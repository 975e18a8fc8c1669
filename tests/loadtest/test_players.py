"""Load players on a real platform: whatever breaks, every acknowledged move is in the log once and at every seat."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import AsyncIterator

from majlis.chassis import broker
from majlis.chassis.journal.nats_store import NatsStore
from majlis.engine.vocabulary.entry import ActorKind, Entry
from majlis.engine.vocabulary.wire import decode_batch, decode_entry
from majlis.loadtest.player_process import Assignment, Crowd
from majlis.loadtest.private_platform import PrivatePlatform, private_platform
from majlis.loadtest.tally import Tally

SHARDS = 2


@contextlib.asynccontextmanager
async def crowd(platform: PrivatePlatform, *, tables: int, rate: float | None = None) -> AsyncIterator[Crowd]:
    """Players at that many tables, everybody seated and playing."""
    made = Crowd(
        Assignment(
            addresses=platform.addresses,
            keys_dir=str(platform.keys_dir),
            run="test",
            tables=tables,
            seats=3,
            shards=SHARDS,
            rate=rate,
        )
    )
    try:
        await made.open()
        made.play()
        yield made
    finally:
        await made.close()


async def log(platform: PrivatePlatform) -> list[Entry]:
    """Every entry of every match, as the broker holds it."""
    store = NatsStore(
        broker.JOURNAL, lambda: broker.connect([platform.broker_url], "table-reader", reconnect=False)
    )
    entries = []
    try:
        for shard in range(platform.shards):
            subject = f"journal.match.{shard}"
            head = await store.head(subject)
            async for stored in store.scan(subject, 0, head.sequence if head else 0):
                entries += [decode_entry(entry) for entry in decode_batch(stored.data).entries]
    finally:
        await store.close()
    return entries


async def check_nothing_lost_or_doubled(platform: PrivatePlatform, end: Tally) -> None:
    """Sent = acknowledged = stored, each command once, and nobody waits for an answer or a view."""
    assert (end.unanswered, end.unseen, end.strange, end.rejected) == (0, 0, 0, {})
    entries = await log(platform)
    commands = Counter(
        (entry.match_id, entry.actor_seat, entry.command_id)
        for entry in entries
        if entry.actor_kind is ActorKind.SEAT
    )
    assert set(commands.values()) == {1}
    assert len(commands) == end.sent
    assert set(Counter((entry.match_id, entry.number) for entry in entries).values()) == {1}


async def until_moved(players: Crowd, moves: int) -> None:
    """Waits until so many more moves have been seen by all seats."""
    async with asyncio.timeout(60):
        goal = players.players.tally.seen + moves
        while players.players.tally.seen < goal:
            await asyncio.sleep(0.02)


async def test_every_acknowledged_move_is_stored_once_and_seen_by_all_seats() -> None:
    async with private_platform(SHARDS) as platform, crowd(platform, tables=4) as players:
        await until_moved(players, 300)
        end = await players.stop()
        assert end.seen >= 300
        assert end.duplicates == end.breaks == end.moved == 0
        await check_nothing_lost_or_doubled(platform, end)


async def test_a_match_that_ends_is_followed_by_another() -> None:
    async with private_platform(SHARDS) as platform, crowd(platform, tables=2) as players:
        async with asyncio.timeout(60):
            while players.players.tally.ended < 2:
                await asyncio.sleep(0.05)
        await until_moved(players, 20)
        await check_nothing_lost_or_doubled(platform, await players.stop())


async def test_an_open_loop_moves_when_due_and_not_before() -> None:
    async with private_platform(SHARDS) as platform, crowd(platform, tables=5, rate=2.0) as players:
        before = players.players.tally.sent
        await asyncio.sleep(3)
        sent = players.players.tally.sent - before
        assert 10 <= sent <= 40  # 30 are due; fewer on a machine that is too slow, never many more
        await check_nothing_lost_or_doubled(platform, await players.stop())


async def test_broken_streams_resume_where_they_were() -> None:
    async with private_platform(SHARDS) as platform, crowd(platform, tables=4) as players:
        for _ in range(3):
            await until_moved(players, 40)
            players.players.cut()
        await until_moved(players, 40)
        end = await players.stop()
        assert end.breaks == 3
        await check_nothing_lost_or_doubled(platform, end)


async def test_players_follow_a_match_to_its_new_owner() -> None:
    async with private_platform(SHARDS, instances=2) as platform, crowd(platform, tables=6) as players:
        await until_moved(players, 60)
        platform.tables[0].send_signal(signal.SIGTERM)
        await asyncio.wait_for(platform.tables[0].wait(), 30)
        await until_moved(players, 60)
        await check_nothing_lost_or_doubled(platform, await players.stop())


async def test_players_go_on_after_their_table_was_killed() -> None:
    async with private_platform(SHARDS, instances=2) as platform, crowd(platform, tables=6) as players:
        await until_moved(players, 60)
        platform.tables[0].kill()
        await until_moved(players, 60)
        await check_nothing_lost_or_doubled(platform, await players.stop())
