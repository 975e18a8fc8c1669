"""A toy that keeps checkpoints: matches are counters, the log is a list."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from majlis.chassis.journal.checkpoints import Bucket, Checkpoints, Saved
from majlis.chassis.journal.memory_store import MemoryStore
from majlis.chassis.journal.store import Store, Stored

T = TypeVar("T")
SMALL = 2
"""Matches to a bucket of the toy: few, so that buckets fill, empty and are used again."""


def now(work: Coroutine[Any, Any, T]) -> T:
    """Runs what never really waits."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("it waits")


class Entry(Struct, frozen=True):
    """One entry of the toy log; its sequence is its place."""

    match_id: str
    number: int
    final: bool


State = tuple[int, bool]
"""Entries folded, and whether the last one was the final one."""


class Owner:
    """Folds the toy log and keeps checkpoints of it."""

    def __init__(self, store: Store, epoch: int, size: int = SMALL) -> None:
        self.epoch = epoch
        self.settled = 0
        self.states: dict[str, State] = {}
        self.first: dict[str, int] = {}
        self.forgotten: set[str] = set()
        self.tail = 0
        self.checkpoints = Checkpoints(store, "0", size)

    def recover(self, log: list[Entry]) -> None:
        scan_from, saved = now(self.checkpoints.load())
        self.states = {one.match_id: msgspec.msgpack.decode(one.state, type=State) for one in saved}
        self.first = {one.match_id: one.first_sequence for one in saved}
        self.tail = len(log) - scan_from
        self.settled = scan_from
        for entry in log[scan_from:]:
            self.fold(entry)

    def fold(self, entry: Entry) -> None:
        self.settled += 1
        known = self.states.get(entry.match_id, (0, False))[0]
        if entry.number == known + 1:
            self.states[entry.match_id] = (entry.number, entry.final)
            self.first.setdefault(entry.match_id, self.settled)
            self.checkpoints.touch(entry.match_id, self.settled)

    def checkpoint(self) -> None:
        now(self.checkpoints.write_oldest(self, self.save))

    def save(self, match_id: str) -> Saved | None:
        if match_id not in self.states:
            return None
        number, final = self.states[match_id]
        return Saved(match_id, number, self.first[match_id], 1, msgspec.msgpack.encode((number, final)))

    def checkpoint_all(self) -> None:
        while self.checkpoints.dirty:
            self.checkpoint()

    def forget(self) -> None:
        """Lets go of every match it knows to have ended."""
        for match_id in [m for m, (_, final) in self.states.items() if final]:
            del self.states[match_id]
            self.forgotten.add(match_id)


class World:
    """The toy log, and the owners that follow each other."""

    def __init__(self, store: MemoryStore | None = None, size: int = 2) -> None:
        self.store = store or MemoryStore()
        self.size = size
        self.log: list[Entry] = []
        self.truth: dict[str, int] = {}
        self.epoch = 0

    def next_owner(self) -> Owner:
        self.epoch += 1
        owner = Owner(self.store, self.epoch, self.size)
        owner.recover(self.log)
        return owner

    def play(self, owner: Owner, *matches: str, final: bool = False) -> None:
        for match_id in matches:
            self.truth[match_id] = self.truth.get(match_id, 0) + 1
            entry = Entry(match_id, self.truth[match_id], final)
            self.log.append(entry)
            owner.fold(entry)

    def buckets(self) -> dict[int, Bucket]:
        found = now(self.store.last_each("checkpoint.0.>"))
        return {
            int(subject.rsplit(".", 1)[-1]): msgspec.msgpack.decode(stored.data, type=Bucket)
            for subject, stored in found
        }

    def damage(self, number: int, data: bytes = b"\xc1") -> None:
        subject = f"checkpoint.0.{number}"
        stored = now(self.store.head(subject))
        assert stored is not None
        self.store.messages[stored.sequence - 1] = (subject, Stored(stored.sequence, data, 0))

    def check(self, owner: Owner) -> None:
        """Whoever is known is known as the log has it."""
        assert {m: number for m, (number, _) in owner.states.items()} == {
            m: number for m, number in self.truth.items() if m in owner.states
        }
