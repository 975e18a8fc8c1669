"""The clock of a process: an injected object, so that tests and simulations bring their own."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as a service sees it."""

    def now_ms(self) -> int:
        """Unix time in milliseconds; never goes backwards, whatever happens to the machine's clock."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """Unix time read once, then carried forward by the monotonic clock: a machine clock set back moves nothing."""

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now_ms(self) -> int:
        return int((self._offset_s + time.monotonic()) * 1000)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
