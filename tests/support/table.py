"""A table instance without its edges: one shard over an in-memory log, driven by the test."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

from msgspec import Struct

from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.memory_store import MemoryStore
from majlis.chassis.journal.recovery import open_shard
from majlis.engine import match
from majlis.engine.match import Act
from majlis.engine.vocabulary.entry import ActorKind, Batch, Command, Entry
from majlis.engine.vocabulary.match import Controller, OpenMatch, Option, SeatSetup, TakeSeat
from majlis.engine.vocabulary.wire import decode_batch, decode_entry
from majlis.table.answers import Answer
from majlis.table.host import TableHost
from majlis.table.live import LiveMatch
from majlis.table.shard_host import ShardHost

MATCH = "0-abcdefgh"
SUBJECT = "journal.match.0"
SEED = bytes(range(32))


class FixedClaim(Struct):
    """A claim as recovery sees it."""

    epoch: int
    previous_alive_ms: int = 0


class Rig:
    """A host with its shard; `take_over` gives the instance that follows it on the same log."""

    def __init__(self, store: MemoryStore, checkpoints: MemoryStore, epoch: int, clock: SystemClock) -> None:
        self.store = store
        self.checkpoints = checkpoints
        self.epoch = epoch
        self.clock = clock
        self.host = TableHost(clock)
        self.shard_host = ShardHost("0", store, checkpoints, f"instance-{epoch}", clock)
        self._tasks: list[asyncio.Task[Any]] = []
        self._commands = 0

    async def start(self) -> None:
        claim = FixedClaim(self.epoch)
        shard = await open_shard(
            self.store, SUBJECT, "0", claim, f"instance-{self.epoch}", self.shard_host, self.clock
        )
        self.shard_host.own(shard)
        self._tasks = [asyncio.create_task(shard.run()), asyncio.create_task(self._beat())]
        await self.host.adopt(self.shard_host)

    async def stop(self) -> None:
        """As kill -9 would: nothing is handed over."""
        self.host.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take_over(self) -> Rig:
        """The next owner of the shard; this one is not told."""
        following = Rig(self.store, self.checkpoints, self.epoch + 1, self.clock)
        await following.start()
        return following

    async def _beat(self) -> None:
        while True:
            if self.shard_host.shard is not None:
                self.shard_host.shard.beat()
            await asyncio.sleep(0.1)

    @property
    def live(self) -> LiveMatch:
        return self.shard_host.matches[MATCH]

    def act(
        self, command: Command, kind: ActorKind = ActorKind.SEAT, seat: int | None = None, **rest: Any
    ) -> Act:
        """A command with an id of its own, for the open decision."""
        self._commands += 1
        decision = (
            match.open_decision(self.live.stored)
            if MATCH in self.shard_host.matches and self.live.stored
            else None
        )
        return Act(
            actor_kind=kind,
            actor_seat=seat,
            actor_id=rest.pop("actor_id", f"p{seat}"),
            command_id=rest.pop("command_id", f"{self.epoch}-{self._commands}"),
            decision_id=rest.pop("decision_id", decision.decision_id if decision else 0),
            command=command,
            observed=self.host.observed(),
        )

    async def open(
        self, *, persons: int = 2, computers: int = 0, match_id: str = MATCH, **options: str
    ) -> Answer:
        """Opens a match of Sounding for persons p0, p1 … and computers."""
        seats = [SeatSetup(player_id=f"p{i}", controller=Controller.PERSON) for i in range(persons)]
        seats += [SeatSetup(controller=Controller.COMPUTER) for _ in range(computers)]
        setup = OpenMatch(
            game="sounding",
            seats=tuple(seats),
            server_seed=SEED,
            options=tuple(Option(name=name, value=value) for name, value in options.items()),
        )
        act = self.act(setup, ActorKind.LOBBY, actor_id="lobby", command_id=f"open-{match_id}", decision_id=0)
        return (await self.host.open(match_id, act))[0]

    async def seat_everybody(self) -> None:
        for seat in range(len(self.live.wake().seats)):
            await self.host.ask(MATCH, self.act(TakeSeat(), seat=seat))

    def random_act(self, rng: random.Random) -> Act:
        """A legal move of a seat that is waited for."""
        state = self.live.stored
        assert state is not None
        seat = rng.choice(match.waiting_for(state))
        return self.act(rng.choice(list(match.game_of(state).legal(state.game_state, seat))), seat=seat)

    async def play(self, moves: int, rng: random.Random) -> None:
        for _ in range(moves):
            if self.live.stored is not None and self.live.stored.ended is None:
                await self.host.ask(MATCH, self.random_act(rng))


@contextlib.asynccontextmanager
async def rig(store: MemoryStore | None = None) -> AsyncIterator[Rig]:
    """A table instance that owns shard 0 of an empty log."""
    clock = SystemClock()
    made = Rig(store or MemoryStore(now_ms=clock.now_ms), MemoryStore(), 1, clock)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


def stored_entries(of: Rig, match_id: str = MATCH) -> list[Entry]:
    """The match as the log has it."""
    batches: list[Batch] = [decode_batch(message.data) for _, message in of.store.messages]
    entries = [decode_entry(entry) for batch in batches for entry in batch.entries]
    return [entry for entry in entries if entry.match_id == match_id]


async def eventually(holds: Callable[[], Any], within_s: float = 5.0) -> None:
    for _ in range(int(within_s / 0.01)):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to hold")
