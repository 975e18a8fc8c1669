"""Random play of Thousand: any options, legal moves chosen by a list of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from majlis.engine.decider import Emitter, Setup
from majlis.engine.games.thousand import Thousand
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import State
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command, Observed

GAME = Thousand()
OBSERVED = Observed(received_at_ms=1)
STEPS = 150
"""Decisions of a walk: about four deals. Random bidders lose more than they win, so that no match would end."""


class Walk(Struct, frozen=True):
    """A match begun, and the number from which its moves are drawn."""

    options: Options
    number: int

    def chance(self) -> Chance:
        return Chance(sha256(str(self.number).encode()).digest(), b"", f"walk {self.number}")

    def begin(self) -> Emitter[State]:
        return GAME.start(GAME.initial(Setup(3, self.options, self.chance())))


class Move(Struct, frozen=True):
    """One decision of a walk."""

    before: State
    seat: int
    command: Command
    events: Emitter[State]

    @property
    def after(self) -> State:
        return self.events.state


def moves(walk: Walk, limit: int = STEPS) -> Iterator[Move]:
    """The decisions of the walk, to the end of the match or to the limit."""
    state = walk.begin().state
    stream = Stream(sha256(f"moves {walk.number}".encode()).digest())
    for _ in range(limit):
        deadline = GAME.deadline(state)
        if deadline is None:
            return
        seat = stream.choose(deadline.seats)
        command = stream.choose(tuple(GAME.legal(state, seat)))
        events = GAME.decide(state, seat, command, OBSERVED)
        yield Move(state, seat, command, events)
        state = events.state


def played(walk: Walk, limit: int) -> State:
    """The position after that many decisions, or at the end."""
    state = walk.begin().state
    for move in moves(walk, limit):
        state = move.after
    return state


def all_options() -> st.SearchStrategy[Options]:
    """Any combination of the options that change play."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        name: st.sampled_from(get_args(kind))
        for name, kind in get_type_hints(Options).items()
        if get_origin(kind) is Literal
    }
    return st.builds(Options, barrel_attempts=st.sampled_from([0, 1, 3]), **fields)


def walks(options: st.SearchStrategy[Options] | None = None) -> st.SearchStrategy[Walk]:
    """Any match: the options given (default: any), any chance."""
    return st.builds(
        Walk, options=all_options() if options is None else options, number=st.integers(0, 2**32)
    )


DEFAULTS = st.just(Options())
