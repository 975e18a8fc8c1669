"""A power cut: every process ends at once, without a word. What was answered is on the disk, and play goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.support.cli import Cli, platform

PATIENCE_S = 180.0


def cut_power(cli: Cli) -> None:
    """kill -9 of everything, the supervisor first so that it cannot react."""
    running = cli.running()
    for pid in (running["pid"], running["broker"]["pid"], *(part["pid"] for part in running["services"])):
        os.kill(pid, signal.SIGKILL)


def test_after_a_power_cut_every_live_match_and_tournament_goes_on(tmp_path: Path) -> None:
    with platform(tmp_path / "data") as cli:
        opened = cli.json("table", "open", "sounding", "--computers", "3")
        cli("tournament", "create", "Storm", "--rounds", "2", "--pod-size", "3", "--thinking", "0")
        cli("tournament", "register", "storm", "--computers", "6", "--level", "novice")
        cli("tournament", "start", "storm")
        deadline = time.monotonic() + PATIENCE_S
        while sum(row["entries"] for row in cli.json("table", "list")) < 100:
            assert time.monotonic() < deadline, "the tournament does not get going"
        before = {row["match"]: row["entries"] for row in cli.json("table", "list")}
        cut_power(cli)
        cli("up", "--detach")
        after = {row["match"]: row["entries"] for row in cli.json("table", "list")}
        assert opened["match"] in after
        # Fewer entries than somebody has been shown would be a lost move.
        assert all(after.get(match, 0) >= entries for match, entries in before.items()), (before, after)
        cli("tournament", "watch", "storm")
        cli.until_verified("storm", 4)
        assert cli.json("doctor")["fail"] == 0
