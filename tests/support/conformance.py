"""Every registered game in every shape it can be played in, and play that samples its positions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec import Struct

from majlis.engine import registry
from majlis.engine.decider import Game, Rejected, Setup
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import ClockCredited, MatchPaused, MatchResumed
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES
from tests.support.matches import seed

CLOCK_EVENTS = (MatchPaused, MatchResumed, ClockCredited)
"""Events of the match that a game may react to."""
DECISIONS_MAX = 20_000
"""Longer than any match that random players play."""


class Shape(Struct, frozen=True):
    """A game with a number of seats and options."""

    key: str
    seats: int
    options: Any
    name: str

    @property
    def game(self) -> Game[Any]:
        return registry.game(self.key)

    @property
    def setup(self) -> Setup:
        return Setup(self.seats, self.options, Chance(seed(self.name), b"", self.name))


def seat_counts(game: Game[Any], options: Any) -> list[int]:
    """The fewest, the most, and one between."""
    possible = []
    for seats in range(1, 14):
        try:
            game.check_setup(seats, options)
        except Rejected:
            continue
        possible.append(seats)
    return sorted({possible[0], possible[len(possible) // 2], possible[-1]})


def other_options(defaults: Any, rng: random.Random) -> Any:
    """Another value for about half of the options that are words or yes and no."""
    chosen = {}
    for name, hint in get_type_hints(type(defaults)).items():
        values = get_args(hint) if get_origin(hint) is Literal else ()
        if values and rng.random() < 0.5:
            chosen[name] = rng.choice(values)
    return msgspec.structs.replace(defaults, **chosen)


def shapes() -> Iterator[Shape]:
    """Every game and rules version: the defaults with several numbers of seats, and some mixtures of options."""
    for key, entry in registry.GAMES.items():
        for version, defaults in entry.game.rules_versions.items():
            for seats in seat_counts(entry.game, defaults):
                yield Shape(key, seats, defaults, f"{key}-{version}-{seats}")
            for number in range(6):
                options = other_options(defaults, random.Random(number))
                counts = seat_counts(entry.game, options)
                yield Shape(key, counts[number % len(counts)], options, f"{key}-{version}-mix{number}")


SHAPES = list(shapes())


class Walk:
    """A game played by random legal moves; `events` and `state` after each."""

    def __init__(self, shape: Shape, rng_seed: int = 0) -> None:
        self.game = shape.game
        self.rng = random.Random(f"{shape.name}/{rng_seed}")
        started = self.game.start(self.game.initial(shape.setup))
        self.initial = self.game.initial(shape.setup)
        self.events: list[Event] = list(started)
        self.state: Any = started.state

    def waiting(self) -> tuple[int, ...]:
        deadline = self.game.deadline(self.state)
        return deadline.seats if deadline is not None else ()

    def legal(self, seat: int) -> list[Command]:
        return list(self.game.legal(self.state, seat))

    def step(self) -> list[Event]:
        """One random move of one of the seats waited for."""
        seat = self.rng.choice(self.waiting())
        emitted = self.game.decide(self.state, seat, self.rng.choice(self.legal(seat)), Observed())
        self.state = emitted.state
        self.events += emitted
        return list(emitted)

    def positions(self, every: int = 1) -> Iterator[Any]:
        """The walk's states to the end, or a sample of them."""
        for number in range(DECISIONS_MAX):
            if number % every == 0:
                yield self.state
            if not self.waiting():
                return
            self.step()
        raise AssertionError("random play does not end")


def foreign_events(key: str) -> list[Event]:
    """An event of each kind that is not the game's."""
    return [_any_of(kind) for kind, name in EVENT_NAMES.items() if not name.startswith(f"{key}_")]


def _any_of(kind: Any) -> Any:
    """A struct with its defaults, and some value for every enum."""
    fields = msgspec.structs.fields(kind)
    return kind(**{field.name: list(field.type)[1] for field in fields if field.required})


def any_command(key: str) -> st.SearchStrategy[Command]:
    """Commands of the game with numbers that may be anything."""
    kinds = [kind for kind, name in COMMAND_NAMES.items() if name.startswith(f"{key}_")]
    return st.one_of(*[st.builds(kind, **_any_fields(kind)) for kind in kinds])


def _any_fields(kind: Any) -> dict[str, st.SearchStrategy[Any]]:
    number = st.integers(0, 30) | st.sampled_from([31, 255, 256, 2**31 - 1])
    texts = {"int": number, "str": st.text(max_size=3), "bytes": st.binary(max_size=6), "bool": st.booleans()}
    plain: dict[Any, st.SearchStrategy[Any]] = {
        int: number,
        str: texts["str"],
        bytes: texts["bytes"],
        bool: texts["bool"],
    }
    values = {}
    for name, hint in get_type_hints(kind).items():
        if hint in plain:
            values[name] = plain[hint]
        elif get_origin(hint) is tuple:
            values[name] = st.lists(plain[get_args(hint)[0]], max_size=6).map(tuple)
        else:
            options = [plain[part] if part in plain else st.none() for part in get_args(hint)]
            values[name] = st.one_of(*options) if options else st.sampled_from(list(hint)[1:])
    return values
