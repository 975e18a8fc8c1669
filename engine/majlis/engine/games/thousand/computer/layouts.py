"""Arrangements of the unseen cards that agree with everything a seat knows."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.thousand.cards import cards_of, marriage_points, set_of
from majlis.engine.games.thousand.computer.reading import Knowledge
from majlis.engine.games.thousand.state import LEFT
from majlis.engine.shuffle import Stream

TRIES: Final = 4
"""How often an arrangement is drawn anew that contradicts a bid: marriages behind bids above 120 are no certainty."""


class Layouts:
    """Draws arrangements for one decision."""

    def __init__(self, knowledge: Knowledge, stream: Stream) -> None:
        self._knowledge = knowledge
        self._stream = stream
        self._others = (LEFT[knowledge.seat], LEFT[LEFT[knowledge.seat]])
        self._split()
        bids = [each.bid or 0 for each in knowledge.view.seats]
        self._promised = [(seat, bids[seat] - 120) for seat in self._others if bids[seat] > 120]

    def _split(self) -> None:
        knowledge = self._knowledge
        first, second = self._others
        free = knowledge.unseen & ~knowledge.known[first] & ~knowledge.known[second]
        only_second = free & knowledge.excluded[first] & ~knowledge.excluded[second]
        only_first = free & knowledge.excluded[second] & ~knowledge.excluded[first]
        self._first = knowledge.known[first] | only_first
        self._second = knowledge.known[second] | only_second
        sizes = knowledge.sizes
        if self._first.bit_count() > sizes[first] or self._second.bit_count() > sizes[second]:
            self._first = self._second = 0  # a guess about gifts was wrong
        self._free = cards_of(knowledge.unseen & ~self._first & ~self._second)
        self._need = sizes[first] - self._first.bit_count()
        self._rest = sizes[second] - self._second.bit_count()

    def draw(self) -> tuple[list[int], int]:
        """The three hands, and the talon while it is hidden."""
        hands, talon = self._draw()
        for _ in range(TRIES):
            if self._keeps_promises(hands):
                break
            hands, talon = self._draw()
        return hands, talon

    def _draw(self) -> tuple[list[int], int]:
        knowledge = self._knowledge
        first, second = self._others
        cards = self._stream.shuffle(self._free)
        hands = [0, 0, 0]
        hands[knowledge.seat] = knowledge.hand
        hands[first] = self._first | set_of(cards[: self._need])
        end = self._need + self._rest
        hands[second] = self._second | set_of(cards[self._need : end])
        return hands, set_of(cards[end:])

    def _keeps_promises(self, hands: list[int]) -> bool:
        """Whether those who bid beyond 120 hold, or held, marriages for it."""
        played = self._knowledge.played
        return all(marriage_points(hands[seat] | played[seat]) >= points for seat, points in self._promised)
