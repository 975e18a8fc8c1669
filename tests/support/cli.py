"""The command line on a data directory and ports of its own.

Commands run in this process, since starting one takes a second; what they start (`up`, `demo`) are real processes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from majlis.chassis.settings import as_user, load
from majlis.cli.__main__ import main
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
SERVICES = ("lobby", "rating", "archive", "computer", "table")
PORTS = (
    "broker.port",
    "broker.monitor_port",
    *(f"{kind}.{name}" for kind in ("ports", "metrics") for name in SERVICES),
)

Values = Mapping[str, str | int]


def environment(**settings: str | int) -> dict[str, str]:
    """This process's environment without settings of its own, and with these (`broker__port=1`)."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAJLIS_")}
    return (
        inherited
        | {f"MAJLIS_{name.upper()}": str(value) for name, value in settings.items()}
        | {"COLUMNS": "200"}
    )


def own_ports() -> dict[str, int]:
    """A free port for every part of a platform, by setting (`ports__lobby`)."""
    return {name.replace(".", "__"): port for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)}


@dataclass
class Ran:
    """What a command printed, and how it ended."""

    code: int
    stdout: str
    stderr: str


@dataclass
class Cli:
    """Runs `majlis` on one data directory with one set of ports."""

    data_dir: Path
    settings: Values = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return environment(data_dir=str(self.data_dir), **self.settings)

    def __call__(self, *arguments: str | Path, code: int = 0) -> Ran:
        """The finished command; it must end with this exit code."""
        out, err = io.StringIO(), io.StringIO()
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as ended,
            ):
                main([str(argument) for argument in arguments])
        finally:
            os.environ.clear()
            os.environ.update(before)
        ran = Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())
        assert ran.code == code, f"exit code {ran.code}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def json(self, *arguments: str | Path, code: int = 0) -> Any:
        """What the command prints with --json: one document, nothing else."""
        return json.loads(self(*arguments, "--json", code=code).stdout)

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "majlis.cli", *map(str, arguments)]

    def until_verified(self, tournament: str, matches: int, patience_s: float = 180.0) -> dict[str, Any]:
        """The archive's verdict on a tournament, once it has all its matches; it must be good."""
        deadline = time.monotonic() + patience_s
        told: dict[str, Any] = {}
        while told.get("matches") != matches:
            assert time.monotonic() < deadline, f"the archive does not get there: {told}"
            time.sleep(0.2)
            with contextlib.suppress(AssertionError):  # it may not know the tournament yet
                told = self.json("verify", tournament)
        return told

    def broker_urls(self, user: str) -> list[str]:
        """The broker's address for one of its users: `archive` may read the log of matches."""
        return as_user(load({}, self.environment), user).broker.urls

    def running(self) -> dict[str, Any]:
        """What the supervisor wrote down: processes, addresses."""
        told: dict[str, Any] = json.loads((self.data_dir / "running.json").read_text())
        return told

    def pid(self, name: str) -> int:
        """The process of a part now."""
        running = self.running()
        parts = [*running["services"], running["broker"]]
        return int(next(part["pid"] for part in parts if part["name"] == name))


@contextlib.contextmanager
def platform(data_dir: Path, **settings: str | int) -> Iterator[Cli]:
    """`majlis up --detach` on free ports, and `majlis down` at the end."""
    cli = Cli(data_dir, {**own_ports(), **settings})
    cli("up", "--detach")
    try:
        yield cli
    finally:
        cli("down")
