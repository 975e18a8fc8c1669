"""The command line's composition root: all commands, the options they share, and how each run ends."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from majlis.cli.exits import NO, Ending
from majlis.cli.output import complain, print_json
from majlis.cli.session import SESSION

EPILOG: Final = (
    "Exit codes: 0 fine · 1 the answer is no (a check failed, a request was refused) · 2 wrong usage or settings · "
    "3 the platform cannot be reached. --data-dir, --config and --set may stand anywhere on the line."
)

SHARED: Final = ("--data-dir", "--config", "--set")


def shared(
    data_dir: Annotated[Path | None, typer.Option(help="The platform's data directory.")] = None,
    config_file: Annotated[Path | None, typer.Option("--config", help="A TOML file of settings.")] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting, e.g. --set ports.lobby=8470."),
    ] = None,
) -> None:
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals:
            raise typer.BadParameter(f"{each!r} is not NAME=VALUE", param_hint="--set")
        SESSION.flags[name.strip().replace("-", "_")] = value
    if data_dir is not None:
        SESSION.flags["data_dir"] = str(data_dir)
    if config_file is not None:
        SESSION.flags["config"] = str(config_file)


COMMANDS: Final = {
    "up": "majlis.cli.up",
    "down": "majlis.cli.up",
    "demo": "majlis.cli.demo.command",
    "doctor": "majlis.cli.doctor",
    "config": "majlis.cli.config",
    "scenario": "majlis.cli.games",
    "rules": "majlis.cli.games",
    "table": "majlis.cli.tables",
    "tournament": "majlis.cli.tournaments",
    "rating": "majlis.cli.ratings",
    "replay": "majlis.cli.replay",
    "verify": "majlis.cli.evidence",
    "export": "majlis.cli.evidence",
    "bench": "majlis.cli.bench",
}
"""The module of each command. It has `register(app)`, and is imported only when it is needed: starting is most of what a
short command costs."""


def build(command: str | None) -> typer.Typer:
    """The command line with the command that is asked for, or with all of them where it is none of ours (help, a spelling
    mistake)."""
    app = typer.Typer(
        name="majlis",
        help="Card games and large tournaments of them, on an append-only log.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(shared)
    asked = [command] if command in COMMANDS else list(COMMANDS)
    for module in dict.fromkeys(COMMANDS[name] for name in asked):
        importlib.import_module(module).register(app)
    return app


def hoist(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The options that all commands share (they may be typed anywhere before `--`), and the rest."""
    shared_ones: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return shared_ones, [*rest, argument, *waiting]
        if argument in SHARED and waiting:
            shared_ones += [argument, waiting.pop(0)]
        elif argument.split("=")[0] in SHARED:
            shared_ones.append(argument)
        else:
            rest.append(argument)
    return shared_ones, rest


def main(arguments: list[str] | None = None) -> NoReturn:
    """Runs the command line; ends the process with one of the four exit codes (typer itself ends usage errors with 2)."""
    SESSION.begin()
    shared_ones, rest = hoist(sys.argv[1:] if arguments is None else arguments)
    try:
        build(rest[0] if rest else None)([*shared_ones, *rest])
    except Ending as ending:
        complain(ending.detail, ending.remedy, ending.rejection)
        if "--json" in rest:
            print_json(
                {"error": {"code": ending.rejection, "detail": ending.detail, "remedy": ending.remedy}}
            )
        sys.exit(ending.code)
    except KeyboardInterrupt:
        sys.exit(NO)
    sys.exit(0)


if __name__ == "__main__":
    main()
