"""What commands print: tables or JSON on stdout, notes and progress on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, nothing else.")]

WIDE: Final = 240
"""Columns of tables that go to a file or another program: nothing is folded there."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
err = Console(stderr=True, highlight=False)


def note(text: str) -> None:
    """A line for the person at the terminal."""
    err.print(text, soft_wrap=True)


def print_json(data: Any) -> None:
    """One JSON document on one line."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def show(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, as_json: bool, title: str = ""
) -> None:
    """Rows as JSON, or as a table of the given columns (key -> heading); a column that says nothing is left out."""
    if as_json:
        print_json(rows)
        return
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    shown = [key for key in columns if not rows or any(row.get(key) not in _NOTHING for row in rows)]
    for key, heading in ((key, columns[key]) for key in shown):
        numeric = bool(rows) and all(isinstance(row.get(key), int | float) for row in rows)
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(key)) for key in shown))
    out.print(table)
    if not rows:
        note("nothing to show")


_NOTHING: Final[tuple[object, ...]] = (None, False, 0, "", [])


def show_facts(facts: Mapping[str, Any], *, as_json: bool) -> None:
    """Names and values as JSON, or one under the other."""
    if as_json:
        print_json(facts)
        return
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        # Not cut at the console's edge: tokens and keys are there to be copied.
        out.print(Text.assemble((f"{name:<{width}}", "bold"), "  ", _cell(value)), soft_wrap=True)


def complain(detail: str, remedy: str = "", rejection: str = "") -> None:
    """Why a command ends badly: what happened, the code, what to do."""
    err.print(
        Text.assemble(("✗ ", "red"), detail, (f"  [{rejection}]" if rejection else "", "dim")), soft_wrap=True
    )
    if remedy:
        err.print(Text.assemble("  → ", remedy), soft_wrap=True)


def _cell(value: Any) -> Text:
    if value is None:
        return Text("")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, str) or not isinstance(value, Iterable):
        return Text(str(value))
    return Text(", ".join(str(each) for each in value))
