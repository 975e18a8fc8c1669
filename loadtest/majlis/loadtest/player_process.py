"""A process full of load players, driven line by line: `python -m majlis.loadtest.player_process`.

The first line on stdin is an Assignment as JSON. Then each line is a word, answered by one line of JSON on stdout:
`open` (all matches opened and started), `play`, `count` (counting begins), `report` (a Tally), `stop` (nobody moves any more;
everything under way has had its time; a Tally). The process ends with stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop
from msgspec import Struct, field

from majlis.chassis.tokens import load_signer
from majlis.loadtest.directory import Directory
from majlis.loadtest.opener import Opener
from majlis.loadtest.pace import Pacer
from majlis.loadtest.players import Players
from majlis.loadtest.seats import SeatedMatch
from majlis.loadtest.tally import Tally

SETTLE_S: Final = 15.0
_OPENING: Final = 32


class Assignment(Struct, frozen=True, kw_only=True):
    """What one process of players does."""

    addresses: tuple[str, ...]
    """Of the table instances."""
    keys_dir: str
    """Holds the lobby's private key, which signs the players' tokens."""
    run: str
    tables: int
    game: str = "sounding"
    seats: int = 4
    shards: int = 8
    rate: float | None = None
    """Moves per second and table; None: closed loop."""
    options: dict[str, str] = field(default_factory=dict)


class Crowd:
    """The players of one assignment; a match that ends is followed by a new one."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._directory = Directory(assignment.addresses)
        self._opener = Opener(
            self._directory,
            load_signer(Path(assignment.keys_dir)),
            assignment.run,
            game=assignment.game,
            seats=assignment.seats,
            shards=assignment.shards,
            options=assignment.options,
        )
        self.players = Players(self._directory, self._follow)
        self.players.paced = assignment.rate is not None
        self._pacer = Pacer(self.players, assignment.rate) if assignment.rate else None
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        """Opens all matches and waits until each has started. Raises what opening raised."""
        await self._directory.until_owned(self._assignment.shards)
        self._start(self.players.run())
        if self._pacer is not None:
            self._start(self._pacer.run())
        slots = asyncio.Semaphore(_OPENING)

        async def one() -> None:
            async with slots:
                await self._open_one()

        await asyncio.gather(*(one() for _ in range(self._assignment.tables)))
        while not all(match.view is not None and match.view.started for match in self._matches()):
            await asyncio.sleep(0.02)

    def play(self) -> None:
        """Lets everybody move."""
        self.players.playing = True
        for match in self._matches():
            self.players.play(match)

    async def stop(self) -> Tally:
        """Nobody moves any more; what is under way is waited for."""
        self.players.playing = False
        await self.players.settled(SETTLE_S)
        return self.players.tallied()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._directory.close()

    def _matches(self) -> list[SeatedMatch]:
        return list(self.players.matches.values())

    def _follow(self, ended: SeatedMatch) -> None:
        self._start(self._replace(ended))

    async def _replace(self, ended: SeatedMatch) -> None:
        # Answers to the last commands may stand in the next frame.
        await asyncio.sleep(1)
        self.players.leave(ended)
        if self.players.playing:
            await self._open_one()

    async def _open_one(self) -> None:
        opened = await self._opener.open()
        match = self.players.join(opened.match_id, self._opener.game, opened.tokens, self._opener.options)
        if self._pacer is not None:
            self._pacer.add(match)

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            # Half a crowd would measure something else: the process ends, its parent sees why.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "players", "exception": task.exception()}
            )
            sys.stdout.close()
            raise SystemExit(1) from task.exception()


async def serve() -> None:
    """Reads words until stdin ends."""
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    crowd = Crowd(msgspec.json.decode(await lines.readline(), type=Assignment))
    try:
        while word := (await lines.readline()).decode().strip():
            told = await _obey(crowd, word)
            sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
            sys.stdout.flush()
    finally:
        await crowd.close()


async def _obey(crowd: Crowd, word: str) -> Tally:
    if word == "open":
        await crowd.open()
    elif word == "play":
        crowd.play()
    elif word == "count":
        crowd.players.begin_tally()
    elif word == "stop":
        return await crowd.stop()
    elif word != "report":
        raise ValueError(f"{word!r} is none of: open, play, count, report, stop")
    return crowd.players.tallied()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(serve())
