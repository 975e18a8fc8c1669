"""The command itself: starts, plays, tells, and keeps serving until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from majlis.cli.demo import report
from majlis.cli.demo.audit import audit, ratings
from majlis.cli.demo.tournament import insist, play, pod_size
from majlis.cli.evidence import export_quietly
from majlis.cli.exits import NO, no
from majlis.cli.output import Json, note
from majlis.cli.session import SESSION, run
from majlis.cli.supervisor import datadir
from majlis.cli.supervisor.platform import Platform
from majlis.cli.tournament.shown import Bar
from majlis.cli.up import Chronicle, started

TIMEOUT_S: Final = 900.0


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    leave: Annotated[
        bool, typer.Option("--exit", help="End after the tournament instead of serving on.")
    ] = False,
    game: Annotated[str, typer.Option(help="The game's key.")] = "sounding",
    as_json: Json = False,
) -> None:
    """Start everything and play a tournament of 24 computer players; keeps serving until Ctrl-C."""
    if "data_dir" not in SESSION.flags and "MAJLIS_DATA_DIR" not in os.environ:
        SESSION.flags["data_dir"] = str(Path("majlis-data") / time.strftime("demo-%Y%m%d-%H%M%S"))
    if not run(_demo(game, leave=leave, as_json=as_json)):
        raise typer.Exit(NO)


async def _demo(game: str, *, leave: bool, as_json: bool) -> bool:
    """Whether everything was as it should be."""
    settings = SESSION.settings
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    note(f"starting everything in {settings.data_dir} …")
    datadir.prepare(settings.data_dir)
    async with started(Platform(settings, Chronicle(settings.logs_dir, quiet=True)), stop) as platform:
        if platform is None:
            return False
        playing = asyncio.create_task(_play_and_check(game))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({playing, stopped}, return_when=asyncio.FIRST_COMPLETED, timeout=TIMEOUT_S)
        stopped.cancel()
        if not playing.done():
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            raise no(
                "stopped before the end"
                if stop.is_set()
                else f"the tournament did not end within {TIMEOUT_S:.0f} s"
            )
        told = {**await playing, "services": platform.running()["services"]}
        report.tell(told, settings, serving=not leave, as_json=as_json)
        if not leave:
            note("still serving; Ctrl-C ends it")
            await stop.wait()
        return bool(told["audit"]["verified"])


async def _play_and_check(game: str) -> dict[str, Any]:
    settings = SESSION.settings
    tournament_id = time.strftime("demo-%Y%m%d-%H%M%S")
    bar = Bar()
    try:
        played = await play(tournament_id, game, bar)
    finally:
        bar.close()
    summary = played.summary
    matches = summary.pods_total
    note("checking: every command is decided again …")
    verdict = await audit(tournament_id, matches)
    file = settings.data_dir / f"{tournament_id}.majlis"
    await insist(lambda: export_quietly(tournament_id, file))
    rated = await ratings(game, matches * pod_size(game))
    seconds = max(summary.ended_at_ms - summary.started_at_ms, 1) / 1000
    return report.facts(played, verdict, rated, seconds=seconds, file=file)
