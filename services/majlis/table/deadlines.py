"""All running deadlines of an instance in one heap, with one timer for the earliest."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from typing import Final, TypeVar

from majlis.chassis.clock import Clock

Key = TypeVar("Key")

RETRY_MS: Final = 100
"""How soon a deadline is looked at again that could not be decided when it was due."""


class Deadlines:
    """Calls `due` for whatever is due, on the event loop. What is no longer current is for the callee to ignore."""

    def __init__(self, clock: Clock, lateness: Callable[[float], None] = lambda seconds: None) -> None:
        self._clock = clock
        self._lateness = lateness
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_for = 0

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, due_ms: int, act: Callable[[], None]) -> None:
        """Calls `act` at (Unix time) `due_ms`, or soon if that has passed."""
        heapq.heappush(self._heap, (due_ms, next(self._order), act))
        if self._timer is None or due_ms < self._timer_for:
            self._arm()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._heap.clear()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            self._timer_for = self._heap[0][0]
            wait_s = max(0, self._timer_for - self._clock.now_ms()) / 1000
            # Rounded up: a timer that fires early would find nothing due and arm itself again.
            self._timer = asyncio.get_running_loop().call_later(wait_s + 0.0005, self._fire)

    def _fire(self) -> None:
        now = self._clock.now_ms()
        while self._heap and self._heap[0][0] <= now:
            due_ms, _, act = heapq.heappop(self._heap)
            self._lateness((now - due_ms) / 1000)
            act()
        self._timer = None
        self._arm()
