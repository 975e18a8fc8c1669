"""The player of level novice: the order of thought of RULES §1.G, card by card, without counting or looking at others."""

from __future__ import annotations

from majlis.engine.games.sounding.computer.appraisal import GONE, HIDDEN
from majlis.engine.games.sounding.computer.planner import Scored, cells_of
from majlis.engine.games.sounding.state import COLUMNS, OFFSET
from majlis.engine.vocabulary.sounding import SoundingPrivateView

UNKNOWN = 5 + OFFSET
"""What a card that lies face down is taken for."""
LOW = 2 + OFFSET
GAIN = 3


def others(grid: bytes, cell: int) -> bytes:
    """The two other cells of the cell's column."""
    column, row = grid[cell % COLUMNS :: COLUMNS], cell // COLUMNS
    return column[:row] + column[row + 1 :]


def worth(byte: int) -> int:
    """A cell as a card; a swallowed one counts nothing."""
    return UNKNOWN if byte == HIDDEN else OFFSET if byte == GONE else byte


def placement(grid: bytes, card: int, cells: list[int]) -> tuple[int, int] | None:
    """Where the card is best placed, and how many points that saves; None where there is no cell."""
    ranked = []
    for cell in cells:
        pair = others(grid, cell)
        saved = worth(grid[cell]) - card
        if pair == bytes([card, card]):
            saved += 2 * (card - OFFSET)
        elif card in pair and card > LOW:
            saved += 2
        ranked.append((saved, -cell))
    if not ranked:
        return None
    saved, cell = max(ranked)
    return -cell, saved


def choose(grid: bytes, discard: bytes, may: SoundingPrivateView) -> Scored:
    """The move: its kind (`take`, `draw`, `place`, `flip`) and its cell."""
    flips = cells_of(may.may_flip)
    if may.may_draw:
        taking = placement(grid, discard[-1], cells_of(may.may_take)) if may.may_take else None
        if taking is not None:
            cell, saved = taking
            if saved >= GAIN or (discard[-1] <= LOW and saved > 0):
                return 0.0, "take", cell
        return 0.0, "draw", 0
    card = may.drawn
    placing = None if card is None else placement(grid, card + OFFSET, cells_of(may.may_place))
    if placing is not None and (placing[1] > 0 or not flips):
        return 0.0, "place", placing[0]
    return 0.0, "flip", flip(grid, flips)


def flip(grid: bytes, cells: list[int]) -> int:
    """The cell to turn over: one in the column that is least known."""
    return max(cells, key=lambda cell: (others(grid, cell).count(HIDDEN), -cell))
