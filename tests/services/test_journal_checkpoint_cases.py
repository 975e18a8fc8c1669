"""Checkpoints, case by case: what a bucket holds, what a zombie may spoil, what a damaged bucket costs."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from majlis.chassis.journal.batches import SCHEMA
from majlis.chassis.journal.checkpoints import BUCKET_SIZE, FORMAT, Checkpoints
from majlis.chassis.journal.memory_store import Fault
from majlis.chassis.journal.store import Unknown
from tests.support.journal import ManualClock, WatchedStore, ticks
from tests.support.toy import World, now

# --- buckets ---------------------------------------------------------------------------------------------------------


def test_a_bucket_holds_at_most_32_matches() -> None:
    world = World(size=BUCKET_SIZE)
    owner = world.next_owner()
    world.play(owner, *(f"m{number}" for number in range(100)))
    owner.checkpoint_all()
    assert sorted(len(bucket.matches) for bucket in world.buckets().values()) == [4, 32, 32, 32]


def test_the_bucket_that_has_been_dirty_for_longest_is_written_first() -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, *"abcd")  # buckets 0 and 1
    world.play(owner, "a")
    owner.checkpoint()
    assert (list(world.buckets()), world.buckets()[0].scan_from) == ([0], 2)
    world.play(owner, "a")
    owner.checkpoint()
    assert world.buckets()[1].scan_from == 5
    assert world.next_owner().tail == 1


def test_forgotten_matches_make_room_for_new_ones() -> None:
    world = World()
    owner = world.next_owner()
    for number in range(50):
        world.play(owner, f"m{number}", final=True)
        owner.checkpoint_all()
        owner.forget()
        owner.checkpoint_all()
    assert len(world.buckets()) <= 3


def test_the_last_checkpoints_hold_no_forgotten_match() -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, *"abcd")
    owner.checkpoint_all()
    world.play(owner, "a", "c", final=True)
    owner.forget()
    owner.checkpoint_all()
    assert world.next_owner().states.keys() == {"b", "d"}


def test_after_a_take_over_the_tail_stays_short_while_play_goes_on() -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, *(f"m{number}" for number in range(20)))
    owner.checkpoint_all()
    for _ in range(5):
        owner = world.next_owner()
        for _ in range(40):
            world.play(owner, "m1", "m7")
            owner.checkpoint()
        assert world.next_owner().tail <= 8


# --- while a bucket is being written ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [None, Fault.LOSE_REQUEST])
async def test_an_entry_that_arrives_while_its_bucket_is_being_written_is_not_lost(
    fault: Fault | None,
) -> None:
    world = World(WatchedStore(ManualClock()))
    owner = world.next_owner()
    world.play(owner, *"abcd")
    world.store.fault = lambda subject, data: fault
    assert isinstance(world.store, WatchedStore)
    world.store.gate.clear()
    writing = asyncio.create_task(owner.checkpoints.write_oldest(owner, owner.save))
    await ticks()
    world.play(owner, "a")
    world.store.gate.set()
    await writing
    world.store.fault = lambda subject, data: None
    owner.checkpoint()
    owner.checkpoint()
    following = world.next_owner()
    assert (following.states, following.tail) == (owner.states, 0)


async def test_a_write_that_is_cancelled_leaves_its_bucket_dirty() -> None:
    world = World(WatchedStore(ManualClock()))
    owner = world.next_owner()
    world.play(owner, *"abc")
    assert isinstance(world.store, WatchedStore)
    world.store.gate.clear()
    writing = asyncio.create_task(owner.checkpoints.write_oldest(owner, owner.save))
    await ticks()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    world.store.gate.set()
    assert owner.checkpoints.dirty == 2
    owner.checkpoint_all()
    following = world.next_owner()
    assert following.states == owner.states
    assert following.tail == 0


def test_a_store_that_cannot_be_reached_is_waited_for() -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, "a")
    world.store.reachable = False
    owner.checkpoint()
    with pytest.raises(Unknown):
        now(Checkpoints(world.store, "0").load())
    world.store.reachable = True
    owner.checkpoint_all()
    assert world.next_owner().tail == 0


def test_a_bucket_too_large_for_the_log_does_no_harm() -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, "a" * 2_000_000)
    owner.checkpoint()
    assert owner.checkpoints.dirty == 1
    world.check(world.next_owner())


# --- former owners ---------------------------------------------------------------------------------------------------


def test_a_former_owner_writes_over_nothing_of_its_successor_and_stops() -> None:
    world = World()
    zombie = world.next_owner()
    world.play(zombie, *"abcd")
    zombie.checkpoint_all()
    world.play(zombie, *"abcd")
    owner = world.next_owner()
    world.play(owner, *"abcd")
    owner.checkpoint_all()
    for _ in range(4):
        zombie.checkpoint()
    assert zombie.checkpoints.dirty == 0
    assert {bucket.epoch for bucket in world.buckets().values()} == {2}
    following = world.next_owner()
    assert (following.states, following.tail) == (owner.states, 0)


def test_a_former_owner_does_not_bring_a_forgotten_match_back_in_an_old_bucket() -> None:
    world = World()
    zombie = world.next_owner()
    world.play(zombie, "a")
    zombie.checkpoint_all()
    world.play(zombie, "b")  # into the same bucket, not written yet
    owner = world.next_owner()
    world.play(owner, "b", final=True)
    owner.forget()
    owner.checkpoint_all()
    zombie.checkpoint()
    zombie.checkpoint()
    world.check(world.next_owner())


def test_a_new_owner_puts_no_match_where_a_former_owner_may_still_write() -> None:
    world = World()
    zombie = world.next_owner()
    world.play(zombie, *"abc")  # a and b in bucket 0, c in bucket 1
    world.play(zombie, "b", final=True)
    zombie.forget()
    zombie.checkpoint_all()  # both have room now
    world.play(zombie, "d")  # into bucket 1
    owner = world.next_owner()
    world.play(owner, "d", final=True)
    owner.forget()
    owner.checkpoint()  # bucket 0
    zombie.checkpoint()  # bucket 1, with d as it was
    world.check(world.next_owner())


def test_what_a_former_owner_says_of_the_tail_is_not_believed() -> None:
    world = World()
    zombie = world.next_owner()
    world.play(zombie, *"abcd")
    zombie.checkpoint_all()
    world.play(zombie, "e", "c")  # e into bucket 2, c in bucket 1
    owner = world.next_owner()
    owner.checkpoint()  # bucket 0
    zombie.checkpoint()
    zombie.checkpoint()
    following = world.next_owner()
    world.check(following)
    assert following.states.keys() == set("abcde")


# --- damage ----------------------------------------------------------------------------------------------------------


def three_buckets() -> World:
    """One match in each, from three owners."""
    world = World()
    for match_id in "abc":
        owner = world.next_owner()
        world.play(owner, match_id)
        owner.checkpoint_all()
    assert {number: len(bucket.matches) for number, bucket in world.buckets().items()} == {0: 1, 1: 1, 2: 1}
    return world


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_damaged_bucket_costs_one_recovery_from_the_start(number: int) -> None:
    world = three_buckets()
    world.damage(number)
    owner = world.next_owner()
    assert owner.tail == len(world.log)
    assert owner.states.keys() == set("abc")
    owner.checkpoint_all()
    following = world.next_owner()
    assert (following.states, following.tail) == (owner.states, 0)


def test_after_damage_no_old_bucket_brings_a_forgotten_match_back() -> None:
    world = three_buckets()
    world.damage(0)
    owner = world.next_owner()
    world.play(owner, "c", final=True)
    owner.forget()
    owner.checkpoint()
    owner.checkpoint()  # c is let go of, bucket 2 still holds it as it was
    following = world.next_owner()
    world.check(following)
    assert following.states.keys() == set("ab")
    following.checkpoint_all()
    world.check(world.next_owner())


@pytest.mark.parametrize(("format_", "schema"), [(FORMAT + 1, SCHEMA), (FORMAT, SCHEMA + 1)])
def test_checkpoints_of_newer_code_are_not_read_but_the_log_is(format_: int, schema: int) -> None:
    world = three_buckets()
    newer = msgspec.structs.replace(world.buckets()[1], format=format_, schema=schema)
    world.damage(1, msgspec.msgpack.encode(newer))
    assert world.next_owner().tail == len(world.log)


@pytest.mark.parametrize("fault", Fault)
def test_a_write_of_unknown_outcome_is_made_good(fault: Fault) -> None:
    world = World()
    owner = world.next_owner()
    world.play(owner, *"abc")
    faults = iter([fault, fault])
    world.store.fault = lambda subject, data: next(faults, None)
    owner.checkpoint()
    world.play(owner, "a")
    owner.checkpoint_all()
    world.store.deliver_late()
    following = world.next_owner()
    assert (following.states, following.tail) == (owner.states, 0)
