"""Checks of the machine: Python, packages, nats-server, disk, permissions, clock, ports."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from majlis.chassis import embedded
from majlis.chassis.settings import Settings, unknown_variables
from majlis.cli.health.finding import Finding, fail, ok, warn
from majlis.cli.supervisor import datadir, ports

OLDEST_PYTHON: Final = (3, 11)
LITTLE_SPACE: Final = 5 * 2**30
NO_SPACE: Final = 2**29
SLOW_FSYNC_MS: Final = 20.0
FSYNCS: Final = 20

_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:.*?>=\s*([0-9.]+))?")


def python() -> Iterator[Finding]:
    said = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= OLDEST_PYTHON:
        yield ok("python", f"{said} at {sys.executable}")
    else:
        yield fail("python", f"{said} is too old", "use Python 3.11 or newer: make demo PYTHON=python3.12")


def packages() -> Iterator[Finding]:
    """Whether everything that Majlis needs is installed, in a version that it works with."""
    try:
        required = metadata.requires("majlis") or []
    except metadata.PackageNotFoundError:
        yield fail("packages", "majlis itself is not installed", "run make")
        return
    faults = [fault for line in required if "extra ==" not in line and (fault := _package_fault(line))]
    if faults:
        yield fail("packages", "; ".join(faults), "run make: it installs the locked versions")
    else:
        yield ok("packages", f"majlis {metadata.version('majlis')} and its {len(required)} requirements")


def nats_server() -> Iterator[Finding]:
    try:
        server = embedded.binary()
        version = embedded.version(server)
    except embedded.NoServer as error:
        yield fail("nats-server", str(error), "run make")
        return
    said = ".".join(map(str, version))
    if version >= embedded.OLDEST:
        yield ok("nats-server", f"{said} at {server}")
    else:
        oldest = ".".join(map(str, embedded.OLDEST))
        yield fail("nats-server", f"{said} at {server} is older than {oldest}", "run make")


def variables() -> Iterator[Finding]:
    unknown = unknown_variables(os.environ)
    if unknown:
        yield warn(
            "environment",
            f"no such settings: {', '.join(unknown)}",
            "`majlis config show` lists all settings",
        )


def data_dir(settings: Settings) -> Iterator[Finding]:
    path = _nearest(settings.data_dir)
    if not os.access(path, os.W_OK | os.X_OK):
        yield fail("data directory", f"{path} cannot be written", "choose another with --data-dir")
        return
    state = "writable" if settings.data_dir.exists() else "not made yet"
    yield ok("data directory", f"{settings.data_dir.absolute()}: {state}")
    yield from _open_secrets(settings.keys_dir)
    free = shutil.disk_usage(path).free
    said = f"{free / 2**30:.1f} GiB free"
    if free < NO_SPACE:
        yield fail("disk space", said, "the log needs room: it is never trimmed in place")
    elif free < LITTLE_SPACE:
        yield warn("disk space", said, "a million moves take about 1 GiB")
    else:
        yield ok("disk space", said)
    yield from _fsync(path)


def clock(settings: Settings) -> Iterator[Finding]:
    """A machine whose clock was set back would find its own past in the future."""
    log = settings.logs_dir / "up.log"
    ahead_s = log.stat().st_mtime - time.time() if log.exists() else 0.0
    if ahead_s > 1.0:
        yield fail(
            "clock", f"it stands {ahead_s:.0f} s before the last run's end", "set the machine's clock (NTP)"
        )
    else:
        yield ok("clock", time.strftime("%Y-%m-%d %H:%M:%S %z"))


def free_ports(settings: Settings) -> Iterator[Finding]:
    """Only while nothing runs here: afterwards they are taken by ourselves."""
    if datadir.owner(settings.data_dir) is not None:
        return
    wanted = list(ports.uses(settings))
    faults = ports.taken(wanted)
    for fault in faults:
        detail, _, remedy = fault.partition("; ")
        yield fail("ports", detail, remedy)
    if not faults:
        yield ok("ports", f"all {len(wanted)} are free")


def _package_fault(requirement: str) -> str:
    name, floor = _REQUIREMENT.match(requirement).groups()  # type: ignore[union-attr]  # matches any text
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is missing"
    return f"{name} {version} is older than {floor}" if floor and _parts(version) < _parts(floor) else ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+", maxsplit=1)[0])[:3])


def _open_secrets(keys_dir: Path) -> Iterator[Finding]:
    secret = [*keys_dir.glob("*.key"), *keys_dir.glob("broker/*")]
    told = [str(path) for path in secret if path.stat().st_mode & 0o077]
    if told:
        yield fail("keys", f"others may read {', '.join(told)}", "chmod 600 them")
    elif secret:
        yield ok("keys", f"{len(secret)} secrets, readable by their owner only")


def _fsync(path: Path) -> Iterator[Finding]:
    took_ms = []
    with tempfile.TemporaryFile(dir=path) as file:
        for _ in range(FSYNCS):
            began = time.perf_counter()
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
            took_ms.append((time.perf_counter() - began) * 1000)
    median = statistics.median(took_ms)
    said = f"{median:.2f} ms (median of {FSYNCS}), {max(took_ms):.1f} ms at most"
    if median > SLOW_FSYNC_MS:
        yield warn("fsync", said, "every move waits for one: put the data directory on a faster disk")
    else:
        yield ok("fsync", said)


def _nearest(path: Path) -> Path:
    """The path, or the nearest directory above it that exists."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path
