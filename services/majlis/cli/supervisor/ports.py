"""Whether every port is free, before anything is started."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator

from msgspec import Struct

from majlis.chassis.settings import Settings
from majlis.cli.exits import Ending, no


class PortUse(Struct, frozen=True):
    """A port that will be listened on: by whom, for what, and which setting moves it."""

    port: int
    host: str
    what: str
    setting: str


def instances(settings: Settings, service: str) -> int:
    """How many processes of a service run."""
    return int(getattr(settings.instances, service, 1))


def uses(settings: Settings) -> Iterator[PortUse]:
    """Every port of this platform."""
    if settings.broker.embedded:
        yield PortUse(settings.broker.port, "127.0.0.1", "nats-server", "broker.port")
        yield PortUse(
            settings.broker.monitor_port, "127.0.0.1", "nats-server monitoring", "broker.monitor_port"
        )
    for service in settings.services:
        for number in range(instances(settings, service)):
            name = f"{service} {number}" if instances(settings, service) > 1 else service
            yield PortUse(
                settings.port_of(service, number), settings.host, f"{name} gRPC", f"ports.{service}"
            )
            yield PortUse(
                settings.metrics_port_of(service, number),
                settings.host,
                f"{name} metrics",
                f"metrics.{service}",
            )


def taken(wanted: Iterable[PortUse]) -> list[str]:
    """A line for each port that cannot be had, naming the port and the setting that moves it."""
    faults, seen = [], dict[int, PortUse]()
    for use in wanted:
        how = f"set it to another one: --set {use.setting}=PORT"
        other = seen.setdefault(use.port, use)
        if other is not use:
            faults.append(f"port {use.port} is meant for {other.what} and for {use.what}; {how}")
        elif why := _refused(use):
            faults.append(f"port {use.port} ({use.what}) {why}; {how}")
    return faults


def check(settings: Settings) -> None:
    """Raises Ending naming every port that cannot be had."""
    faults = taken(uses(settings))
    if faults:
        raise _ending(faults)


def _ending(faults: list[str]) -> Ending:
    return no("\n  ".join(faults), "nothing was started; `majlis config show` lists all ports")


def _refused(use: PortUse) -> str:
    family = socket.AF_INET6 if ":" in use.host else socket.AF_INET
    with socket.socket(family) as probe:
        # As servers do: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((use.host, use.port))
            probe.listen(1)
        except OSError as error:
            return (
                "is taken by another program"
                if error.errno in {98, 48}
                else f"cannot be used: {error.strerror}"
            )
    return ""
