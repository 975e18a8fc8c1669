"""Two whole matches as text: every event, what everybody was told of it, and every view. A leak is a visible diff.

After a wanted change: `MAJLIS_WRITE_GOLDEN=1 .venv/bin/pytest tests/engine/sounding/test_golden.py`, then read the diff.
Cells are written as in RULES §1.D; `|` begins what one viewer alone was told instead of `all`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.sounding.expectation import seen_grid
from majlis.engine.games.sounding.options import Options
from majlis.engine.games.sounding.position import cards_text
from majlis.engine.games.sounding.state import State
from majlis.engine.vocabulary.entry import Command, Event
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES
from tests.engine.sounding.walks import GAME, Walk, moves

HERE = Path(__file__).parent / "golden"
EVERY_OTHER_VALUE = Options(
    max_seats=12,
    initial_flips="in_order",
    opener_tie="left_of_opener",
    swallow_order="column_first",
    reshuffle_cards="all",
    reshuffle_time="eager",
    place_in_swallowed="yes",
    swallow_at_reveal="no",
    reveal="after_last_turn",
    direction="counterclockwise",
    drawn_card="public",
    new_deck="continue",
    stall_limit=2,
    undo_take="once",
    close_by_flip="no",
)
MATCHES = {"defaults": Walk(2, Options(), 185), "every_other_value": Walk(3, EVERY_OTHER_VALUE, 20)}


@pytest.mark.parametrize("name", MATCHES)
def test_a_whole_match_is_played_and_shown_as_it_was(name: str) -> None:
    text = "\n".join(playthrough(MATCHES[name])) + "\n"
    file = HERE / f"{name}.txt"
    if os.environ.get("MAJLIS_WRITE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()


def test_the_two_matches_show_every_event() -> None:
    shown = {line.split()[0] for file in HERE.glob("*.txt") for line in file.read_text().splitlines() if line}
    names = {name.removeprefix("sounding_") for name in EVENT_NAMES.values() if name.startswith("sounding_")}
    # Identical pairs and an empty draw pile are too rare: scenarios SND-O3 and SND-T22, and test_secrets.py.
    assert names - shown == {"opener_drawn", "discard_reshuffled"}


def playthrough(walk: Walk) -> Iterator[str]:
    """The lines of one match."""
    begun = walk.begin()
    yield f"sounding, {walk.seats} seats, {walk.options}"
    yield from decision("start", begun, begun.state)
    for move in moves(walk):
        asked = f"decision {move.before.decision_id}: seat {move.seat} {said(move.command)}"
        yield from decision(asked, move.events, move.after)
    yield ""
    yield f"{GAME.outcome(move.after)}"
    yield GAME.position(move.after).rstrip()


def decision(asked: str, events: list[Event], after: State) -> Iterator[str]:
    yield ""
    yield asked
    for event in events:
        yield f"{EVENT_NAMES[type(event)].removeprefix('sounding_')} {fields(event)}"
        yield f"  all: {fields(GAME.happening(event, SPECTATOR))}"
        for seat in range(after.frame.seats):
            own = GAME.happening(event, seat)
            if own is not None:
                yield f"  | seat {seat}: {fields(own)}"
    yield f"  spectator sees {fields(GAME.view(after, SPECTATOR))}"
    for seat in range(after.frame.seats):
        yield f"  seat {seat} sees {fields(GAME.view(after, seat))}"


def said(command: Command) -> str:
    return f"{COMMAND_NAMES[type(command)].removeprefix('sounding_')} {fields(command)}".strip()


def fields(message: Any) -> str:
    """What differs from the message's empty state, by name."""
    shown = []
    for field in msgspec.structs.fields(message):
        value = getattr(message, field.name)
        if value != field.default:
            shown.append(f"{field.name}={value_text(field.name, value)}")
    return " ".join(shown)


def value_text(name: str, value: Any) -> str:
    if name == "cells":
        return f"[{seen_grid(value)}]"
    if isinstance(value, bytes):
        return f"[{cards_text(value)}]"
    if isinstance(value, tuple):
        return (
            "("
            + ", ".join(fields(each) if isinstance(each, msgspec.Struct) else str(each) for each in value)
            + ")"
        )
    if name.startswith("may_") and not isinstance(value, bool):
        return f"{value:012b}"
    return value.name if hasattr(value, "name") else str(value)
