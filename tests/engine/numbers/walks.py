"""Random play of Numbers: any options, moves chosen by a number; now and then one that is punished."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from majlis.engine.decider import Emitter, Setup
from majlis.engine.games.numbers import Numbers
from majlis.engine.games.numbers.cards import CHANGERS
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import State
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command, Observed
from majlis.engine.vocabulary.numbers import NumbersCalculate, NumbersJoker

GAME = Numbers()
OBSERVED = Observed(received_at_ms=1)
STEPS = 150
"""Decisions of a walk: a deal or several."""


class Walk(Struct, frozen=True):
    """A match begun, and the number from which its moves are drawn."""

    options: Options
    number: int
    seats: int = 3

    def chance(self) -> Chance:
        return Chance(sha256(str(self.number).encode()).digest(), b"", f"walk {self.number}")

    def begin(self) -> Emitter[State]:
        return GAME.start(GAME.initial(Setup(self.seats, self.options, self.chance())))


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
        if stream.below(4) == 0:
            command = thrown(state, seat, stream) or command
        events = GAME.decide(state, seat, command, OBSERVED)
        yield Move(state, seat, command, events)
        state = events.state


def thrown(state: State, seat: int, stream: Stream) -> Command | None:
    """Some cards of the hand with any operations, or a joker with any cover: mostly faulty, and accepted nevertheless."""
    hand = stream.shuffle(state.hands[seat] + state.thrown)
    cards = hand[: 2 + stream.below(4)]
    jokers = [card for card in hand if card in CHANGERS]
    if jokers and stream.below(3) == 0:
        command: Command = NumbersJoker(joker=jokers[0], cover=stream.choose(hand))
    else:
        command = NumbersCalculate(cards=cards, operations=bytes([stream.below(4) for _ in cards[1:]]))
    return command if command in GAME.legal(state, seat) else None


def played(walk: Walk, limit: int) -> State:
    """The position after that many decisions, or at the end."""
    state = walk.begin().state
    for move in moves(walk, limit):
        state = move.after
    return state


def all_options() -> st.SearchStrategy[Options]:
    """Any combination of the options that change play; without teams."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        name: st.sampled_from(get_args(kind))
        for name, kind in get_type_hints(Options).items()
        if get_origin(kind) is Literal and name != "teams"
    }
    return st.builds(Options, **fields)


def walks(options: st.SearchStrategy[Options] | None = None) -> st.SearchStrategy[Walk]:
    """Any match: the options given (default: any), any chance, two to six seats; or four seats in two teams."""
    alone = st.builds(
        Walk,
        options=all_options() if options is None else options,
        number=st.integers(0, 2**32),
        seats=st.integers(2, 6),
    )
    teams = st.builds(Walk, options=st.just(Options(teams=2)), number=st.integers(0, 2**32), seats=st.just(4))
    return st.one_of(alone, teams)


DEFAULTS = st.just(Options())
