"""The owner's end of one shard's log: group commit, resolution of unknown outcomes, fencing.

Entries that arrive while an append is in flight gather for the next one, so the number of durable entries a second
does not depend on how fast the disk can flush. Nobody is answered before the log has acknowledged what the answer
rests on: every answer goes through `append` or `when_stored`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog
from msgspec import Struct

from majlis.chassis.clock import Clock

from .batches import MAX_BYTES, MAX_ENTRIES, Frozen, Head, follow, freeze
from .store import Store, TooLarge, Unknown, WrongLastSequence

log = structlog.get_logger(__name__)

Waiter = Callable[[bool], None]
"""Called once: True when what it waited for is stored, False when the shard was lost (outcome unknown)."""

STALL_AFTER_S: Final = 0.25
"""An append unacknowledged for longer stalls its shard: no deadline is decided meanwhile."""
LOOP_GAP_S: Final = 1.0
"""After the process stood still for longer, the head is checked before anybody is answered."""
_FIRST_PAUSE_S: Final = 0.05
_LAST_PAUSE_S: Final = 1.0


class Fenced(Exception):
    """Another owner, of the epoch named, has written to the shard: it is not ours any more."""

    def __init__(self, shard: str, epoch: int = 0) -> None:
        super().__init__(f"shard {shard} has been taken over (epoch {epoch})")
        self.epoch = epoch


class Stall(Struct, frozen=True):
    """A span in which the shard could not store: Unix time, milliseconds."""

    from_ms: int
    to_ms: int


class Shard:
    """One shard from its barrier until it is closed or lost. Not thread-safe: one event loop.

    `on_lost` is called once when the shard is lost, `on_stall` after each stall has ended, `on_batch` with the new
    head and the seconds it took. They must not raise: that loses the shard.
    """

    def __init__(self, store: Store, subject: str, name: str, head: Head, clock: Clock) -> None:
        self.name = name
        self.head = head
        self.settled = head.sequence
        """Everything up to this sequence is stored, and who waited for it has been told."""
        self.lost = False
        """It ended otherwise than by `close`: fenced, cancelled or broken."""
        self.batches = 0
        self.entries = 0
        self.on_lost: Callable[[], None] = lambda: None
        self.on_stall: Callable[[Stall], None] = lambda stall: None
        self.on_batch: Callable[[Head, float], None] = lambda head, seconds: None
        self._store = store
        self._subject = subject
        self._clock = clock
        self._gathered: list[bytes] = []
        self._waiters: list[tuple[int, Waiter]] = []  # (entries that must be stored first, waiter), in order
        self._appended = 0  # entries handed in since the barrier
        self._acknowledged = 0
        self._wake = asyncio.Event()
        self._closing = False
        self._ended = False
        self._doubted = False
        self._alive_at = clock.monotonic()
        self._in_flight_since: float | None = None

    @property
    def epoch(self) -> int:
        """The claim under which this owner writes."""
        return self.head.epoch

    def append(self, entry: bytes, then: Waiter) -> None:
        """Adds one entry to the next batch; `then` is called when it is stored. Raises TooLarge."""
        if len(entry) > MAX_BYTES:
            raise TooLarge(f"an entry of {len(entry)} bytes, at most {MAX_BYTES} are taken")
        if self._ended or self._closing:
            then(False)
            return
        self._gathered.append(entry)
        self._appended += 1
        self.when_stored(then)
        self._wake.set()

    def when_stored(self, then: Waiter) -> None:
        """Calls `then` when everything appended so far is stored: at once if it is."""
        if self._ended:
            then(False)
        elif self.idle and not self._doubtful():
            then(True)
        else:
            self._waiters.append((self._appended, then))

    async def stored(self, entry: bytes) -> None:
        """Appends one entry and returns when it is stored. Raises Fenced or TooLarge."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.append(entry, lambda ok: None if done.done() else done.set_result(ok))
        if not await done:
            raise Fenced(self.name)

    @property
    def idle(self) -> bool:
        """Nothing is gathered or in flight."""
        return self._appended == self._acknowledged

    @property
    def stalled(self) -> bool:
        """What is being appended has not been stored for too long, or the shard may not be ours any more."""
        since = self._in_flight_since
        return self._doubted or (since is not None and self._clock.monotonic() - since > STALL_AFTER_S)

    def beat(self) -> None:
        """To be called about ten times a second: a missing beat shows that the process stood still."""
        self._doubtful()
        self._alive_at = self._clock.monotonic()

    def close(self) -> None:
        """No more appends are taken; `run` returns when what was gathered is stored."""
        self._closing = True
        self._wake.set()

    async def run(self) -> None:
        """Appends batch after batch until closed or fenced. However it ends, nobody is left without an answer."""
        try:
            while not (self._closing and self.idle and not self._doubted):
                await self._wake.wait()
                self._wake.clear()
                # The rest of this loop tick may still add entries to the batch.
                await asyncio.sleep(0)
                await self._append_gathered()
                if self._doubted:
                    await self._dispel_doubt()
        except Fenced as fenced:
            log.warning(
                "shard lost", event_type="shard_fenced", shard=self.name, epoch=self.epoch, by=fenced.epoch
            )
        finally:
            self._end()

    async def _append_gathered(self) -> None:
        while self._gathered:
            began, began_ms = self._clock.monotonic(), self._clock.now_ms()
            self._in_flight_since = began
            async with self._store.turns:
                entries = self._take()
                batch = freeze(self.name, self.epoch, self.head, entries)
                head = await self._try(batch)
            self.head = head or await self._insist(batch)
            took_s, self._in_flight_since = self._clock.monotonic() - began, None
            self.batches += 1
            self.entries += len(entries)
            self._acknowledged += len(entries)
            self.on_batch(self.head, took_s)
            if took_s > STALL_AFTER_S:
                self.on_stall(Stall(began_ms, self._clock.now_ms()))
            # Each batch is released before the next is sent: waiters may ask at which sequence theirs stands.
            if self._doubtful():
                await self._dispel_doubt()
            else:
                self._release()

    def _take(self) -> list[bytes]:
        """As many of the gathered entries as fit into one batch."""
        size = 0
        for count, entry in enumerate(self._gathered):
            size += len(entry)
            if count == MAX_ENTRIES or size > MAX_BYTES:
                taken, self._gathered = self._gathered[:count], self._gathered[count:]
                return taken
        taken, self._gathered = self._gathered, []
        return taken

    async def _try(self, batch: Frozen) -> Head | None:
        """Sends the batch once; None where nothing is known afterwards. Raises Fenced where it can never be stored."""
        try:
            return await settle_once(self._store, self._subject, batch, self.head)
        except Unknown as error:
            log.info("append repeated", event_type="append_repeated", shard=self.name, why=str(error))
            return None

    async def _insist(self, batch: Frozen) -> Head:
        """Sends the same bytes until it is known that they are stored."""
        pause_s = _FIRST_PAUSE_S
        while True:
            await self._clock.sleep(pause_s)
            head = await self._try(batch)
            if head is not None:
                return head
            pause_s = min(2 * pause_s, _LAST_PAUSE_S)

    def _doubtful(self) -> bool:
        """Whether the process stood still, so that somebody else may have written without our noticing."""
        if self._clock.monotonic() - self._alive_at > LOOP_GAP_S:
            self._doubted = True
            self._wake.set()
        return self._doubted

    async def _dispel_doubt(self) -> None:
        """Reads the head from the leader: if it is ours, what waits may be answered. Raises Fenced."""
        while True:
            asked_at = self._clock.monotonic()
            try:
                stored = await self._store.head(self._subject)
            except Unknown as error:
                log.info("head read again", event_type="head_repeated", shard=self.name, why=str(error))
                await self._clock.sleep(_FIRST_PAUSE_S)
                continue
            # An answer that came while the process stood still again says nothing of now.
            if self._clock.monotonic() - asked_at <= LOOP_GAP_S:
                break
        if stored is None or stored.sequence != self.head.sequence:
            raise Fenced(self.name, follow(None, stored)[1].epoch if stored else 0)
        self._alive_at = self._clock.monotonic()
        self._doubted = False
        self._release()

    def _release(self) -> None:
        """Answers those whose entries are stored."""
        self.settled = self.head.sequence
        count = 0
        for needs, _ in self._waiters:
            if needs > self._acknowledged:
                break
            count += 1
        ready, self._waiters = self._waiters[:count], self._waiters[count:]
        _tell(ready, stored=True)

    def _end(self) -> None:
        self._ended = True
        self.lost = not (self._closing and self.idle and not self._doubted)
        self._in_flight_since = None
        waiters, self._waiters, self._gathered = self._waiters, [], []
        _tell(waiters, stored=False)
        if self.lost:
            self.on_lost()


def _tell(waiters: list[tuple[int, Waiter]], stored: bool) -> None:
    for _, waiter in waiters:
        try:
            waiter(stored)
        except Exception:
            # One that fails must not keep the others from their answer.
            log.exception("waiter failed", event_type="waiter_failed")


async def settle_once(store: Store, subject: str, batch: Frozen, head: Head) -> Head:
    """One attempt to store `batch` after `head`: the new head, or Unknown, or Fenced.

    "Wrong last sequence" is not yet a no: the batch may have been stored by an earlier attempt whose answer was lost.
    Then it is the last one, unless a later owner has written already.
    """
    try:
        return batch.at(await store.append(subject, batch.data, batch.message_id, head.sequence))
    except WrongLastSequence:
        last = await store.head(subject)
    if last is None or last.sequence <= head.sequence:
        raise Unknown(f"{subject}: refused at {head.sequence}, but nothing is stored after it")
    if last.data != batch.data:
        found, at = follow(None, last)
        raise Fenced(found.shard, at.epoch)
    return batch.at(last.sequence)
