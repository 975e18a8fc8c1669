"""The frame of every service process: a gRPC server with health and reflection, metrics, and an orderly end.

    async def main(settings: Settings) -> None:
        service = Service("rating", settings)
        service.add("majlis.v1.Rating", add_RatingServicer_to_server, servicer)
        await service.serve(start, drain)

    run(main, "rating")

SIGTERM or SIGINT: health says NOT_SERVING, `drain` hands over what must not be lost, calls in flight get their time,
exit 0. A second signal ends at once. A background task that fails ends the process with exit code 1: whoever supervises it
starts it again, and nothing goes on half alive.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NoReturn

import grpc.aio
import prometheus_client
import structlog
import uvloop
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from majlis.chassis import metrics, telemetry
from majlis.chassis.rejections import Edge
from majlis.chassis.settings import BadSettings, Settings, load, parse_flags

log = structlog.get_logger()

REQUEST_LIMIT: Final = 64 * 1024
SERVING: Final = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

SERVER_OPTIONS: Final = (
    ("grpc.max_receive_message_length", REQUEST_LIMIT),
    ("grpc.max_metadata_size", 16 * 1024),
    # Two processes on one port would share its calls without either knowing: a taken port must be an error.
    ("grpc.so_reuseport", 0),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
)
CLIENT_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

AddToServer = Callable[[Any, grpc.aio.Server], object]
Step = Callable[[], Awaitable[None]]


def open_channel(address: str) -> grpc.aio.Channel:
    """A channel to another service of the platform."""
    return grpc.aio.insecure_channel(address, options=CLIENT_OPTIONS)


class Service:
    """One process of a service. `port` and `metrics_port` are the bound ones once it serves (0 in: any free one)."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        port: int | None = None,
        metrics_port: int | None = None,
        on_gap: Callable[[float], None] | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.port = settings.port_of(name, settings.instance) if port is None else port
        self.metrics_port = (
            settings.metrics_port_of(name, settings.instance) if metrics_port is None else metrics_port
        )
        self._on_gap = on_gap
        self._ready = False
        self._names: list[str] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stop = asyncio.Event()
        self._failure: BaseException | None = None
        self._health = health.aio.HealthServicer()
        self.server = grpc.aio.server(interceptors=[Edge(lambda: self._ready)], options=SERVER_OPTIONS)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.server)

    def add(self, full_name: str, add_to_server: AddToServer, servicer: object) -> None:
        """Serves a gRPC service, e.g. `majlis.v1.Lobby`; health and reflection know it by that name."""
        self._names.append(full_name)
        add_to_server(servicer, self.server)

    def watch_task(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Runs work in the background for as long as the process lives; if it fails, or ends unasked, the process ends."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def stop(self) -> None:
        """Asks the process to drain and end, as SIGTERM does."""
        self._stop.set()

    async def serve(self, start: Step | None = None, drain: Step | None = None) -> None:
        """Serves until told to stop. Health says SERVING once `start` has returned; raises what a watched task raised."""
        self._listen_for_signals()
        await self._bind()
        self.watch_task(telemetry.probe_loop(self._on_gap), "loop probe")
        try:
            if start is not None:
                await self._unless_stopped(start())
            _settle_memory()
            if not self._stop.is_set():
                self._ready = True
                await self._set_health(SERVING)
                log.info("serving", port=self.port, metrics_port=self.metrics_port)
            await self._stop.wait()
            if self._failure is None:
                await self._drain(drain)
        finally:
            await self._close()
        if self._failure is not None:
            raise self._failure

    async def _bind(self) -> None:
        settings = self.settings
        reflection.enable_server_reflection(
            [*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME], self.server
        )
        await self._set_health(NOT_SERVING)
        try:
            self.port = self.server.add_insecure_port(f"{settings.host}:{self.port}")
        except RuntimeError:
            raise BadSettings(f"port {self.port} is taken: set ports.{self.name} to another one") from None
        try:
            http, _ = prometheus_client.start_http_server(self.metrics_port, settings.host, metrics.REGISTRY)
        except OSError as error:
            raise BadSettings(
                f"port {self.metrics_port} cannot be used ({error.strerror}): set metrics.{self.name} to another one"
            ) from None
        self.metrics_port = http.server_port
        metrics.NODE_DRAINING.set(0)
        await self.server.start()

    async def _unless_stopped(self, step: Awaitable[None]) -> None:
        """Waits for a step of starting up, but no longer than until the process is told to stop."""
        work = asyncio.ensure_future(step)
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
        finally:
            for task in (work, stopped):
                task.cancel()
            await asyncio.gather(work, stopped, return_exceptions=True)

    async def _drain(self, drain: Step | None) -> None:
        log.info("draining")
        metrics.NODE_DRAINING.set(1)
        await self._health.enter_graceful_shutdown()
        if drain is None:
            return
        try:
            await asyncio.wait_for(drain(), self.settings.drain_s)
        except TimeoutError:
            log.error("draining took too long", drain_s=self.settings.drain_s)

    async def _close(self) -> None:
        """Calls in flight get two seconds; after a failure none."""
        await self.server.stop(2.0 if self._failure is None else 0)
        tasks = set(self._tasks)
        for task in tasks:
            task.remove_done_callback(self._task_done)
        while tasks:
            # More than once: asyncio.wait_for loses a cancellation that meets its result (CPython before 3.12).
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.2)
        log.info("stopped")

    def _task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or self._stop.is_set():
            return
        self._failure = task.exception() or RuntimeError(f"the task {task.get_name()!r} ended")
        log.critical("a background task failed", task=task.get_name(), exc_info=self._failure)
        self._stop.set()

    async def _set_health(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for name in ("", *self._names):
            await self._health.set(name, status)

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)

    def _on_signal(self) -> None:
        if self._stop.is_set():
            log.error("told to stop twice: ending at once")
            os._exit(1)
        self._stop.set()


def _settle_memory() -> None:
    """Keeps the garbage collector off what lives as long as the process, and rare: a full pass over ten thousand matches
    would stop everybody for a tenth of a second, and hardly anything here forms cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 100)


def run(main: Callable[[Settings], Awaitable[None]], service: str) -> NoReturn:
    """The whole life of a service process: settings (flags from argv), logs, uvloop, `main`, exit code.

    0 after an orderly stop, 1 after a fault, 2 where the settings cannot be used.
    """
    telemetry.configure_logging(service)
    try:
        settings = load(parse_flags(sys.argv[1:]), user=service)
        telemetry.configure_logging(service, settings.log_level)
        uvloop.run(_main(main, settings))
    except BadSettings as error:
        log.error("the settings cannot be used", faults=str(error).splitlines())
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(1)
    except Exception:
        log.critical("the service ended by a fault", exc_info=True)
        sys.exit(1)
    sys.exit(0)


async def _main(main: Callable[[Settings], Awaitable[None]], settings: Settings) -> None:
    await main(settings)
