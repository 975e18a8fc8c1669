"""The computer player of Sounding. It receives what its seat may see, never a state, and answers the same request alike.

`novice` goes through the list of RULES §1.G; `planner` appraises every move (levels club and expert, by `appraisal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from majlis.engine.games.sounding.computer import novice
from majlis.engine.games.sounding.computer.appraisal import Appraisal
from majlis.engine.games.sounding.computer.planner import CLUB, EXPERT, Planner, Scored, cells_of
from majlis.engine.games.sounding.options import Options
from majlis.engine.games.sounding.state import COLUMNS, OFFSET
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingDraw,
    SoundingFlip,
    SoundingHappening,
    SoundingPhase,
    SoundingPlace,
    SoundingPrivateView,
    SoundingTakeDiscard,
    SoundingThrowAndFlip,
    SoundingView,
)
from majlis.engine.vocabulary.sounding import SoundingHappeningKind as Kind
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView

PATIENCE: Final = 12
"""Turns of each seat without a reveal at the table after which this player turns a card over (SND-O12)."""


class SoundingComputer:
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
        """The move, and a human pace for it: 1 to 4 s, drawn from the key."""
        view, may = public.game_view, private.game_view
        if not isinstance(view, SoundingView) or not isinstance(may, SoundingPrivateView):
            raise ValueError("a computer player of Sounding needs views of Sounding")
        stream = Stream(sha256(b"majlis sounding computer 1" + key).digest())
        thinking_ms = 1000 + stream.below(1500) + stream.below(1500)
        if view.phase is SoundingPhase.INITIAL_FLIPS:
            return _initial(stream), thinking_ms
        if is_stalling(history, len(view.grids)) and may.may_flip:
            scored = 0.0, "flip", novice.flip(view.grids[private.seat].cells, cells_of(may.may_flip))
        elif level is ComputerLevel.NOVICE:
            scored = novice.choose(view.grids[private.seat].cells, view.discard_pile, _in_hand(view, may))
        else:
            scored = _planned(view, may, private.seat, options, level)
        return _command(view, options, scored), thinking_ms


def _initial(stream: Stream) -> Command:
    """Two cells in different columns."""
    first = stream.below(COLUMNS)
    second = (first + 1 + stream.below(COLUMNS - 1)) % COLUMNS
    cells = sorted([first + COLUMNS * stream.below(3), second + COLUMNS * stream.below(3)])
    return SoundingChooseInitial(first=cells[0], second=cells[1])


def _in_hand(view: SoundingView, may: SoundingPrivateView) -> SoundingPrivateView:
    """The private view with a taken card in hand as if it were drawn."""
    if view.taken is None:
        return may
    return SoundingPrivateView(drawn=view.taken, may_place=may.may_place)


def _planned(
    view: SoundingView, may: SoundingPrivateView, seat: int, options: Options, level: ComputerLevel
) -> Scored:
    skill = EXPERT if level is ComputerLevel.EXPERT else CLUB
    in_hand = may.drawn if view.taken is None else view.taken
    appraisal = Appraisal(view, seat, in_hand, skill)
    step = 1 if options.direction == "clockwise" else -1
    planner = Planner(appraisal, (seat + step) % len(view.grids))
    flips = planner.flipping(cells_of(may.may_flip))
    if not may.may_draw:
        thrown = 0.0 if in_hand is None else planner.gift(in_hand + OFFSET)
        moves = [(points - thrown, kind, cell) for points, kind, cell in flips]
        if in_hand is not None:
            moves += planner.placing(in_hand + OFFSET, cells_of(may.may_place))
        return max(moves)
    moves, places = list(flips), cells_of(may.may_take)
    moves.append((planner.drawing(places, moves), "draw", 0))
    if view.discard_pile:
        top = view.discard_pile[-1]
        kept = planner.gift(top)
        moves = [(points - kept if kind == "flip" else points, kind, cell) for points, kind, cell in moves]
        moves += [(points, "take", cell) for points, _, cell in planner.placing(top, places)]
    return max(moves)


def _command(view: SoundingView, options: Options, scored: Scored) -> Command:
    _, kind, cell = scored
    if kind == "take":
        return SoundingTakeDiscard(cell=None if options.undo_take == "once" else cell)
    if kind == "draw":
        return SoundingDraw()
    if kind == "place":
        return SoundingPlace(cell=cell)
    return SoundingThrowAndFlip(cell=cell) if view.phase is SoundingPhase.DRAWN else SoundingFlip(cell=cell)


def is_stalling(history: Sequence[Happening], seats: int) -> bool:
    """Whether nothing has been revealed at the table for PATIENCE turns of each seat."""
    limit = PATIENCE * seats
    turns = 0
    for told in reversed(history):
        if isinstance(told, SoundingHappening):
            if told.kind in (Kind.FLIPPED, Kind.DEALT):
                return False
            turns += told.kind is Kind.PLACED
            if turns >= limit:
                return turns_since_reveal(history) >= limit
    return False


def turns_since_reveal(history: Sequence[Happening]) -> int:
    """Turns at the table since a card was last revealed: a placement reveals where nothing had been shown before."""
    shown: set[tuple[int | None, int | None]] = set()
    turns = 0
    for told in history:
        if not isinstance(told, SoundingHappening):
            continue
        where = (told.seat, told.cell)
        if told.kind is Kind.DEALT:
            shown, turns = set(), 0
        elif told.kind is Kind.FLIPPED or (told.kind is Kind.PLACED and where not in shown):
            shown.add(where)
            turns = 0
        elif told.kind is Kind.PLACED:
            turns += 1
    return turns
