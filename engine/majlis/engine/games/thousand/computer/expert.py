"""The strong player: every choice is tried out on arrangements of the unseen cards that agree with what the seat knows."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.thousand.cards import MARRIAGES, PAIRS, SUIT_OF, cards_of
from majlis.engine.games.thousand.computer.exchange import order, two_gifts
from majlis.engine.games.thousand.computer.layouts import Layouts
from majlis.engine.games.thousand.computer.playout import finish_trick, play_out
from majlis.engine.games.thousand.computer.reading import Knowledge
from majlis.engine.games.thousand.computer.utility import MATCH, RIVAL, worth
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.scoring import barrel
from majlis.engine.games.thousand.state import LEFT
from majlis.engine.shuffle import Stream

BID_LAYOUTS: Final = 40
GIFT_LAYOUTS: Final = 24
GIFT_CARDS: Final = 5
"""Gifts that are tried out: the likeliest by rule of thumb."""
CONTRACT_LAYOUTS: Final = 80
PLAY_LAYOUTS: Final = 36

DEFENDING: Final = 40.0
"""What it brings to pass, who is not on the barrel: points of a defender, and the declarer's risk."""
RIVAL_MAKES: Final = 0.6
"""The chance of a rival's contract."""


def chances(totals: list[int], amount: int) -> float:
    """The share of the totals that reach the amount."""
    return sum(total >= amount for total in totals) / len(totals)


class Expert:
    """One decision of a strong player."""

    def __init__(self, knowledge: Knowledge, options: Options, stream: Stream) -> None:
        self.knowledge = knowledge
        self.options = options
        self.layouts = Layouts(knowledge, stream)
        self.seat = knowledge.seat
        self.scores = knowledge.view.scores

    def bids(self, amount: int) -> bool:
        """Whether to bid so much: by the chance to make it with the talon, the gifts by rule of thumb."""
        totals = []
        for _ in range(BID_LAYOUTS):
            hands, talon = self.layouts.draw()
            totals.append(self._as_declarer(hands, hands[self.seat] | talon))
        return self._brings(amount, chances(totals, amount)) >= self._passing_brings()

    def _brings(self, amount: int, chance: float) -> float:
        """What a contract brings on average, the match included where it would be won."""
        wins = self.scores[self.seat] + amount >= self.options.target
        return amount * (2 * chance - 1) + (MATCH * chance if wins else 0.0)

    def _passing_brings(self) -> float:
        """What it brings to leave the deal to who has bid most."""
        view = self.knowledge.view
        brings = 0.0 if self.scores[self.seat] >= barrel(self.options) else DEFENDING
        bids = [each.bid or 0 for each in view.seats]
        rival = bids.index(max(bids))
        if self.scores[rival] + bids[rival] >= self.options.target:
            brings -= RIVAL * MATCH * RIVAL_MAKES
        return brings

    def _as_declarer(self, hands: list[int], ten: int) -> int:
        first, second = two_gifts(ten)
        left, right = LEFT[self.seat], LEFT[LEFT[self.seat]]
        hands[self.seat] = ten & ~(1 << first) & ~(1 << second)
        hands[left] |= 1 << first
        hands[right] |= 1 << second
        return play_out(hands, [0, 0, 0], self.seat, self.seat, -1, declares=False)[self.seat]

    def gift(self, receiver: int, *, is_first: bool) -> int:
        """The card to give now; before the first gift the second is chosen by rule of thumb."""
        hand = self.knowledge.hand
        drawn = [self.layouts.draw()[0] for _ in range(GIFT_LAYOUTS)]
        best, most = -1, -1e9
        for card in order(hand)[:GIFT_CARDS]:
            left = hand & ~(1 << card)
            totals = []
            for hands in drawn:
                after = list(hands)
                after[receiver] |= 1 << card
                own = left
                if is_first:
                    second = order(left)[0]
                    own &= ~(1 << second)
                    after[LEFT[receiver]] |= 1 << second
                after[self.seat] = own
                totals.append(play_out(after, [0, 0, 0], self.seat, self.seat, -1, declares=False)[self.seat])
            value = self._best_contract(totals)[1] + 0.1 * sum(totals) / len(totals)
            if value > most:
                best, most = card, value
        return best

    def contract(self, least: int, most: int, step: int) -> int:
        """The contract that brings most on average."""
        totals = []
        for _ in range(CONTRACT_LAYOUTS):
            hands, _talon = self.layouts.draw()
            totals.append(play_out(hands, [0, 0, 0], self.seat, self.seat, -1, declares=False)[self.seat])
        return self._best_contract(totals, least, most, step)[0]

    def _best_contract(
        self, totals: list[int], least: int = 0, most: int = 400, step: int = 10
    ) -> tuple[int, float]:
        least = least or self.knowledge.view.bid or 100
        best, value = least, -1e9
        for amount in range(least, most + 1, step):
            chance = chances(totals, amount)
            brings = self._brings(amount, chance)
            if brings > value:
                best, value = amount, brings
            if chance == 0:
                break
        return best, value

    def play(self) -> int:
        """The card with the best average end of the deal."""
        legal = cards_of(self._legal())
        if len(legal) == 1:
            return legal[0]
        drawn = [self.layouts.draw()[0] for _ in range(PLAY_LAYOUTS)]
        return max(legal, key=lambda card: sum([self._value(card, hands) for hands in drawn]))

    def _legal(self) -> int:
        legal = 0
        for card in self.knowledge.may.may_play:
            legal |= 1 << card
        return legal

    def _value(self, card: int, drawn: list[int]) -> float:
        knowledge, seat, view = self.knowledge, self.seat, self.knowledge.view
        declarer, contract = view.declarer or 0, view.contract or 0
        hands, points = list(drawn), list(knowledge.points)
        trump, trick = knowledge.trump, knowledge.trick
        leader = view.leader if trick and view.leader is not None else seat
        if not trick and knowledge.declares:
            pair = PAIRS[SUIT_OF[card]]
            if hands[seat] & pair == pair and pair >> card & 1:
                trump = SUIT_OF[card]
                points[seat] += MARRIAGES[trump]
        hands[seat] &= ~(1 << card)
        taker, won = finish_trick(hands, [*trick, card], leader, trump, declarer)
        points[taker] += won
        totals = play_out(hands, points, declarer, taker, trump, declares=True)
        return worth(self.options, self.scores, totals, declarer, contract, seat)
