"""Computer workers on a real broker: each request answered once and the same way; bad ones not, and nothing dies of them."""

from __future__ import annotations

import asyncio
import sys
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import nats
import pytest
from msgspec.structs import replace
from nats.aio.client import Client
from nats.errors import NoRespondersError

from majlis.engine import match
from majlis.engine.options import texts
from majlis.engine.registry import GAMES
from majlis.engine.vocabulary.computer import ComputerReply, ComputerRequest
from majlis.engine.vocabulary.match import ComputerLevel, Option
from majlis.engine.vocabulary.wire import (
    decode_computer_reply,
    encode_computer_request,
    encode_match_view,
    encode_seat_private_view,
)
from tests.support.matches import COMPUTER, Played
from tests.support.nats import Server
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
ANSWER_S = 20.0


@dataclass
class Workers:
    """Worker processes of one queue group, and a table's connection."""

    client: Client
    processes: list[asyncio.subprocess.Process]
    metrics_ports: list[int]
    logs: list[Path]

    async def ask(
        self, request: ComputerRequest | bytes, game: str = "sounding", timeout: float = ANSWER_S
    ) -> ComputerReply:
        payload = request if isinstance(request, bytes) else encode_computer_request(request)
        return decode_computer_reply(
            (await self.client.request(f"computer.{game}", payload, timeout=timeout)).data
        )

    async def unanswered(self, request: ComputerRequest | bytes, reason: str) -> None:
        """The request is counted as bad for this reason, and no reply comes."""
        before = await self.counted("majlis_computer_bad_requests_total", f'reason="{reason}"')
        with pytest.raises(asyncio.TimeoutError):
            await self.ask(request, timeout=0.3)
        async with asyncio.timeout(ANSWER_S):
            while await self.counted("majlis_computer_bad_requests_total", f'reason="{reason}"') == before:
                await asyncio.sleep(0.05)

    async def counted(self, name: str, labels: str) -> float:
        """The sum of a counter over all workers."""
        pages = await asyncio.gather(*(asyncio.to_thread(_page, port) for port in self.metrics_ports))
        lines = "\n".join(pages).splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name}{{{labels}}}"))


def _page(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return str(answer.read().decode())


@pytest.fixture
async def workers(
    request: pytest.FixtureRequest, nats_server: Server, tmp_path: Path
) -> AsyncIterator[Workers]:
    count = getattr(request, "param", 1)
    ports = free_ports(2 * count)
    client = await nats.connect(nats_server.url)
    started = Workers(client, [], ports[count:], [tmp_path / f"log-{number}" for number in range(count)])
    for number in range(count):
        with started.logs[number].open("wb") as log:
            started.processes.append(
                await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "majlis.computer", "--data-dir", str(tmp_path), "--broker.urls", nats_server.url,
                    "--ports.computer", str(ports[number]), "--metrics.computer", str(ports[count + number]),
                    cwd=ROOT, stderr=log,
                )
            )  # fmt: skip
    try:
        for path in started.logs:
            async with asyncio.timeout(60):
                while "taking requests" not in path.read_text():
                    await asyncio.sleep(0.05)
        yield started
    finally:
        for process in started.processes:
            if process.returncode is None:
                process.kill()
            await process.wait()
        await client.close()


def request_of(played: Played) -> ComputerRequest:
    """What a table asks for the first seat waited for."""
    state = played.state
    seat = played.waiting_for[0]
    return ComputerRequest(
        match_id=played.match_id,
        game=state.game,
        rules_version=state.rules_version,
        options=texts(state.options),
        seat=seat,
        decision_id=played.decision_id,
        level=ComputerLevel.CLUB,
        key=bytes(32),
        public=encode_match_view(match.public_view(state)),
        private=encode_seat_private_view(match.private_view(state, seat)),
    )


def a_request() -> ComputerRequest:
    return request_of(Played.of(COMPUTER, COMPUTER, COMPUTER))


async def test_the_reply_is_a_legal_command_and_the_same_for_the_same_request(workers: Workers) -> None:
    played = Played.of(COMPUTER, COMPUTER, COMPUTER)
    for _ in range(20):
        request = request_of(played)
        reply = await workers.ask(request)
        assert reply.command in played.legal(request.seat)
        assert reply.thinking_ms > 0
        assert await workers.ask(request) == reply
        played.computer(request.seat, reply.command)
    assert await workers.counted("majlis_computer_decision_seconds_count", 'game="sounding"') == 40


@pytest.mark.parametrize("workers", [2], indirect=True)
async def test_workers_share_the_requests_and_one_that_dies_is_not_missed(workers: Workers) -> None:
    request = a_request()
    replies = await asyncio.gather(*(workers.ask(request) for _ in range(60)))
    assert all(reply == replies[0] for reply in replies)
    shares = [
        await replace_ports(workers, [port]).counted(
            "majlis_computer_decision_seconds_count", 'game="sounding"'
        )
        for port in workers.metrics_ports
    ]
    assert sum(shares) == 60
    assert min(shares) > 0
    workers.processes[0].kill()
    await workers.processes[0].wait()
    assert await workers.ask(request) == replies[0]


def replace_ports(workers: Workers, ports: list[int]) -> Workers:
    return Workers(workers.client, workers.processes, ports, workers.logs)


async def test_bad_requests_get_no_answer_and_the_worker_lives(workers: Workers) -> None:
    good = a_request()
    await workers.unanswered(b"", "MALFORMED")
    await workers.unanswered(b"\xff\xff\xff", "MALFORMED")
    await workers.unanswered(replace(good, game="chess"), "UNKNOWN_GAME")
    await workers.unanswered(replace(good, rules_version=99), "UNKNOWN_RULES_VERSION")
    await workers.unanswered(replace(good, options=(Option(name="no_such", value="1"),)), "BAD_OPTION")
    await workers.unanswered(replace(good, public=b"\xff"), "MALFORMED")
    await workers.unanswered(replace(good, private=b""), "MALFORMED")
    await workers.unanswered(replace(good, history=(b"",)), "MALFORMED")
    await workers.unanswered(replace(good, seat=7), "MALFORMED")
    assert (await workers.ask(good)).command is not None
    assert '"code": "UNKNOWN_GAME"' in workers.logs[0].read_text()


async def test_sigterm_answers_what_was_taken_and_exits_with_0(workers: Workers) -> None:
    asked = [asyncio.create_task(workers.ask(a_request())) for _ in range(20)]
    await asyncio.sleep(0)
    await workers.client.flush()
    workers.processes[0].terminate()
    answers = await asyncio.gather(*asked, return_exceptions=True)
    # What reached the worker is answered; what did not is refused by the broker, never lost in between.
    assert all(isinstance(answer, ComputerReply | NoRespondersError) for answer in answers)
    assert await asyncio.wait_for(workers.processes[0].wait(), 20) == 0


def test_every_game_has_a_computer() -> None:
    assert GAMES
    assert all(callable(entry.computer.choose) for entry in GAMES.values())
