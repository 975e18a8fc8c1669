"""`majlis up` and `majlis down`: the platform on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from majlis.chassis.settings import as_environment
from majlis.cli.exits import Ending, no
from majlis.cli.output import Json, note, print_json, show
from majlis.cli.session import SESSION, run
from majlis.cli.supervisor import datadir
from majlis.cli.supervisor.platform import Platform

DETACHED_START_S: Final = 120.0
POLL_S: Final = 0.1


def register(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(down)


def up(
    tables: Annotated[
        int | None, typer.Option(help="Table instances; default: setting instances.table.")
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return once everything runs; `majlis down` stops it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the whole platform on this machine until Ctrl-C."""
    if tables is not None:
        SESSION.flags["instances.table"] = tables
    if detach:
        _show(_detach(), as_json)
    else:
        run(_up(as_json))


def down(
    timeout: Annotated[float, typer.Option(help="Longest time to wait, in seconds.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Stop the platform that runs in this data directory, and wait until it has stopped."""
    data_dir = SESSION.settings.data_dir
    pid = datadir.owner(data_dir)
    if pid is None:
        note(f"nothing runs in {data_dir}")
    else:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + timeout
        while datadir.owner(data_dir) == pid:
            if time.monotonic() > deadline:
                raise no(
                    f"process {pid} has not stopped within {timeout:.0f} s", f"its logs: {data_dir / 'logs'}"
                )
            time.sleep(POLL_S)
        _wait_for_end(pid)
        note(f"stopped (process {pid})")
    if as_json:
        print_json({"stopped": pid is not None, "pid": pid, "data_dir": str(data_dir)})


def _wait_for_end(pid: int, timeout_s: float = 2.0) -> None:
    """The process has let the data directory go, which is the last thing it does: it is as good as gone."""
    deadline = time.monotonic() + timeout_s
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(POLL_S / 4)


class Chronicle:
    """What happens to the processes: a line for the person, a JSON line in `logs/up.log`."""

    def __init__(self, logs_dir: Path, *, quiet: bool = False) -> None:
        self._log = logs_dir / "up.log"
        self._quiet = quiet
        self._stopping = False

    def __call__(self, event: str, facts: dict[str, Any]) -> None:
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps({"timestamp": stamp, "service": "up", "event": event, **facts}) + "\n")
        if event == "ended":
            note(f"! {facts['name']} ended ({facts['how']}): starting it again")
        elif event == "killed":
            note(f"! {facts['name']} did not stop within {facts['after_s']:.0f} s: killed")
        elif not self._quiet and facts.get("starts") == 1:
            note(f"  starting {facts['name']} (process {facts['pid']})")


async def _up(as_json: bool) -> None:
    settings = SESSION.settings
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    datadir.prepare(settings.data_dir)
    async with started(Platform(settings, Chronicle(settings.logs_dir)), stop) as platform:
        if platform is not None:
            _show(platform.running(), as_json)
            note("everything runs; Ctrl-C stops it")
            await stop.wait()
            note("stopping")


@contextlib.asynccontextmanager
async def started(platform: Platform, stop: asyncio.Event) -> AsyncIterator[Platform | None]:
    """A platform that can be told to stop while it is still starting: then the block gets None."""
    entering = asyncio.create_task(platform.__aenter__())
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({entering, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if entering.done():
            await entering
            yield platform
        else:
            yield None
    finally:
        for task in (entering, stopped):
            task.cancel()
        await asyncio.gather(entering, stopped, return_exceptions=True)
        await platform.stop()


def _detach() -> dict[str, Any]:
    settings = SESSION.settings
    datadir.prepare(settings.data_dir)
    log_path = settings.logs_dir / "up.out.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "majlis.cli", "up"],
            env={**os.environ, **_environment()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + DETACHED_START_S
    while not (told := datadir.running(settings.data_dir)) or datadir.owner(settings.data_dir) != process.pid:
        code = process.poll()
        if code is not None or time.monotonic() > deadline:
            process.terminate()
            said = log_path.read_text(encoding="utf-8", errors="replace").strip()
            raise Ending(code or 1, f"the platform did not start:\n{said}", f"logs: {settings.logs_dir}")
        time.sleep(POLL_S)
    return told


def _environment() -> dict[str, str]:
    variables = as_environment(SESSION.settings)
    if SESSION.settings.broker.embedded:
        # Its address has a password that may not have been made yet: the other process finds it out itself.
        del variables["MAJLIS_BROKER__URLS"]
    return variables


def _show(told: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(told)
        return
    rows = list(told["services"])
    if "port" in told["broker"]:
        rows.insert(
            0,
            {
                "name": "nats",
                "grpc": f"nats://127.0.0.1:{told['broker']['port']}",
                "metrics": told["broker"]["monitor"],
            },
        )
    show(rows, {"name": "part", "grpc": "address", "metrics": "metrics"}, as_json=False)
    note(f"data and logs: {told['data_dir']}")
