"""The legal commands of a seat as a collection: what can be listed, and what `in` answers for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from majlis.engine.games.numbers.faults import right_answers
from majlis.engine.games.numbers.legal import others, plays
from majlis.engine.games.numbers.rules import is_accepted
from majlis.engine.games.numbers.state import CORRECTION, OVER, TURN, State
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import NumbersGiveUp

GIVE_UP: Final = NumbersGiveUp()


class Legal(Iterable[Command]):
    """`in` answers for every command. Listed are the plays without a fault, of calculations with the same numbers and the same last
    card one: what would be accepted and punished is more than can be listed (NUM-O1)."""

    __slots__ = ("_seat", "_state")

    def __init__(self, state: State, seat: int) -> None:
        self._state = state
        self._seat = seat

    def __iter__(self) -> Iterator[Command]:
        state, seat = self._state, self._seat
        if seat != state.turn or not TURN <= state.phase < OVER:
            return
        if state.phase is CORRECTION:
            yield from right_answers(state)
            yield GIVE_UP
            return
        yield from plays(state, seat)
        yield from others(state, seat)

    def __contains__(self, command: object) -> bool:
        return is_accepted(self._state, self._seat, command)
