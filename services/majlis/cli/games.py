"""`majlis scenario` and `majlis rules`: the games themselves, without any platform."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from msgspec.structs import asdict
from rich.markdown import Markdown
from rich.text import Text

from majlis.cli.exits import NO, no, usage
from majlis.cli.output import Json, out, print_json
from majlis.engine import scenario
from majlis.engine.decider import Rejected
from majlis.engine.options import texts
from majlis.engine.registry import registered

READABLE: Final = 110
"""Columns of running text."""

scenarios = typer.Typer(help="Executable rule examples.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(scenarios, name="scenario")
    app.command()(rules)


@scenarios.command("run")
def run_scenarios(
    files: Annotated[list[Path], typer.Argument(help="YAML files, or directories of them.")],
    as_json: Json = False,
) -> None:
    """Run scenario files; exit code 1 where one does not hold."""
    told: list[dict[str, Any]] = []
    good = True
    for path in _yaml_files(files):
        try:
            report = scenario.run(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise usage(f"{path} cannot be read: {error}") from None
        good = good and report.ok
        told += [
            {"file": str(path), **asdict(finding), "ok": not finding.problems} for finding in report.findings
        ]
        if not report.findings:
            told.append(
                {"file": str(path), "id": "", "title": "", "problems": ("has no scenario",), "ok": False}
            )
    if as_json:
        failed = sum(not each["ok"] for each in told)
        print_json({"scenarios": told, "run": len(told), "failed": failed})
    else:
        _print(told)
    if not good:
        raise typer.Exit(NO)


def rules(
    game: Annotated[str, typer.Argument(help="The game's key, e.g. sounding.")],
    as_json: Json = False,
) -> None:
    """Print the rules of a game and its options with their defaults."""
    try:
        found = registered(game).game
    except Rejected as rejected:
        raise no(rejected.detail, rejected.remedy) from None
    page = resources.files("majlis.engine.games").joinpath(game, "RULES.md")
    if not page.is_file():
        raise no(f"this build has no rules page of {game}")
    text = page.read_text(encoding="utf-8")
    newest = max(found.rules_versions)
    options = {option.name: option.value for option in texts(found.rules_versions[newest])}
    if as_json:
        print_json({"game": game, "rules_version": newest, "options": options, "text": text})
        return
    width = min(out.width, READABLE)
    out.print(Markdown(text), width=width)
    listed = "\n".join(f"* `{name}` = {value}" for name, value in options.items())
    out.print(Markdown(f"## Options and defaults (rules version {newest})\n\n{listed}"), width=width)


def _yaml_files(given: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in given:
        if path.is_dir():
            files += sorted(path.rglob("*.yaml"))
        elif path.exists():
            files.append(path)
        else:
            raise usage(f"there is no file {path}")
    if not files:
        raise usage("there is no .yaml file in what was given")
    return files


def _print(told: list[dict[str, Any]]) -> None:
    for each in told:
        sign = ("✓ ", "green") if each["ok"] else ("✗ ", "red")
        out.print(Text.assemble(sign, (each["id"] or each["file"], "bold"), "  ", each["title"]))
        for problem in each["problems"]:
            out.print(Text(f"    {each['file']}: {problem}"))
    failed = sum(not each["ok"] for each in told)
    out.print(f"{len(told)} scenarios, {failed} failed" if failed else f"{len(told)} scenarios, all hold")
