"""`majlis bench NAME`: every module `majlis.loadtest.bench_<name>` with its function `<name>` is a command.

The function's keyword arguments are the command's options, its docstring is the help, and what it returns is printed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, get_type_hints

import typer

from majlis.chassis.settings import flatten
from majlis.cli.exits import no
from majlis.cli.output import Json, print_json, show_facts

Bench = Callable[..., dict[str, Any]]


def register(app: typer.Typer) -> None:
    from majlis import loadtest

    commands = typer.Typer(help="Measure what this machine can do.", no_args_is_help=True)
    for found in pkgutil.iter_modules(loadtest.__path__):
        if found.name.startswith("bench_"):
            name = found.name.removeprefix("bench_")
            module = importlib.import_module(f"majlis.loadtest.{found.name}")
            commands.command(name)(_command(getattr(module, name)))
    app.add_typer(commands, name="bench")


def _command(bench: Bench) -> Callable[..., None]:
    from majlis.loadtest.private_platform import PlatformFailed

    def run(**options: Any) -> None:
        as_json = options.pop("as_json")
        try:
            told = bench(**options)
        except PlatformFailed as failed:
            raise no(str(failed), "`majlis doctor` looks at this machine") from None
        if as_json:
            print_json(told)
        else:
            show_facts(dict(flatten(told)), as_json=False)

    # typer reads the options off the signature.
    hints = get_type_hints(bench)
    given = inspect.signature(bench).parameters.values()
    json_option = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
    parameters = [*(each.replace(annotation=hints[each.name]) for each in given), json_option]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = inspect.getdoc(bench)
    return run
