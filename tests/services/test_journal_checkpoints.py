"""Checkpoints are a cache: whoever crashed, and whoever still writes, checkpoints and tail give what the log gives."""

from __future__ import annotations

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from structlog.testing import capture_logs

from majlis.chassis.journal.checkpoints import Bucket
from majlis.chassis.journal.memory_store import CheckOrder, Fault, MemoryStore
from majlis.chassis.journal.store import Stored
from tests.support.toy import SMALL, Entry, Owner, State, now

DAMAGED = b"\xc1 is no MessagePack"


class Histories(RuleBasedStateMachine):
    """One owner after the other; former ones go on writing checkpoints, having noticed nothing."""

    @initialize(order=st.sampled_from(CheckOrder))
    def begin(self, order: CheckOrder) -> None:
        self.store = MemoryStore(order)
        self.log: list[Entry] = []
        self.truth: dict[str, State] = {}
        self.owner = Owner(self.store, 1)
        self.zombies: list[Owner] = []
        self.forgettable: set[str] = set()

    @rule(
        numbers=st.lists(st.integers(0, 7), min_size=1, max_size=6),
        final=st.sampled_from([False, False, True]),
    )
    def play(self, numbers: list[int], final: bool) -> None:
        for number in numbers:
            match_id = f"m{number}"
            played, ended = self.truth.get(match_id, (0, False))
            if ended:
                return
            entry = Entry(match_id, played + 1, final)
            self.log.append(entry)
            self.truth[match_id] = (played + 1, final)
            self.owner.fold(entry)

    @rule()
    def forget_finished(self) -> None:
        self.owner.forget()
        self.forgettable |= self.owner.forgotten

    @rule(times=st.integers(1, 6), fault=st.sampled_from([None, None, *Fault]))
    def checkpoint(self, times: int, fault: Fault | None) -> None:
        self.write(self.owner, times, fault)

    @precondition(lambda self: self.zombies)
    @rule(which=st.integers(0, 2), times=st.integers(1, 6), fault=st.sampled_from([None, None, *Fault]))
    def checkpoint_of_a_zombie(self, which: int, times: int, fault: Fault | None) -> None:
        self.write(self.zombies[which % len(self.zombies)], times, fault)

    def write(self, owner: Owner, times: int, fault: Fault | None) -> None:
        """The fault befalls the first of several writes."""
        faults = iter([fault])
        self.store.fault = lambda subject, data: next(faults, None)
        for _ in range(times):
            owner.checkpoint()

    @rule()
    def what_was_late_arrives(self) -> None:
        self.store.deliver_late()

    @rule(pick=st.integers(0, 9))
    def a_bucket_is_damaged(self, pick: int) -> None:
        found = now(self.store.last_each("checkpoint.0.>"))
        if found:
            subject, stored = found[pick % len(found)]
            self.store.messages[stored.sequence - 1] = (subject, Stored(stored.sequence, DAMAGED, 0))

    @rule(survives=st.booleans())
    def take_over(self, survives: bool) -> None:
        self.zombies = [*self.zombies, *([self.owner] if survives else [])][-3:]
        self.owner = Owner(self.store, self.owner.epoch + 1)
        self.owner.recover(self.log)
        for match_id, state in self.truth.items():
            found = self.owner.states.get(match_id)
            assert found == state or (found is None and match_id in self.forgettable), match_id
        assert self.owner.states.keys() <= self.truth.keys()

    @precondition(lambda self: self.log)
    @rule()
    def everything_is_saved_and_nothing_is_left_to_scan(self) -> None:
        self.take_over(survives=True)
        self.owner.checkpoint_all()
        following = Owner(self.store, self.owner.epoch + 1)
        following.recover(self.log)
        assert following.tail == 0

    @invariant()
    def no_bucket_is_too_large(self) -> None:
        for _, stored in now(self.store.last_each("checkpoint.0.>")):
            if stored.data != DAMAGED:
                assert len(msgspec.msgpack.decode(stored.data, type=Bucket).matches) <= SMALL


def test_checkpoints_and_tail_give_what_the_log_gives_whoever_crashed_and_whoever_still_writes() -> None:
    with capture_logs():
        run_state_machine_as_test(
            Histories,
            settings=settings(max_examples=100, stateful_step_count=30, deadline=None, derandomize=True),
        )
