"""`majlis config show`: every setting, its value, and where that value comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from majlis.chassis.settings import BadSettings, explain
from majlis.cli.exits import usage
from majlis.cli.output import Json, show
from majlis.cli.session import SESSION

commands = typer.Typer(help="Settings.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="config")


@commands.command("show")
def show_settings(
    name: Annotated[str, typer.Argument(help="Only settings whose name begins so, e.g. `broker`.")] = "",
    as_json: Json = False,
) -> None:
    """Each setting with its value and source: default, file, environment or flag. Passwords are masked."""
    try:
        told = explain(SESSION.flags)
    except BadSettings as error:
        raise usage(f"the settings cannot be used: {error}") from None
    rows = [
        {"name": setting, "value": value, "source": source, "description": description}
        for setting, value, source, description in told
        if setting.startswith(name)
    ]
    if name and not rows:
        raise usage(f"there is no setting {name!r}", "`majlis config show` lists all of them")
    columns = {"name": "setting", "value": "value", "source": "source", "description": "what for"}
    show(rows, columns, as_json=as_json)
