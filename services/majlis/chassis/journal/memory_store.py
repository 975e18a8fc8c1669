"""The in-memory twin of the broker's store: for tests and simulations of pure parts, with faults on demand."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import AsyncGenerator, Callable
from enum import Enum
from typing import Final

from .store import Stored, TooLarge, Unknown, WrongLastSequence

MAX_PAYLOAD: Final = 1024 * 1024


class CheckOrder(Enum):
    """What a server looks at first when an append is repeated under a stale expectation."""

    EXPECTATION_FIRST = "single server"
    DUPLICATE_FIRST = "three-node cluster"


class Fault(Enum):
    """What may happen to one append."""

    LOSE_ACKNOWLEDGEMENT = "stored, but the caller is told nothing"
    LOSE_REQUEST = "not stored, and the caller is told nothing"
    WRITE_LATE = "stored later, when `deliver_late` is called"


class MemoryStore:
    """Messages in a list. `fault` is asked before each append what shall go wrong with it."""

    def __init__(
        self, order: CheckOrder = CheckOrder.EXPECTATION_FIRST, now_ms: Callable[[], int] = lambda: 0
    ) -> None:
        self.order = order
        self.turns = asyncio.Semaphore(1)
        self.messages: list[tuple[str, Stored]] = []
        self.fault: Callable[[str, bytes], Fault | None] = lambda subject, data: None
        self.reachable = True
        self._now_ms = now_ms
        self._ids: dict[str, int] = {}
        self._late: list[tuple[str, bytes, str, int]] = []

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        if len(data) > MAX_PAYLOAD:
            raise TooLarge(f"{subject}: a message of {len(data)} bytes")
        fault = self.fault(subject, data) if self.reachable else Fault.LOSE_REQUEST
        if fault is Fault.WRITE_LATE:
            self._late.append((subject, data, message_id, expected))
        if fault is Fault.LOSE_REQUEST or fault is Fault.WRITE_LATE:
            raise Unknown(fault.value)
        sequence = self._write(subject, data, message_id, expected)
        if fault is Fault.LOSE_ACKNOWLEDGEMENT:
            raise Unknown(fault.value)
        return sequence

    def deliver_late(self) -> None:
        """Lets the appends that were held back arrive now."""
        late, self._late = self._late, []
        for append in late:
            try:
                self._write(*append)
            except WrongLastSequence:
                continue

    def forget_message_ids(self) -> None:
        """The broker's duplicate window has passed."""
        self._ids.clear()

    async def head(self, subject: str) -> Stored | None:
        self._check()
        return self._last(subject)

    async def scan(self, subject: str, after: int, upto: int) -> AsyncGenerator[Stored, None]:
        self._check()
        for stored_subject, message in self.messages[after:upto]:
            if stored_subject == subject:
                yield message

    async def last_each(self, subjects: str) -> list[tuple[str, Stored]]:
        self._check()
        last = {s: m for s, m in self.messages if fnmatch.fnmatchcase(s, subjects.replace(">", "*"))}
        return list(last.items())

    def _write(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        known = self._ids.get(message_id)
        if known is not None and self.order is CheckOrder.DUPLICATE_FIRST:
            return known
        last = self._last(subject)
        at = last.sequence if last else 0
        if at != expected:
            raise WrongLastSequence(f"{subject}: expected {expected}, is {at}")
        if known is not None:
            return known
        sequence = len(self.messages) + 1
        self.messages.append((subject, Stored(sequence, data, self._now_ms())))
        self._ids[message_id] = sequence
        return sequence

    def _last(self, subject: str) -> Stored | None:
        return next((message for s, message in reversed(self.messages) if s == subject), None)

    def _check(self) -> None:
        if not self.reachable:
            raise Unknown("the store cannot be reached")
