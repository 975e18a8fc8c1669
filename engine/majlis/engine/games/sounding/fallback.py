"""The move made for a silent seat (SND-O14): always legal, and never better informed than the seat."""

from __future__ import annotations

from majlis.engine.games.sounding.legal import DRAWS, flippable, placeable
from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DRAWN,
    INITIAL_FLIPS,
    OFFSET,
    SWALLOWED,
    TAKEN,
    State,
    column_of,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingFlip,
    SoundingPlace,
    SoundingThrowAndFlip,
)

GAIN = 3
"""A drawn card replaces a visible one where it lowers it by this much or more."""


def fallback(state: State, seat: int) -> Command:
    """Initial flips: the first two cells. A turn: flip the first hidden card. A card in hand: see `_in_hand`."""
    if state.phase is INITIAL_FLIPS:
        return SoundingChooseInitial(first=0, second=1)
    if state.in_hand is not None and state.phase in (DRAWN, TAKEN):
        return _in_hand(state, seat, state.in_hand)
    hidden = flippable(state, seat)
    return SoundingFlip(cell=_first(hidden)) if hidden else DRAWS[0]


def _in_hand(state: State, seat: int, card: int) -> Command:
    """Placed where it swallows a positive column, else where it lowers a visible card most and by 3 or more;
    else a drawn card is thrown, and a taken one covers the first card that lies face down.
    """
    grid, allowed = state.grids[seat], placeable(state, seat)
    cells = [cell for cell in range(CELLS) if allowed >> cell & 1]
    if card > OFFSET:
        for cell in cells:
            if _completes(grid, cell, card):
                return SoundingPlace(cell=cell)
    gains = [(grid[cell] - card, -cell) for cell in cells if grid[cell] < SWALLOWED]
    gain, cell = max(gains, default=(0, 0))
    if gain >= GAIN:
        return SoundingPlace(cell=-cell)
    hidden = flippable(state, seat)
    return (
        SoundingThrowAndFlip(cell=_first(hidden))
        if state.phase is DRAWN
        else SoundingPlace(cell=_first(hidden))
    )


def _completes(grid: bytes, cell: int, card: int) -> bool:
    """Whether the two other cards of the cell's column are face up and equal the card."""
    column = column_of(grid, cell % COLUMNS)
    row = cell // COLUMNS
    return column[:row] + column[row + 1 :] == bytes([card, card])


def _first(cells: int) -> int:
    return (cells & -cells).bit_length() - 1
