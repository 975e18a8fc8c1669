"""The whole platform on this machine: the embedded broker and every service, as one thing that starts and stops."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from majlis.chassis import broker, embedded
from majlis.chassis.settings import Settings, as_environment, as_user
from majlis.chassis.tokens import make_keys
from majlis.cli.exits import no
from majlis.cli.supervisor import datadir, ports
from majlis.cli.supervisor.child import Child, Plan, Tell

STOP_BROKER_S: Final = 15.0


class Platform:
    """Started by `async with`, stopped at the block's end. `tell(event, facts)` hears what happens to the processes."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self.settings = settings
        self._tell = tell
        self._broker: Child | None = None
        self._services: list[Child] = []
        self._ownership: datadir.Ownership | None = None
        self._up = False
        self._started_at_ms = int(time.time() * 1000)

    async def __aenter__(self) -> Self:
        settings = self.settings
        datadir.prepare(settings.data_dir)
        self._ownership = datadir.Ownership(settings.data_dir)
        try:
            ports.check(settings)
            _make_keys(settings.keys_dir)
            await self._start()
            self._up = True
            self._ownership.tell(self.running())
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Services first, each with its time to drain, then the broker they need for it."""
        self._up = False
        await asyncio.gather(*(child.stop() for child in self._services))
        if self._broker is not None:
            await self._broker.stop()
        if self._ownership is not None:
            self._ownership.release()

    def running(self) -> dict[str, Any]:
        """What runs where, and as which process: for `running.json` and `majlis up --json`."""
        settings = self.settings
        services: list[dict[str, Any]] = []
        pids = self._pids()
        for service in settings.services:
            for number in range(ports.instances(settings, service)):
                services.append(
                    {
                        "name": _named(settings, service, number),
                        "grpc": f"{settings.host}:{settings.port_of(service, number)}",
                        "metrics": f"http://{settings.host}:{settings.metrics_port_of(service, number)}/metrics",
                        "pid": pids.get(_named(settings, service, number)),
                    }
                )
        nats = {
            "name": "nats",
            "port": settings.broker.port,
            "monitor": f"http://127.0.0.1:{settings.broker.monitor_port}",
            "pid": pids.get("nats"),
        }
        return {
            "data_dir": str(settings.data_dir),
            "pid": os.getpid(),
            "broker": nats if settings.broker.embedded else {"external": True},
            "services": services,
            "started_at_ms": self._started_at_ms,
        }

    def _heard(self, event: str, facts: dict[str, Any]) -> None:
        self._tell(event, facts)
        if self._up and event == "started" and self._ownership is not None:
            self._ownership.tell(self.running())

    def _pids(self) -> dict[str, int | None]:
        """The process of each part now."""
        children = [*([self._broker] if self._broker is not None else []), *self._services]
        return {child.plan.name: child.pid for child in children}

    async def _start(self) -> None:
        settings = self.settings
        if settings.broker.embedded:
            passwords = embedded.make_passwords(settings.keys_dir)
            self._broker = Child(self._broker_plan(passwords), self._heard)
            await self._broker.start()
        await self._make_streams()
        for service in settings.services:
            for number in range(ports.instances(settings, service)):
                self._services.append(Child(self._service_plan(service, number), self._heard))
        starts = [asyncio.create_task(child.start()) for child in self._services]
        try:
            await asyncio.gather(*starts)
        finally:
            for start in starts:
                start.cancel()
            await asyncio.gather(*starts, return_exceptions=True)

    async def _make_streams(self) -> None:
        """Before any service starts, so that none waits for another to make them."""
        broker_settings = as_user(self.settings, "operator").broker
        urls = broker_settings.urls
        try:
            client = await asyncio.wait_for(broker.connect(urls, "operator-up", reconnect=False), 10)
        except Exception as error:
            raise no(f"the broker cannot be used: {error!r}", "check broker.urls") from error
        try:
            await broker.ensure_streams(client.jetstream(), broker_settings.replicas)
        finally:
            await client.close()

    def _broker_plan(self, passwords: dict[str, str]) -> Plan:
        settings = self.settings
        try:
            server = embedded.binary()
        except embedded.NoServer as error:
            raise no(str(error)) from None
        environment = embedded.environment(
            name="majlis",
            host="127.0.0.1",
            port=settings.broker.port,
            monitor_port=settings.broker.monitor_port,
            store=settings.data_dir.absolute() / "nats",
            passwords=passwords,
        )
        return Plan(
            name="nats",
            program=(str(server), "-c", str(embedded.ONE_NODE)),
            environment=environment,
            log=settings.logs_dir / "nats.log",
            healthy=lambda: embedded.healthy(settings.broker.monitor_port),
            stop_s=STOP_BROKER_S,
        )

    def _service_plan(self, service: str, number: int) -> Plan:
        settings = self.settings
        name = _named(settings, service, number)
        environment = {**as_environment(as_user(settings, service)), "MAJLIS_INSTANCE": str(number)}
        address = f"{settings.host}:{settings.port_of(service, number)}"
        return Plan(
            name=name,
            program=(sys.executable, "-m", f"majlis.{service}"),
            environment=environment,
            log=settings.logs_dir / f"{name}.log",
            healthy=lambda: serving(address),
            stop_s=settings.drain_s + 5,
        )


async def serving(address: str, timeout_s: float = 2.0) -> bool:
    """Whether the service at an address says that it is healthy."""
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(), timeout=timeout_s
            )
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _make_keys(keys_dir: Path) -> None:
    try:
        make_keys(keys_dir)
    except (OSError, ValueError) as error:
        raise no(
            f"a key in {keys_dir} cannot be used: {error}",
            "restore it: tokens and signatures made with it rest on it",
        ) from None


def _named(settings: Settings, service: str, number: int) -> str:
    return f"{service}-{number}" if ports.instances(settings, service) > 1 else service
