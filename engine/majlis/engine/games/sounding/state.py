"""What a match of Sounding is at one moment.

Cards are bytes holding value + 2 (0-14). In a grid a byte is one cell, in reading order: 0-14 a card face up,
15 a swallowed cell, 16-30 a card face down (card + 16).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from majlis.engine.games.sounding.options import Options
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.sounding import SoundingDealScored, SoundingPhase

INITIAL_FLIPS: Final = SoundingPhase.INITIAL_FLIPS
TURN: Final = SoundingPhase.TURN
DRAWN: Final = SoundingPhase.DRAWN
TAKEN: Final = SoundingPhase.TAKEN
OVER: Final = SoundingPhase.OVER
NOT_STARTED: Final = SoundingPhase.NOT_STARTED

CELLS: Final = 12
COLUMNS: Final = 4
SWALLOWED: Final = 15
FACE_DOWN: Final = 16
"""Added to a card that lies face down."""
OFFSET: Final = 2
"""A card is its value + 2."""
MATCH_POINTS: Final = 100
"""SND-22."""

DECK: Final = bytes([0] * 5 + [1] * 10 + [2] * 15 + [card for card in range(3, 15) for _ in range(10)])
"""SND-3: the 150 cards, sorted."""
HIDDEN_CARDS: Final = frozenset(range(FACE_DOWN, FACE_DOWN + 15))
ONE: Final = tuple(bytes([byte]) for byte in range(32))
"""One byte as bytes."""

TO_FACE_DOWN: Final = bytes((byte + FACE_DOWN) % 256 for byte in range(256))
TO_FACE_UP: Final = bytes(byte - FACE_DOWN if byte in HIDDEN_CARDS else byte for byte in range(256))


class Frame(Struct, frozen=True, gc=False):
    """What changes at most once in a deal."""

    seats: int
    options: Options
    chance: Chance
    deal: int = 0
    opener: int | None = None  # of this deal, or of the one before while nobody has opened this one
    totals: tuple[int, ...] = ()
    deals: tuple[SoundingDealScored, ...] = ()


class State(Struct, frozen=True, gc=False):
    """A position. `turn` is None while all choose at once, and between the last turn and the next deal."""

    frame: Frame
    phase: SoundingPhase = NOT_STARTED
    decision_id: int = 0
    turn: int | None = None
    grids: tuple[bytes, ...] = ()
    stock: bytes = b""  # next card first
    discard: bytes = b""  # bottom to top
    in_hand: int | None = None  # phase DRAWN: from the stock; phase TAKEN: from the discard pile
    closer: int | None = None
    last_turns: tuple[int, ...] = ()  # seats that still have theirs, the next one first
    chosen: tuple[int, ...] = ()  # by seat: bit i = cell i is one of the two initial flips
    idle: bytes = b""  # by seat: own turns since the last reveal at the table (only under stall_limit)
    reshuffles: int = 0  # of this deal
    undone: bool = False  # this turn has put a taken card back


def column_of(grid: bytes, column: int) -> bytes:
    """The three cells of a column, top to bottom."""
    return grid[column::COLUMNS]


def is_complete(grid: bytes, column: int) -> bool:
    """SND-15: three cards, face up, of the same value."""
    card = grid[column]
    return card < SWALLOWED and card == grid[column + 4] == grid[column + 8]


def has_hidden(grid: bytes) -> bool:
    """Whether a card lies face down."""
    return not HIDDEN_CARDS.isdisjoint(grid)


def turn_order(frame: Frame, after: int) -> tuple[int, ...]:
    """The other seats in the order in which their turns come (SND-O9)."""
    step = 1 if frame.options.direction == "clockwise" else -1
    return tuple([(after + step * i) % frame.seats for i in range(1, frame.seats)])
