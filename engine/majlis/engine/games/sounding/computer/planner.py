"""The players of level club and expert: each move is appraised, the best is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from majlis.engine.games.sounding.computer.appraisal import GONE, HIDDEN, VALUES, Appraisal, Skill, below
from majlis.engine.games.sounding.state import CELLS, COLUMNS, OFFSET

Scored = tuple[float, str, int]
"""Points, kind of move, cell."""

CLUB: Final = Skill(counts=False, closing=2.0, reveal=0.5, deny=0.0, spite=0.0)
EXPERT: Final = Skill(counts=True, closing=2.0, reveal=0.5, deny=0.3, spite=0.2)


def cells_of(mask: int) -> list[int]:
    """The cells of a set of bits."""
    return [cell for cell in range(CELLS) if mask >> cell & 1]


class Planner:
    """Points of each move of one seat at one decision: what it saves compared with doing nothing."""

    def __init__(self, appraisal: Appraisal, next_seat: int) -> None:
        self.appraisal = appraisal
        self.grid = appraisal.grid
        self.cost = appraisal.grid_cost(self.grid)
        self.hidden = self.grid.count(HIDDEN)
        self.open = appraisal.closer is None
        self.next_grid = appraisal.grids[next_seat]
        self._gifts: dict[int, float] = {}

    def placing(self, card: int, cells: list[int]) -> Iterator[Scored]:
        """Placing that card in each of the cells."""
        for cell in cells:
            there = self.grid[cell]
            points = self._after(cell, card)
            left = card if self._completes(cell, card) else there
            if left < VALUES:
                points -= self.gift(left)
            elif left == HIDDEN:
                points -= self._mean_gift()
            yield points, "place", cell

    def flipping(self, cells: list[int]) -> list[Scored]:
        """Turning over each of the cells, whatever lies there."""
        return [(self._flip(cell), "flip", cell) for cell in cells]

    def _flip(self, cell: int) -> float:
        chances = self.appraisal.chances
        return sum([share * self._after(cell, card) for card, share in enumerate(chances) if share > 0])

    def drawing(self, places: list[int], flips: list[Scored]) -> float:
        """Drawing: the best use of each card that may come."""
        flip = max(flips, default=(-99.0, "", 0))[0]
        total = 0.0
        for card, share in enumerate(self.appraisal.chances):
            if share > 0:
                place = max(self.placing(card, places), default=(-99.0, "", 0))[0]
                total += share * max(place, flip - self.gift(card))
        return total

    def _after(self, cell: int, card: int) -> float:
        """Points saved when that card lies face up in that cell."""
        there = self.grid[cell]
        gain = self.appraisal.gain(self.grid, cell, card)
        if there != HIDDEN:
            return gain + self._spite(gain, self.hidden)
        if not self.open:
            return gain + self._spite(gain, self.hidden - 1)
        if self.hidden > 1:
            return gain + self.appraisal.skill.reveal
        return self.cost - self.appraisal.closing_cost(self._points(cell, card))

    def _points(self, cell: int, card: int) -> int:
        """The grid's points when nothing is hidden any more and that card lies in that cell."""
        grid = self.grid[:cell] + bytes([card]) + self.grid[cell + 1 :]
        points = 0
        for column in range(COLUMNS):
            cells = grid[column::COLUMNS]
            if cells.count(cells[0]) < 3:
                points += sum([byte - OFFSET for byte in cells if byte != GONE])
        return points

    def _completes(self, cell: int, card: int) -> bool:
        column = self.grid[cell % COLUMNS :: COLUMNS]
        row = cell // COLUMNS
        return column[:row] + column[row + 1 :] == bytes([card, card])

    def _spite(self, gain: float, hidden: int) -> float:
        """After the close: points for the chance that the closer is doubled because of this seat."""
        skill, appraisal = self.appraisal.skill, self.appraisal
        if self.open or not skill.spite or appraisal.closer is None:
            return 0.0
        grid = appraisal.grids[appraisal.closer]
        target = sum([byte - OFFSET for byte in grid if byte < VALUES])
        if target <= 0:
            return 0.0
        chance = below(target + 0.5, self.cost - gain, hidden * appraisal.variance)
        return skill.spite * target * chance

    def gift(self, card: int) -> float:
        """What leaving that card on the discard pile costs: the next seat's gain from it."""
        if not self.appraisal.skill.deny:
            return 0.0
        known = self._gifts.get(card)
        if known is None:
            gains = [
                self.appraisal.gain(self.next_grid, cell, card)
                for cell in range(CELLS)
                if self.next_grid[cell] != GONE
            ]
            known = self._gifts[card] = self.appraisal.skill.deny * max(0.0, max(gains, default=0.0))
        return known

    def _mean_gift(self) -> float:
        if not self.appraisal.skill.deny:
            return 0.0
        return sum([share * self.gift(card) for card, share in enumerate(self.appraisal.chances)])
