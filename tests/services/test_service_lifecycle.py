"""What the frame of services promises, of a real process: health, refusals, faults, limits, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from majlis.chassis.rejections import rejected_from
from majlis.chassis.service import open_channel
from majlis.v1 import archive_pb2, rating_pb2
from majlis.v1.archive_pb2_grpc import ArchiveStub
from majlis.v1.rating_pb2_grpc import RatingStub
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
Status = health_pb2.HealthCheckResponse


@dataclass
class Sample:
    """The sample service's process and a channel to it."""

    process: asyncio.subprocess.Process
    channel: grpc.aio.Channel
    port: int
    metrics_port: int
    data_dir: Path

    @property
    def hold(self) -> Path:
        """While this file is there, the service neither ends starting nor draining."""
        return self.data_dir / "hold"

    async def health(self, name: str = "") -> int:
        request = health_pb2.HealthCheckRequest(service=name)
        answer = await health_pb2_grpc.HealthStub(self.channel).Check(
            request, wait_for_ready=True, timeout=10
        )
        return int(answer.status)

    async def until(self, status: int) -> None:
        async with asyncio.timeout(40):
            while await self.health() != status:
                await asyncio.sleep(0.02)

    async def ladder(self, game: str = "echo") -> rating_pb2.GetLadderResponse:
        return await RatingStub(self.channel).GetLadder(rating_pb2.GetLadderRequest(game=game), timeout=30)

    async def traced(self, given: str) -> str:
        """The trace id under which a call that brings one is served."""
        request = rating_pb2.GetLadderRequest(game="echo")
        answer = await RatingStub(self.channel).GetLadder(request, metadata=(("x-trace-id", given),))
        return answer.players[0].player_id

    async def refused(self, game: str) -> grpc.aio.AioRpcError:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.ladder(game)
        return caught.value

    async def metrics(self) -> str:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.metrics_port}/metrics",
            headers={"Accept": "application/openmetrics-text; version=1.0.0"},
        )
        return await asyncio.to_thread(lambda: urllib.request.urlopen(request).read().decode())

    def logged(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in (self.data_dir / "log").read_text().splitlines()]


async def start(data_dir: Path, port: int, metrics_port: int) -> asyncio.subprocess.Process:
    with (data_dir / "log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.sample_service",
            "--data-dir", str(data_dir), f"--ports.rating={port}", "--metrics.rating", str(metrics_port),
            cwd=ROOT, stderr=log,
        )  # fmt: skip


@contextlib.asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[Sample]:
    port, metrics_port = free_ports(2)
    process = await start(data_dir, port, metrics_port)
    try:
        async with open_channel(f"127.0.0.1:{port}") as channel:
            yield Sample(process, channel, port, metrics_port, data_dir)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
async def sample(tmp_path: Path) -> AsyncIterator[Sample]:
    async with running(tmp_path) as sample:
        yield sample


async def test_health_says_not_serving_until_started_and_calls_are_refused(tmp_path: Path) -> None:
    (tmp_path / "hold").touch()
    async with running(tmp_path) as sample:
        assert await sample.health() == Status.NOT_SERVING
        rejected = rejected_from(await sample.refused("echo"))
        assert rejected is not None
        assert rejected.code.name == "UNAVAILABLE"
        sample.hold.unlink()
        await sample.until(Status.SERVING)
        assert await sample.health("majlis.v1.Rating") == Status.SERVING
        assert (await sample.ladder()).total == 7


async def test_sigterm_says_not_serving_drains_finishes_calls_and_exits_with_0(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    call = asyncio.create_task(sample.ladder("slow"))
    await asyncio.sleep(0.1)
    sample.hold.touch()
    sample.process.send_signal(signal.SIGTERM)
    await sample.until(Status.NOT_SERVING)
    assert "majlis_node_draining 1.0" in await sample.metrics()
    assert (await call).total == 7
    sample.hold.unlink()
    assert await asyncio.wait_for(sample.process.wait(), 30) == 0
    assert (sample.data_dir / "drained").exists()


async def test_a_second_signal_ends_at_once(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    sample.hold.touch()
    sample.process.send_signal(signal.SIGTERM)
    await sample.until(Status.NOT_SERVING)
    sample.process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(sample.process.wait(), 30) == 1
    assert not (sample.data_dir / "drained").exists()


async def test_a_fault_is_internal_is_logged_with_its_trace_and_the_process_lives(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    error = await sample.refused("fault")
    assert error.code() is grpc.StatusCode.INTERNAL
    assert "ZeroDivisionError" not in (error.details() or "")  # nothing of our insides is told
    assert rejected_from(error) is None
    trace = dict(error.trailing_metadata())["x-trace-id"]
    (line,) = [line for line in sample.logged() if line["event"] == "call failed"]
    assert line["trace_id"] == trace
    assert "ZeroDivisionError: a fault of ours" in line["exception"]
    assert (await sample.ladder()).total == 7
    assert 'majlis_internal_errors_total{method="/majlis.v1.Rating/GetLadder"} 1.0' in await sample.metrics()


async def test_a_refusal_carries_code_detail_and_remedy(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    error = await sample.refused("refused")
    assert error.code() is grpc.StatusCode.NOT_FOUND
    rejected = rejected_from(error)
    assert rejected is not None
    assert (rejected.code.name, rejected.detail, rejected.remedy) == (
        "UNKNOWN_GAME", "there is no such game", "choose another",
    )  # fmt: skip


@pytest.mark.parametrize(("what", "status"), [("refused", "NOT_FOUND"), ("fault", "INTERNAL")])
async def test_a_stream_that_is_refused_midway_keeps_what_it_has_sent(
    sample: Sample, what: str, status: str
) -> None:
    await sample.until(Status.SERVING)
    got = []

    async def receive() -> None:
        async for response in ArchiveStub(sample.channel).Export(archive_pb2.ExportRequest(match_id=what)):
            got.append(response.chunk)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await receive()
    assert got == [b"first"]
    assert caught.value.code().name == status
    assert (await sample.ladder()).total == 7


async def test_an_oversized_message_is_refused_and_the_process_lives(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    error = await sample.refused("x" * 70_000)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    rejected = rejected_from(error)
    assert rejected is not None
    assert rejected.code.name == "TOO_LARGE"
    assert (await sample.ladder("x" * 60_000)).total == 7


async def test_a_failed_background_task_ends_the_process_loudly(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    await sample.ladder("crash")
    assert await asyncio.wait_for(sample.process.wait(), 30) == 1
    events = {line["event"]: line for line in sample.logged()}
    assert events["a background task failed"]["level"] == "critical"
    assert "a background task failed" in events["a background task failed"]["exception"]
    assert not (sample.data_dir / "drained").exists()


async def test_a_taken_port_is_an_error_that_names_it_and_its_setting(sample: Sample, tmp_path: Path) -> None:
    await sample.until(Status.SERVING)
    other = tmp_path / "other"
    other.mkdir()
    for ports, setting in (
        ((sample.port, free_ports(1)[0]), "ports.rating"),
        ((free_ports(1)[0], sample.metrics_port), "metrics.rating"),
    ):
        process = await start(other, *ports)
        assert await asyncio.wait_for(process.wait(), 30) == 2
        said = (other / "log").read_text().splitlines()[-1]
        assert setting in said
        assert str(ports[0] if setting == "ports.rating" else ports[1]) in said


async def test_a_callers_trace_id_is_taken_over_and_a_bad_one_is_not(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    assert await sample.traced("abc-123") == "abc-123"
    assert '# {trace_id="abc-123"}' in await sample.metrics()
    own = await sample.traced("<script>" * 20)
    assert own
    assert "script" not in own


async def test_reflection_names_every_service(sample: Sample) -> None:
    await sample.until(Status.SERVING)
    stub = reflection_pb2_grpc.ServerReflectionStub(sample.channel)
    call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    names = {service.name async for answer in call for service in answer.list_services_response.service}
    assert {"majlis.v1.Rating", "majlis.v1.Archive", "grpc.health.v1.Health"} <= names
