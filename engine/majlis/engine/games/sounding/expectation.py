"""What a scenario of Sounding may expect: one complaint for each expectation that is not met.

Facts of the position: `phase turn closer last_turns opener deal totals in_hand discard stock reshuffles conserved`,
`discard_top` (the last cards of the pile), `stock_size`, `cards` (value -> how many there are in all), `grids` (seat ->
three rows), `cells` (seat -> name -> `5`, `?[7]`, `-`). Scores: `raw results doubled` of the last deal scored,
`places` (of an ended match; `none` while it goes on). `legal`: seat -> command -> its cells (`all`, `none`, or names).
`views`: `spectator` or seat -> fields of that view. `events`: in this order, others may lie between; each is a
name, or a name with fields. `only`: the names of all events, exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from majlis.engine.games.sounding.legal import legal
from majlis.engine.games.sounding.position import (
    all_cards,
    cards_text,
    cell_name,
    cell_text,
    is_conserved,
    row_texts,
)
from majlis.engine.games.sounding.scoring import places
from majlis.engine.games.sounding.state import CELLS, COLUMNS, OFFSET, OVER, State
from majlis.engine.games.sounding.view import private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event
from majlis.engine.vocabulary.sounding import SoundingView
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES

PREFIX: Final = "sounding_"


def check(state: State, events: Sequence[Event], expectation: Mapping[str, Any]) -> list[str]:
    """One sentence for each expectation that is not met."""
    problems: list[str] = []
    for key, expected in expectation.items():
        if key == "events":
            problems += _events(events, expected)
        elif key in _SEVERAL:
            problems += _SEVERAL[key](state, expected)
        elif key in _FACTS:
            found = _FACTS[key](state)
            if _plain(found) != _plain(expected):
                problems.append(f"{key} is {_plain(found)}, not {_plain(expected)}")
        elif key == "only":
            names = [_event_name(event) for event in events]
            if names != expected:
                problems.append(f"the events are {names}, not {expected}")
        elif key == "discard_top":
            text = cards_text(state.discard)
            if not f" {text}".endswith(f" {_plain(expected)}"):
                problems.append(f"the discard pile is {text}: its top is not {_plain(expected)}")
        else:
            problems.append(f"nothing is called {key!r} in an expectation")
    return problems


def _plain(value: Any) -> str:
    """A value as text, the same for what YAML gave and for what the state holds."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_plain(each)}" for key, each in sorted(value.items()))
    if isinstance(value, str):
        return " ".join(value.replace("/", " ").split())
    if isinstance(value, Iterable):
        return " ".join([_plain(each) for each in value]) or "none"
    return str(value)


def _last_deal(state: State, name: str) -> Any:
    deals = state.frame.deals
    return getattr(deals[-1], name) if deals else None


_FACTS: Final[dict[str, Callable[[State], Any]]] = {
    "phase": lambda state: state.phase.name.lower(),
    "turn": lambda state: state.turn,
    "closer": lambda state: state.closer,
    "last_turns": lambda state: state.last_turns,
    "opener": lambda state: state.frame.opener,
    "deal": lambda state: state.frame.deal,
    "totals": lambda state: state.frame.totals,
    "in_hand": lambda state: None if state.in_hand is None else state.in_hand - OFFSET,
    "discard": lambda state: cards_text(state.discard),
    "stock": lambda state: cards_text(state.stock),
    "stock_size": lambda state: len(state.stock),
    "reshuffles": lambda state: state.reshuffles,
    "conserved": is_conserved,
    "cards": lambda state: Counter([card - OFFSET for card in all_cards(state)]),
    "raw": lambda state: _last_deal(state, "raw"),
    "results": lambda state: _last_deal(state, "results"),
    "doubled": lambda state: _last_deal(state, "doubled"),
    "places": lambda state: places(state.frame.totals) if state.phase is OVER else None,
}


def _grids(state: State, expected: Mapping[int, str]) -> list[str]:
    problems = []
    for seat, text in expected.items():
        found = " / ".join(row_texts(state.grids[seat]))
        if _plain(found) != _plain(text):
            problems.append(f"seat {seat}'s grid is {found}")
    return problems


def _cells(state: State, expected: Mapping[int, Mapping[str, Any]]) -> list[str]:
    problems = []
    for seat, cells in expected.items():
        found = {cell_name(cell): cell_text(state.grids[seat][cell]) for cell in range(CELLS)}
        for name, text in cells.items():
            if found.get(name) != str(text):
                problems.append(f"seat {seat}'s {name} is {found.get(name)}, not {text}")
    return problems


def _legal(state: State, expected: Mapping[int, Mapping[str, Any]]) -> list[str]:
    problems = []
    for seat, kinds in expected.items():
        commands = list(legal(state, seat))
        for kind, cells in kinds.items():
            found = [
                _command_cell(command)
                for command in commands
                if COMMAND_NAMES[type(command)] == PREFIX + kind
            ]
            wanted = " ".join(map(cell_name, range(CELLS))) if cells == "all" else _plain(cells)
            if _plain(found) != wanted:
                problems.append(f"seat {seat} may {kind}: {_plain(found)}, not {wanted}")
    return problems


def _command_cell(command: Command) -> str:
    cell = getattr(command, "cell", None)
    return "yes" if cell is None else cell_name(cell)


def _views(state: State, expected: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    problems = []
    for viewer, fields in expected.items():
        view = public_view(state) if viewer == "spectator" else private_view(state, viewer)
        for name, wanted in fields.items():
            found = _view_field(view, name)
            if found != _plain(wanted):
                problems.append(f"{viewer} sees {name}: {found}, not {_plain(wanted)}")
    return problems


def _view_field(view: Any, name: str) -> str:
    if isinstance(view, SoundingView) and name == "grids":
        return _plain([seen_grid(grid.cells) for grid in view.grids])
    value = getattr(view, name)
    if name == "discard_pile":
        return cards_text(value)
    if name.startswith("may_") and not isinstance(value, bool):
        return _plain([cell_name(cell) for cell in range(CELLS) if value >> cell & 1])
    return _plain(value)


def seen_grid(cells: bytes) -> str:
    """A grid of a view as text: 5, ? face down, - swallowed."""
    rows = [cells[row : row + COLUMNS] for row in range(0, len(cells), COLUMNS)]
    return " / ".join(
        [" ".join([{254: "-", 255: "?"}.get(cell, str(cell - OFFSET)) for cell in row]) for row in rows]
    )


_SEVERAL: Final[dict[str, Callable[[State, Any], list[str]]]] = {
    "grids": _grids,
    "cells": _cells,
    "legal": _legal,
    "views": _views,
}


def _events(events: Sequence[Event], expected: Sequence[Any]) -> list[str]:
    """Each expected event, found after the one before it."""
    position = 0
    for wanted in expected:
        found = next((i for i in range(position, len(events)) if _matches(events[i], wanted)), None)
        if found is None:
            happened = [_event_name(event) for event in events[position:]]
            return [f"no event {_plain(wanted)} among {happened}"]
        position = found + 1
    return []


def _event_name(event: Event) -> str:
    return EVENT_NAMES[type(event)].removeprefix(PREFIX)


def _matches(event: Event, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return _event_name(event) == wanted
    ((name, fields),) = wanted.items()
    return _event_name(event) == name and all(
        _event_field(event, field) == _plain(value) for field, value in fields.items()
    )


def _event_field(event: Event, field: str) -> str:
    value = getattr(event, field)
    if field == "cell":
        return cell_name(value)
    if field == "cells":
        return _plain(seen_grid(value))
    return cards_text(value) if isinstance(value, bytes) else _plain(value)
