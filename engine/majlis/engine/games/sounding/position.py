"""The canonical text of a position, and the cards in it counted."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DECK,
    FACE_DOWN,
    OFFSET,
    ONE,
    SWALLOWED,
    TO_FACE_UP,
    State,
)


def cell_name(cell: int) -> str:
    """r1c1 to r3c4."""
    return f"r{cell // COLUMNS + 1}c{cell % COLUMNS + 1}"


def cell_text(byte: int) -> str:
    """A cell of a grid: 5, ?[7] face down, - swallowed."""
    if byte == SWALLOWED:
        return "-"
    return f"?[{byte - FACE_DOWN - OFFSET}]" if byte >= FACE_DOWN else str(byte - OFFSET)


def row_texts(grid: bytes) -> list[str]:
    """The three rows of a grid."""
    return [" ".join(map(cell_text, grid[row : row + COLUMNS])) for row in range(0, CELLS, COLUMNS)]


def cards_text(cards: Iterable[int]) -> str:
    """A pile, in the order of the bytes."""
    return " ".join([str(card - OFFSET) for card in cards]) or "none"


def position(state: State) -> str:
    """Everything that play depends on, secrets included, a fact a line; never the options and the seed."""
    frame = state.frame
    lines = [
        f"sounding deal {frame.deal} phase {state.phase.name.lower()} turn {_text(state.turn)}",
        f"opener {_text(frame.opener)} closer {_text(state.closer)} last turns {_seats(state.last_turns)}",
        f"reshuffles {state.reshuffles} undone {'yes' if state.undone else 'no'} idle {_seats(state.idle)}",
        f"totals {_seats(frame.totals)}",
        *[f"scored {deal.deal}: {_seats(deal.raw)} -> {_seats(deal.results)}" for deal in frame.deals],
        *[f"seat {seat}: {' / '.join(row_texts(grid))}" for seat, grid in enumerate(state.grids)],
        *[f"chosen {seat}: {_cells(mask)}" for seat, mask in enumerate(state.chosen)],
        f"in hand {_text(None if state.in_hand is None else state.in_hand - OFFSET)}",
        f"stock {cards_text(state.stock)}",
        f"discard {cards_text(state.discard)}",
    ]
    return "\n".join(lines) + "\n"


def _text(number: int | None) -> str:
    return "-" if number is None else str(number)


def _seats(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers)) or "-"


def _cells(mask: int) -> str:
    return ",".join([cell_name(cell) for cell in range(CELLS) if mask >> cell & 1]) or "-"


def all_cards(state: State) -> bytes:
    """Every card of the position, sorted."""
    in_grids = b"".join(state.grids).translate(TO_FACE_UP, ONE[SWALLOWED])
    in_hand = b"" if state.in_hand is None else ONE[state.in_hand]
    return bytes(sorted(in_grids + in_hand + state.stock + state.discard))


def is_conserved(state: State) -> bool:
    """The 150 cards of SND-3, each where it can be; before the first deal there is nothing to count."""
    return not state.grids or all_cards(state) == DECK
