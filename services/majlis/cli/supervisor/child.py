"""One process of the platform: started, waited for until it is healthy, started again whenever it ends unasked."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from majlis.cli.exits import no

TIE: Final = Path(__file__).with_name("tie.py")
FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 10.0
STABLE_S: Final = 20.0
"""A process that has lived so long is started again at once."""
START_S: Final = 60.0
POLL_S: Final = 0.05
LOG_LIMIT: Final = 64 * 1024 * 1024

Tell = Callable[[str, dict[str, Any]], None]


class Plan(Struct, frozen=True):
    """What to run and how to know that it is well."""

    name: str
    program: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    healthy: Callable[[], Awaitable[bool]]
    stop_s: float


class Child:
    """A supervised process. `tell(event, facts)` hears of every start and end."""

    def __init__(self, plan: Plan, tell: Tell) -> None:
        self.plan = plan
        self.starts = 0
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Starts it and returns when it is healthy; raises Ending where it ends or does not get there."""
        await self._spawn()
        await self._until_healthy()
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.plan.name}")

    async def stop(self) -> None:
        """SIGTERM, time to drain, SIGKILL."""
        self._stopping = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        try:
            await asyncio.wait_for(process.wait(), self.plan.stop_s)
        except TimeoutError:
            self._tell("killed", {"name": self.plan.name, "after_s": self.plan.stop_s})
            process.kill()
            await process.wait()

    async def _keep(self) -> None:
        pause_s = 0.0
        while not self._stopping:
            assert self._process is not None
            began = time.monotonic()
            code = await self._process.wait()
            stable = time.monotonic() - began > STABLE_S
            pause_s = 0.0 if stable else pause_s
            self._tell("ended", {"name": self.plan.name, "how": _how(code), "again_in_s": pause_s})
            await asyncio.sleep(pause_s)
            pause_s = min(max(pause_s * 2, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            await self._spawn()

    async def _spawn(self) -> None:
        _rotate(self.plan.log)
        with self.plan.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches the supervisor alone, which stops things in order.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-S",
                "-E",
                str(TIE),
                str(os.getpid()),
                *self.plan.program,
                env={**os.environ, **self.plan.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.starts += 1
        self._tell("started", {"name": self.plan.name, "pid": self._process.pid, "starts": self.starts})

    async def _until_healthy(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_S
        while not await self.plan.healthy():
            if self._process.returncode is not None:
                raise self._failed(f"ended while starting ({_how(self._process.returncode)})")
            if time.monotonic() > deadline:
                raise self._failed(f"was not healthy within {START_S:.0f} s")
            await asyncio.sleep(POLL_S)

    def _failed(self, what: str) -> Exception:
        try:
            tail = self.plan.log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        except OSError:
            tail = []
        return no("\n    ".join([f"{self.plan.name} {what}:", *tail]), f"its whole log: {self.plan.log}")


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _rotate(log: Path) -> None:
    """Keeps the previous log where this one has grown large."""
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".old.log"))
