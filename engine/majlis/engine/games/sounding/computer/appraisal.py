"""What a seat's view is worth: unseen cards counted, columns appraised, the risk of closing.

Everything here is a guess in points, from a view alone. Cells are bytes as in views: 0-14 a card (value + 2) face up,
254 swallowed, 255 face down.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, sqrt
from typing import Final

from majlis.engine.games.sounding.state import COLUMNS, DECK, OFFSET, ONE
from majlis.engine.vocabulary.sounding import SoundingView

HIDDEN: Final = 255
GONE: Final = 254
VALUES: Final = 15

LAST_TURN_GAIN: Final = 3.5
"""What a seat's last turn takes off its result, on average."""
LAST_TURN_SPREAD: Final = 9.0
"""The variance of that."""


class Skill:
    """What a level takes into account."""

    def __init__(self, *, counts: bool, closing: float, reveal: float, deny: float, spite: float) -> None:
        self.counts = counts  # remembers which cards have been seen
        self.closing = closing  # points that ending the deal now is worth
        self.reveal = reveal  # points that one hidden card less is worth
        self.deny = deny  # weight of what the next seat gains from the card left on the discard pile
        self.spite = spite  # weight of doubling the closer


class _Shapes(dict[bytes, tuple[int, int, int | None]]):
    """A column -> (points shown, cells hidden, the card of which two are shown); one that is swallowed counts nothing."""

    def __missing__(self, cells: bytes) -> tuple[int, int, int | None]:
        shown = [card for card in cells if card < VALUES]
        twice = [card for card in shown if shown.count(card) == 2]
        points = sum(shown) - OFFSET * len(shown)
        if len(shown) == 3 and shown.count(shown[0]) == 3:
            points = 0
        self[cells] = points, cells.count(HIDDEN), twice[0] if twice and GONE not in cells else None
        return self[cells]


_SHAPES: Final = _Shapes()


class Appraisal:
    """One seat's estimates at one decision."""

    def __init__(self, view: SoundingView, seat: int, drawn: int | None, skill: Skill) -> None:
        self.skill = skill
        self.seat = seat
        self.closer = view.closer
        self.grids = [grid.cells for grid in view.grids]
        self.grid = self.grids[seat]
        self.chances = self._unseen(view, drawn) if skill.counts else _shares(_counts(DECK))
        self.mean = sum(share * (card - OFFSET) for card, share in enumerate(self.chances))
        self.variance = (
            sum(share * (card - OFFSET) ** 2 for card, share in enumerate(self.chances)) - self.mean**2
        )
        hidden = [grid.count(HIDDEN) for grid in self.grids]
        self.turns = 0 if view.closer is not None else min(hidden)
        self._columns: dict[bytes, float] = {}
        self._thirds: dict[bytes, list[float]] = {}
        self._risks: dict[int, float] = {}

    def _unseen(self, view: SoundingView, drawn: int | None) -> list[float]:
        seen = _counts(view.discard_pile + b"".join(self.grids))
        if drawn is not None:
            seen[drawn + OFFSET] += 1
        return _shares([max(0, have - gone) for have, gone in zip(_counts(DECK), seen, strict=True)])

    # --- grids ---

    def column(self, cells: bytes) -> float:
        """What a column will count, with the chance that it is swallowed."""
        known = self._columns.get(cells)
        if known is None:
            points, hidden, pair = _SHAPES[cells]
            known = points + hidden * self.mean
            if pair is not None:
                if pair > OFFSET and known > 0:
                    known *= 1 - self._chance_of(pair, beneath=hidden == 1)
                else:
                    known -= self.chances[pair] * 3 * min(pair - OFFSET, 0) * hidden
            self._columns[cells] = known
        return known

    def _chance_of(self, card: int, *, beneath: bool) -> float:
        """That the third card of a pair comes: it lies there already, is drawn, or thrown by the seat before."""
        share = self.chances[card]
        missed = (1 - min(1.0, 1.8 * share)) ** self.turns
        return 1 - missed * (1 - share if beneath else 1)

    def grid_cost(self, grid: bytes) -> float:
        """What a grid will count."""
        return sum([self.column(grid[column::COLUMNS]) for column in range(COLUMNS)])

    def gains(self, grid: bytes, cell: int) -> list[float]:
        """Points saved by having each of the 15 cards in that cell."""
        column, row = grid[cell % COLUMNS :: COLUMNS], cell // COLUMNS
        before = self.column(column)
        return [before - after for after in self._with_each(column[:row] + column[row + 1 :])]

    def _with_each(self, two: bytes) -> list[float]:
        """What a column of these two cells and each of the 15 cards will count."""
        known = self._thirds.get(two)
        if known is None:
            points, hidden, pair = _SHAPES[two]
            rest = points + hidden * self.mean
            known = [rest + card - OFFSET for card in range(VALUES)]
            for card in range(VALUES) if pair is not None else two:
                if card < VALUES:
                    known[card] = self.column(two + ONE[card])
            self._thirds[two] = known
        return known

    # --- closing ---

    def doubling_risk(self, points: int) -> float:
        """That another seat ends with as little or less, if this one closes with that many points now."""
        known = self._risks.get(points)
        if known is None:
            safe = 1.0
            for seat, grid in enumerate(self.grids):
                if seat != self.seat:
                    safe *= 1 - self._chance_at_most(grid, points)
            known = self._risks[points] = 1 - safe
        return known

    def _chance_at_most(self, grid: bytes, points: int) -> float:
        hidden = grid.count(HIDDEN)
        shown = sum([card - OFFSET for card in grid if card < VALUES])
        mean = shown + hidden * self.mean - LAST_TURN_GAIN
        return below(points + 0.5, mean, hidden * self.variance + LAST_TURN_SPREAD)

    def closing_cost(self, points: int) -> float:
        """What closing with that many points costs, the penalty's risk included."""
        return points + max(points, 0) * self.doubling_risk(points) - self.skill.closing


def below(limit: float, mean: float, variance: float) -> float:
    """The chance of a normal variable to be below the limit."""
    return 0.5 * (1 + erf((limit - mean) / sqrt(2 * max(variance, 0.01))))


def _counts(cards: bytes) -> list[int]:
    return [cards.count(card) for card in range(VALUES)]


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts) or 1
    return [count / total for count in counts]
