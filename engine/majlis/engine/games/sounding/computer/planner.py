"""The players of level club and expert: each move is appraised, the best is made."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.sounding.computer.appraisal import GONE, HIDDEN, VALUES, Appraisal, Skill, below
from majlis.engine.games.sounding.state import CELLS, COLUMNS, OFFSET, ONE

Scored = tuple[float, str, int]
"""Points, kind of move, cell."""

CLUB: Final = Skill(counts=False, closing=2.0, reveal=0.5, deny=0.0, spite=0.0)
EXPERT: Final = Skill(counts=True, closing=0.0, reveal=0.5, deny=0.5, spite=0.3)

NEVER: Final = -1000.0


def cells_of(mask: int) -> list[int]:
    """The cells of a set of bits."""
    return [cell for cell in range(CELLS) if mask >> cell & 1]


class Planner:
    """Points of each move of one seat at one decision: what it saves compared with doing nothing."""

    def __init__(self, appraisal: Appraisal, next_seat: int) -> None:
        self.appraisal = appraisal
        self.skill = appraisal.skill
        self.grid = appraisal.grid
        self.cost = appraisal.grid_cost(self.grid)
        self.hidden = self.grid.count(HIDDEN)
        self.table = [self._points_in(cell) for cell in range(CELLS)]
        self._gifts = self._all_gifts(appraisal.grids[next_seat])
        self._mean_gift = self._mean(self._gifts)

    def placing(self, card: int, cells: list[int]) -> list[Scored]:
        """Placing that card in each of the cells."""
        return [(self.table[cell][card] - self._left(cell, card), "place", cell) for cell in cells]

    def flipping(self, cells: list[int]) -> list[Scored]:
        """Turning over each of the cells, whatever lies there."""
        return [(self._mean(self.table[cell]), "flip", cell) for cell in cells]

    def drawing(self, places: list[int], flips: list[Scored]) -> float:
        """Drawing: the best use of each card that may come."""
        flip = max(flips)[0] if flips else NEVER
        best = []
        for card in range(VALUES):
            place = max([self.table[cell][card] - self._left(cell, card) for cell in places], default=NEVER)
            best.append(max(place, flip - self._gifts[card]))
        return self._mean(best)

    def gift(self, card: int) -> float:
        """What leaving that card on the discard pile costs: the next seat's gain from it."""
        return self._gifts[card]

    def _mean(self, by_card: list[float]) -> float:
        """The expectation over the card that may come."""
        return sum([share * points for share, points in zip(self.appraisal.chances, by_card, strict=True)])

    def _left(self, cell: int, card: int) -> float:
        """What the card costs that a placement leaves on the discard pile."""
        there = self.grid[cell]
        if there == HIDDEN:
            return self._mean_gift
        return self._gifts[there] if there < VALUES else 0.0

    def _points_in(self, cell: int) -> list[float]:
        """Points saved when each of the 15 cards lies face up in that cell."""
        gains = self.appraisal.gains(self.grid, cell)
        there = self.grid[cell]
        if self.appraisal.closer is not None:
            hidden = self.hidden - (there == HIDDEN)
            return [gain + self._spite(gain, hidden) for gain in gains]
        if there != HIDDEN:
            return gains
        if self.hidden > 1:
            return [gain + self.skill.reveal for gain in gains]
        cost = self.appraisal.closing_cost
        return [self.cost - cost(self._points_with(cell, card)) for card in range(VALUES)]

    def _points_with(self, cell: int, card: int) -> int:
        """The grid's points when nothing is hidden any more and that card lies in that cell."""
        grid = self.grid[:cell] + ONE[card] + self.grid[cell + 1 :]
        points = 0
        for column in range(COLUMNS):
            cells = grid[column::COLUMNS]
            if cells.count(cells[0]) < 3:
                points += sum([byte - OFFSET for byte in cells if byte != GONE])
        return points

    def _spite(self, gain: float, hidden: int) -> float:
        """After the close: points for the chance that the closer is doubled because of this seat."""
        appraisal = self.appraisal
        if not self.skill.spite or appraisal.closer is None:
            return 0.0
        grid = appraisal.grids[appraisal.closer]
        target = sum([byte - OFFSET for byte in grid if byte < VALUES])
        if target <= 0:
            return 0.0
        chance = below(target + 0.5, self.cost - gain, hidden * appraisal.variance)
        return self.skill.spite * target * chance

    def _all_gifts(self, grid: bytes) -> list[float]:
        if not self.skill.deny:
            return [0.0] * VALUES
        gains = [self.appraisal.gains(grid, cell) for cell in range(CELLS) if grid[cell] != GONE]
        best = [max(of_card, default=0.0) for of_card in zip(*gains, strict=True)] or [0.0] * VALUES
        return [self.skill.deny * max(0.0, points) for points in best]
