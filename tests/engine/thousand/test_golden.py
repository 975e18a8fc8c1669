"""Matches as text: every event, what everybody was told of it, and every view. A leak is a visible diff.

The moves are those of the file, so that a better computer player changes nothing here. After a wanted change:
`MAJLIS_WRITE_GOLDEN=1 .venv/bin/pytest tests/engine/thousand/test_golden.py`, then read the diff.
Cards are written as in RULES §4.D; `|` begins what one viewer alone was told instead of `all`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.thousand.cards import card_name, names
from majlis.engine.games.thousand.computer import ThousandComputer
from majlis.engine.games.thousand.notation import command_from
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import SEATS, State
from majlis.engine.vocabulary.entry import Command, Event
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES
from tests.engine.thousand.walks import GAME, OBSERVED, Move, Walk, moves

HERE = Path(__file__).parent / "golden"
EVERY_OTHER_VALUE = Options(
    target=500,
    jump_bids="no",
    bid_step=5,
    auction_limit="none",
    auto_pass="yes",
    contract_marriages="before_giving",
    trumped_suit="raise",
    first_trick_pair_lead="no",
    marriage_declaration="optional",
    defender_cap="990",
    redeal_four_nines_needs_no_marriage="yes",
    barrel_attempts=1,
    past_tricks="none",
    auto_play="yes",
)
CARD_FIELDS = frozenset("card received given_left given_right".split())


def by_computers(walk: Walk) -> Iterator[Move]:
    """The match as three club players play it."""
    computer = ThousandComputer()
    begun = walk.begin()
    state, told = begun.state, history(begun)
    while (deadline := GAME.deadline(state)) is not None:
        seat = deadline.seats[0]
        public = MatchView(game_view=GAME.view(state, SPECTATOR))
        private = SeatPrivateView(seat=seat, game_view=GAME.view(state, seat))
        key = sha256(f"{state.decision_id} {seat}".encode()).digest()
        command, _ = computer.choose(public, private, told, walk.options, ComputerLevel.CLUB, key)
        events = GAME.decide(state, seat, command, OBSERVED)
        told = [*told, *history(events)]
        yield Move(state, seat, command, events)
        state = events.state


def history(events: list[Event]) -> list[Happening]:
    return [GAME.happening(event, SPECTATOR) for event in events]


MATCHES: dict[str, tuple[Walk, Callable[[Walk], Iterator[Move]]]] = {
    "short_game": (Walk(Options(target=500), 3), by_computers),
    "every_other_value": (Walk(EVERY_OTHER_VALUE, 20), moves),
    "new_deal": (Walk(Options(), 341), partial(moves, limit=10)),
}
"""Name -> the match, and who plays it: computers to its end, or random moves for a while."""


@pytest.mark.parametrize("name", MATCHES)
def test_a_match_is_played_and_shown_as_it_was(name: str) -> None:
    walk, play = MATCHES[name]
    file = HERE / f"{name}.txt"
    if os.environ.get("MAJLIS_WRITE_GOLDEN"):
        played = recorded(walk, file.read_text()) if file.exists() else play(walk)
        file.write_text("\n".join(playthrough(walk, played)) + "\n")
    text = file.read_text()
    assert "\n".join(playthrough(walk, recorded(walk, text))) + "\n" == text


def recorded(walk: Walk, text: str) -> Iterator[Move]:
    """The match by the moves that the text tells."""
    state = walk.begin().state
    for seat, name, arguments in re.findall(r"^decision \d+: seat (\d) (\w+)(.*)$", text, re.MULTILINE):
        args = {key: argument(key, value) for key, value in re.findall(r"(\w+)=(\w+)", arguments)}
        command = command_from(name, args)
        events = GAME.decide(state, int(seat), command, OBSERVED)
        yield Move(state, int(seat), command, events)
        state = events.state


def argument(key: str, value: str) -> object:
    return int(value) if key == "amount" else value if key == "card" else value == "True"


def test_the_matches_show_every_event() -> None:
    shown = {line.split()[0] for file in HERE.glob("*.txt") for line in file.read_text().splitlines() if line}
    events = {name.removeprefix("thousand_") for name in EVENT_NAMES.values() if name.startswith("thousand_")}
    assert not events - shown


def playthrough(walk: Walk, played: Iterator[Move]) -> Iterator[str]:
    """The lines of one match."""
    begun = walk.begin()
    yield f"thousand, {walk.options}"
    yield from decision("start", begun, begun.state)
    for move in played:
        asked = f"decision {move.before.decision_id}: seat {move.seat} {said(move.command)}"
        yield from decision(asked, move.events, move.after)
    yield ""
    yield f"{GAME.outcome(move.after)}"
    yield GAME.position(move.after).rstrip()


def decision(asked: str, events: list[Event], after: State) -> Iterator[str]:
    yield ""
    yield asked
    for event in events:
        yield f"{EVENT_NAMES[type(event)].removeprefix('thousand_')} {fields(event)}"
        yield f"  all: {fields(GAME.happening(event, SPECTATOR))}"
        for seat in range(SEATS):
            own = GAME.happening(event, seat)
            if own is not None:
                yield f"  | seat {seat}: {fields(own)}"
    yield f"  spectator sees {fields(GAME.view(after, SPECTATOR))}"
    for seat in range(SEATS):
        yield f"  seat {seat} sees {fields(GAME.view(after, seat))}"


def said(command: Command) -> str:
    return f"{COMMAND_NAMES[type(command)].removeprefix('thousand_')} {fields(command)}".strip()


def fields(message: Any) -> str:
    """What differs from the message's empty state, by name."""
    shown = []
    for field in msgspec.structs.fields(message):
        value = getattr(message, field.name)
        if value != field.default:
            shown.append(f"{field.name}={value_text(field.name, value)}")
    return " ".join(shown)


def value_text(name: str, value: Any) -> str:
    if isinstance(value, bytes):
        return f"[{names(value)}]"
    if name in CARD_FIELDS and value is not None:
        return card_name(value)
    if isinstance(value, msgspec.Struct):
        return f"({fields(value)})"
    if isinstance(value, tuple):
        each = [fields(one) if isinstance(one, msgspec.Struct) else str(one) for one in value]
        return f"({', '.join(each)})"
    return value.name if hasattr(value, "name") else str(value)
