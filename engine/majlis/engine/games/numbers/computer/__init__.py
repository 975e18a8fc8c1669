"""The computer player of Numbers. It receives what its seat may see, never a state, and answers the same request alike.

It makes no punished play: what it chooses from is what `legal` lists. The levels differ in how many cards of a calculation they find,
and in whether they think a whole turn through.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from majlis.engine.games.numbers.computer.planner import Planner
from majlis.engine.games.numbers.computer.reading import position_of
from majlis.engine.games.numbers.faults import right_answers
from majlis.engine.games.numbers.legal import DRAW, DRAW_AND_KEEP, END, KEEP, PLAY_AGAIN, may_again, plays
from majlis.engine.games.numbers.listing import GIVE_UP
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import CORRECTION, PLAYED, State
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersCalculate,
    NumbersPlay,
    NumbersPrivateView,
    NumbersView,
)
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView

NOVICE_CARDS = 2
CLUB_CARDS = 3
"""So many cards of a calculation they find."""
FEW = 3
"""With so many cards they put down the joker play-again where nothing else fits."""


class NumbersComputer:
    """As `computer.Computer` wants it."""

    def choose(
        self,
        public: MatchView,
        private: SeatPrivateView,
        history: Sequence[Happening],
        options: Any,
        level: ComputerLevel,
        key: bytes,
    ) -> tuple[Command, int]:
        """The move, and a human pace for it: 1 to 4 s, drawn from the key; less where there is no choice."""
        view, may = public.game_view, private.game_view
        if not isinstance(view, NumbersView) or not isinstance(may, NumbersPrivateView):
            raise ValueError("a computer player of Numbers needs views of Numbers")
        stream = Stream(sha256(b"majlis numbers computer 1" + key).digest())
        thinking_ms = 1000 + stream.below(1500) + stream.below(1500)
        state = position_of(view, may, private.seat, options)
        command = _choose(state, private.seat, may, options, level, stream)
        return command, 700 if command in (DRAW, KEEP, END) else thinking_ms


def _choose(
    state: State,
    seat: int,
    may: NumbersPrivateView,
    options: Options,
    level: ComputerLevel,
    stream: Stream,
) -> Command:
    if state.phase is CORRECTION:
        return next(iter(right_answers(state)), GIVE_UP)
    found = _play(state, seat, level, stream)
    if found is not None:
        return found
    if state.phase is PLAYED:
        return END
    if may.may_keep:
        return KEEP
    may_draw = may.may_draw or (options.draw_when == "no_play" and next(plays(state, seat), None) is None)
    return DRAW if may_draw else DRAW_AND_KEEP


def _play(state: State, seat: int, level: ComputerLevel, stream: Stream) -> Command | None:
    """A play without a fault; None to draw, to keep or to end the turn."""
    if level is ComputerLevel.EXPERT:
        return Planner(state, seat).best()
    most = NOVICE_CARDS if level is ComputerLevel.NOVICE else CLUB_CARDS
    known = [each for each in plays(state, seat) if _is_found(each, most)]
    if not known:
        return PLAY_AGAIN if len(state.hands[seat]) <= FEW and may_again(state, seat) else None
    if level is ComputerLevel.NOVICE:
        single = [each for each in known if isinstance(each, NumbersPlay)]
        return stream.choose(single or known)
    longest = max(map(_cards_of, known))
    return stream.choose([each for each in known if _cards_of(each) == longest])


def _is_found(command: Command, most: int) -> bool:
    if isinstance(command, NumbersCalculate):
        return len(command.cards) <= most
    return not isinstance(command, NumbersAgain)


def _cards_of(command: Command) -> int:
    if isinstance(command, NumbersCalculate):
        return len(command.cards)
    return 1 + (getattr(command, "cover", None) is not None)
