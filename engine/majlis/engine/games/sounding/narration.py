"""Sounding in words and pictures, for replays: what happened as a sentence, and a view as the table looks from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from majlis.engine.games.sounding.position import cell_name
from majlis.engine.games.sounding.state import CELLS, COLUMNS, OFFSET
from majlis.engine.vocabulary.sounding import SoundingHappening, SoundingPrivateView, SoundingView
from majlis.engine.vocabulary.sounding import SoundingHappeningKind as Kind

SHOWN: Final = {254: "--", 255: "??"}
"""Cells of a view that show no card: swallowed, face down."""


def told(happening: SoundingHappening) -> str:
    """What happened, as a sentence: `seat 1 draws 5`."""
    return _TOLD[happening.kind](happening)


def picture(view: SoundingView, private: SoundingPrivateView | None) -> str:
    """The table as a viewer sees it: all grids side by side, the piles, the totals."""
    names = [f"seat {seat}" for seat in range(len(view.grids))]
    rows = [" | ".join(f"{name:<{_WIDTH}}" for name in names)]
    for row in range(0, CELLS, COLUMNS):
        rows.append(" | ".join(_row(grid.cells[row : row + COLUMNS]) for grid in view.grids))
    top = str(view.discard_pile[-1] - OFFSET) if view.discard_pile else "empty"
    piles = f"discard {top} ({len(view.discard_pile)} cards), stock {view.stock_size}"
    drawn = view.drawn if private is None or private.drawn is None else private.drawn
    in_hand = view.taken if drawn is None else drawn
    hand = "" if in_hand is None else f", in hand {in_hand}"
    rows.append(f"deal {view.deal}: {piles}{hand}; totals {' '.join(map(str, view.totals))}")
    return "\n".join(rows)


_WIDTH: Final = 3 * COLUMNS - 1


def _row(cells: bytes) -> str:
    return " ".join(f"{SHOWN.get(cell, str(cell - OFFSET)):>2}" for cell in cells)


def _cell(happening: SoundingHappening) -> str:
    return "a cell" if happening.cell is None else cell_name(happening.cell)


def _drawn(happening: SoundingHappening) -> str:
    return f"seat {happening.seat} draws {'a card' if happening.card is None else happening.card}"


def _placed(happening: SoundingHappening) -> str:
    source = "from the discard pile" if happening.from_discard else "from the stock"
    replaced = "" if happening.replaced is None else f", throwing {happening.replaced}"
    return f"seat {happening.seat} places {happening.card} {source} on {_cell(happening)}{replaced}"


def _swallowed(happening: SoundingHappening) -> str:
    column = 0 if happening.cell is None else happening.cell + 1
    return f"column {column} of seat {happening.seat} is swallowed: three times {happening.card}"


def _scored(happening: SoundingHappening) -> str:
    return (
        "the deal is scored"
        if happening.seat is None
        else f"the deal is scored; seat {happening.seat}'s result is doubled"
    )


_TOLD: Final[dict[Kind, Callable[[SoundingHappening], str]]] = {
    Kind.DEALT: lambda h: f"a new deal; the discard pile opens with {h.card}",
    Kind.CHOSEN: lambda h: f"seat {h.seat} has chosen two cells",
    Kind.REVEALED: lambda h: (
        "the chosen cells are revealed" + ("" if h.seat is None else f"; seat {h.seat} opens")
    ),
    Kind.OPENER_DRAWN: lambda h: f"seat {h.seat} is drawn to open",
    Kind.DRAWN: _drawn,
    Kind.TAKEN: lambda h: f"seat {h.seat} takes {h.card} from the discard pile",
    Kind.TAKE_UNDONE: lambda h: f"seat {h.seat} puts {h.card} back",
    Kind.PLACED: _placed,
    Kind.THROWN: lambda h: f"seat {h.seat} throws {h.card}",
    Kind.FLIPPED: lambda h: f"seat {h.seat} flips {_cell(h)}: {h.card}",
    Kind.SWALLOWED: _swallowed,
    Kind.RESHUFFLED: lambda _: "the discard pile is shuffled into the stock",
    Kind.CLOSED: lambda h: f"seat {h.seat} closes the deal: one last turn for the others",
    Kind.GRID_REVEALED: lambda h: f"seat {h.seat} reveals its grid",
    Kind.SCORED: _scored,
}
