"""Open loop: when each match's next move is due, whether or not the last one is through."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
import time
from typing import Final

from majlis.loadtest.players import Players
from majlis.loadtest.seats import SeatedMatch

_TICK_S: Final = 0.002


class Pacer:
    """Makes every match move `rate` times a second, each at a phase of its own."""

    def __init__(self, players: Players, rate: float) -> None:
        self._players = players
        self._period_s = 1 / rate
        self._heap: list[tuple[float, int, SeatedMatch]] = []
        self._order = itertools.count()

    def add(self, match: SeatedMatch) -> None:
        first = time.perf_counter() + random.random() * self._period_s
        heapq.heappush(self._heap, (first, next(self._order), match))

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            now = time.perf_counter()
            while self._heap and self._heap[0][0] <= now:
                due, order, match = heapq.heappop(self._heap)
                if match.ended:
                    continue
                heapq.heappush(self._heap, (due + self._period_s, order, match))
                if self._players.playing:
                    match.dues.append(due)
                    self._players.play(match)
            await asyncio.sleep(_TICK_S)
