"""`majlis doctor`: looks at everything that may keep the platform from working."""

from __future__ import annotations

from collections import Counter
from typing import Final

import typer
from msgspec.structs import asdict
from rich.text import Text

from majlis.cli.exits import NO
from majlis.cli.health import machine
from majlis.cli.health.finding import Finding, Level
from majlis.cli.health.running import running
from majlis.cli.output import Json, out, print_json
from majlis.cli.session import SESSION, run

SIGNS: Final[dict[Level, Text]] = {
    "ok": Text("ok  ", "green"),
    "warn": Text("warn", "yellow"),
    "fail": Text("fail", "bold red"),
}


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(as_json: Json = False) -> None:
    """Check this machine and what runs on it; exit code 1 where something fails."""
    findings = run(_examine())
    counts = Counter(finding.level for finding in findings)
    if as_json:
        told = {level: counts.get(level, 0) for level in SIGNS}
        print_json({"findings": [asdict(finding) for finding in findings], **told})
    else:
        for finding in findings:
            out.print(
                Text.assemble(SIGNS[finding.level], "  ", (f"{finding.check}: ", "bold"), finding.detail)
            )
            if finding.remedy:
                out.print(Text.assemble("      → ", finding.remedy))
    if counts["fail"]:
        raise typer.Exit(NO)


async def _examine() -> list[Finding]:
    settings = SESSION.settings
    findings = [
        *machine.python(),
        *machine.packages(),
        *machine.nats_server(),
        *machine.variables(),
        *machine.data_dir(settings),
        *machine.clock(settings),
        *machine.free_ports(settings),
    ]
    return findings + [finding async for finding in running(settings)]
