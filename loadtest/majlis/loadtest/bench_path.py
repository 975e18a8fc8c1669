"""`bench path`: player → gRPC → table → durable in the log → every seat's view, on a private platform."""

from __future__ import annotations

import asyncio
import math
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from majlis.loadtest.measure import cpu_s, machine, rss_bytes
from majlis.loadtest.player_process import Assignment
from majlis.loadtest.private_platform import PlatformFailed, PrivatePlatform, private_platform
from majlis.loadtest.tally import Tally, added, as_json

_NO_DEADLINES: Final = {"initial_flips_ms": "300000", "turn_ms": "300000", "drawn_ms": "300000"}
"""The clock makes no moves while players are being measured."""
_ANSWER_S: Final = 180.0
_REHEARSED: Final = 100


def path(
    *,
    tables: int = 1000,
    rate: float | None = None,
    seconds: float = 10.0,
    warm_up_s: float = 3.0,
    processes: int = 1,
    seats: int = 4,
    shards: int = 8,
) -> dict[str, Any]:
    """Moves from the player to all seats' views, each fsynced by a real broker before anybody sees it.

    `tables` matches of `seats` persons each, spread over `processes` of players with one Play stream each. `rate`:
    moves per second and table at fixed instants, whatever the table does (open loop; latency counts from the
    instant at which the move was due); None: everybody moves as soon as may be (closed loop). `seconds` are counted
    after `warm_up_s`. Raises PlatformFailed.
    """
    told = asyncio.run(_measure(tables, rate, seconds, warm_up_s, processes, seats, shards))
    return {**told, "machine": machine()}


async def _measure(
    tables: int, rate: float | None, seconds: float, warm_up_s: float, processes: int, seats: int, shards: int
) -> dict[str, Any]:
    async with private_platform(shards) as platform:
        await _rehearse(platform, seats)
        before = rss_bytes(platform.tables[0].pid)
        players = await _assign(platform, tables, rate, processes, seats)
        try:
            await _all(players, "open")
            resident = rss_bytes(platform.tables[0].pid) - before
            await _all(players, "play")
            await asyncio.sleep(warm_up_s)
            pids = [platform.tables[0].pid, platform.broker.pid, *(each.pid for each in players)]
            await _all(players, "count")
            used = [-cpu_s(pid) for pid in pids]
            await asyncio.sleep(seconds)
            counted = await _all(players, "report")
            platform.check()
            used = [spent + cpu_s(pid) for spent, pid in zip(used, pids, strict=True)]
            settled = await _all(players, "stop")
        finally:
            await asyncio.gather(*(each.end() for each in players))
    return {
        "tables": tables,
        "seats": seats,
        "rate": rate,
        "processes": processes,
        "shards": shards,
        **_figures(counted, settled, used),
        "table_rss_bytes_per_table": round(resident / tables),
    }


def _figures(counted: Sequence[Tally], settled: Sequence[Tally], used: Sequence[float]) -> dict[str, Any]:
    """`used`: processor seconds of the table, the broker, and each process of players."""
    tally, latencies = added(counted)
    end, _ = added(settled)
    moves = max(1, tally.seen)
    return {
        "moves_per_s": round(tally.seen / tally.seconds, 1),
        "all_seats_p50_ms": latencies.percentile_ms(50),
        "all_seats_p99_ms": latencies.percentile_ms(99),
        "all_seats_p999_ms": latencies.percentile_ms(99.9),
        "cpu_us_per_move": {
            "table": round(used[0] / moves * 1e6, 1),
            "broker": round(used[1] / moves * 1e6, 1),
            "edge": None,
            "players": round(math.fsum(used[2:]) / moves * 1e6, 1),
        },
        "counted": as_json(tally),
        "settled": {
            "accepted": end.accepted,
            "rejected": dict(end.rejected),
            "strange": end.strange,
            "unanswered": end.unanswered,
            "unseen": end.unseen,
        },
    }


class PlayerProcess(Struct):
    """A process of players at the other end of two pipes."""

    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def tell(self, word: str) -> Tally:
        """Sends one word and waits for its answer. Raises PlatformFailed where the players have given up."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{word}\n".encode())
        line = await asyncio.wait_for(self.process.stdout.readline(), _ANSWER_S)
        if not line:
            raise PlatformFailed(f"the players ended when told to {word}: see above")
        return msgspec.json.decode(line, type=Tally)

    async def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 5)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


async def start_players(assignment: Assignment, folder: Path) -> PlayerProcess:
    """A process of players that knows what to do and waits for words."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "majlis.loadtest.player_process",
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(assignment) + b"\n")
    return PlayerProcess(process)


async def _rehearse(platform: PrivatePlatform, seats: int) -> None:
    """Opens some tables and leaves them: only then does the process hold what it needs however few tables there are."""
    for players in await _assign(platform, _REHEARSED, None, 1, seats):
        try:
            await players.tell("open")
        finally:
            await players.end()


async def _assign(
    platform: PrivatePlatform, tables: int, rate: float | None, processes: int, seats: int
) -> list[PlayerProcess]:
    run = secrets.token_hex(4)
    shares = [tables // processes + (number < tables % processes) for number in range(processes)]
    return [
        await start_players(
            Assignment(
                addresses=platform.addresses,
                keys_dir=str(platform.keys_dir),
                run=f"{run}-{number}",
                tables=share,
                seats=seats,
                shards=platform.shards,
                rate=rate,
                options=_NO_DEADLINES,
            ),
            platform.folder,
        )
        for number, share in enumerate(shares)
    ]


async def _all(players: Sequence[PlayerProcess], word: str) -> list[Tally]:
    return await asyncio.gather(*(each.tell(word) for each in players))
