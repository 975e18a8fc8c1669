"""What may be done: cells as bits (bit i = cell i), and the commands made of them. Never looks under a hidden card."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Final

from majlis.engine.games.sounding.state import (
    CELLS,
    DRAWN,
    INITIAL_FLIPS,
    SWALLOWED,
    TAKEN,
    TURN,
    State,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingDraw,
    SoundingFlip,
    SoundingPlace,
    SoundingTakeDiscard,
    SoundingThrowAndFlip,
    SoundingUndoTake,
)

ALL_CELLS: Final = (1 << CELLS) - 1


class _ByMask(dict[int, tuple[Command, ...]]):
    """For each set of cells the commands on them, made once."""

    def __init__(self, make: Callable[[int], Command]) -> None:
        super().__init__()
        self._each = tuple([make(cell) for cell in range(CELLS)])

    def __missing__(self, mask: int) -> tuple[Command, ...]:
        commands = tuple([self._each[cell] for cell in range(CELLS) if mask >> cell & 1])
        self[mask] = commands
        return commands


TAKES: Final = _ByMask(lambda cell: SoundingTakeDiscard(cell=cell))
PLACES: Final = _ByMask(lambda cell: SoundingPlace(cell=cell))
THROWS: Final = _ByMask(lambda cell: SoundingThrowAndFlip(cell=cell))
FLIPS: Final = _ByMask(lambda cell: SoundingFlip(cell=cell))
DRAWS: Final = (SoundingDraw(),)
TAKE: Final = (SoundingTakeDiscard(),)
UNDO: Final = (SoundingUndoTake(),)
CHOICES: Final = tuple([SoundingChooseInitial(first=a, second=b) for a, b in combinations(range(CELLS), 2)])

# A grid as only its kinds of cells: u up, s swallowed, d down.
_KINDS: Final = bytes(
    b"u"[0] if byte < SWALLOWED else b"s"[0] if byte == SWALLOWED else b"d"[0] for byte in range(256)
)


class _Masks(dict[bytes, tuple[int, int]]):
    """Kinds of a grid -> (cells face down, cells that hold a card)."""

    def __missing__(self, kinds: bytes) -> tuple[int, int]:
        hidden = sum(1 << cell for cell, kind in enumerate(kinds) if kind == b"d"[0])
        present = sum(1 << cell for cell, kind in enumerate(kinds) if kind != b"s"[0])
        self[kinds] = hidden, present
        return hidden, present


_MASKS: Final = _Masks()


def is_stalled(state: State, seat: int) -> bool:
    """SND-O12: whether the seat has to turn a card over now."""
    limit = state.frame.options.stall_limit
    return limit > 0 and state.idle[seat] >= limit


def flippable(state: State, seat: int) -> int:
    """Cells that may be flipped, by the turn's owner with or without a drawn card in hand (SND-9, SND-10)."""
    return _flippable(state, _MASKS[state.grids[seat].translate(_KINDS)][0])


def _flippable(state: State, hidden: int) -> int:
    if hidden & (hidden - 1) == 0 and state.phase is TURN and state.closer is None:
        # The last hidden cell: a mere flip of it closes the deal, where that is allowed (SND-O18).
        return hidden if state.frame.options.close_by_flip == "yes" else 0
    return hidden


def placeable(state: State, seat: int) -> int:
    """Cells in which the turn's owner may place a card (SND-8, SND-9, SND-O6, SND-O12)."""
    return _placeable(state, seat, _MASKS[state.grids[seat].translate(_KINDS)][1])


def _placeable(state: State, seat: int, present: int) -> int:
    options = state.frame.options
    if options.stall_limit and is_stalled(state, seat):
        return 0
    return ALL_CELLS if options.place_in_swallowed == "yes" else present


def takeable(state: State, seat: int) -> int:
    """Cells in which the turn's owner may place the discard pile's top card."""
    return placeable(state, seat) if state.discard else 0


def may_undo(state: State) -> bool:
    """Whether the taken card may be put back (SND-O13): once a turn."""
    return state.phase is TAKEN and not state.undone


def waiting(state: State) -> tuple[int, ...]:
    """The seats that the open decision waits for; none when nothing is open."""
    if state.turn is not None:
        return (state.turn,)
    if state.phase is INITIAL_FLIPS:
        return tuple([seat for seat, mask in enumerate(state.chosen) if not mask])
    return ()


def legal(state: State, seat: int) -> Iterable[Command]:
    """Every command that would be accepted from this seat now."""
    phase = state.phase
    if seat != state.turn:
        return CHOICES if phase is INITIAL_FLIPS and seat in waiting(state) else ()
    if phase is INITIAL_FLIPS:
        return CHOICES
    hidden, present = _MASKS[state.grids[seat].translate(_KINDS)]
    place = _placeable(state, seat, present)
    if phase is TURN:
        take = place if state.discard else 0
        return _TURNS[state.frame.options.undo_take == "once", take, _flippable(state, hidden)]
    if phase is DRAWN:
        return _DRAWN[place, hidden]
    return PLACES[place] + (UNDO if may_undo(state) else ())


class _Turns(dict[tuple[bool, int, int], tuple[Command, ...]]):
    """(taking is a move of its own, cells to take to, cells to flip) -> the commands of a turn."""

    def __missing__(self, key: tuple[bool, int, int]) -> tuple[Command, ...]:
        in_two_moves, take, flip = key
        takes = TAKES[take] if not in_two_moves else TAKE if take else ()
        self[key] = takes + DRAWS + FLIPS[flip]
        return self[key]


class _Drawn(dict[tuple[int, int], tuple[Command, ...]]):
    """(Cells to place in, cells to flip) -> the commands with a drawn card in hand."""

    def __missing__(self, key: tuple[int, int]) -> tuple[Command, ...]:
        place, flip = key
        self[key] = PLACES[place] + THROWS[flip]
        return self[key]


_TURNS: Final = _Turns()
_DRAWN: Final = _Drawn()
