"""The club player: quick estimates for bid and contract, rules of thumb and a count of the cards in play."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.thousand.cards import MARRIAGES, PAIRS, SUIT_OF, SUIT_SETS, set_of
from majlis.engine.games.thousand.computer.exchange import order
from majlis.engine.games.thousand.computer.playing import follow_with, lead
from majlis.engine.games.thousand.computer.playout import best_card
from majlis.engine.games.thousand.computer.reading import Knowledge
from majlis.engine.games.thousand.state import LEFT

BID_AT_LEAST: Final = 35
BID_SHARE: Final = 0.75
"""A hand is bid up to this many points and this share of its estimate: what six hands in ten collect with talon and gifts."""
MARGIN: Final = 25
"""How much the estimate must lie above a contract."""


def estimate(hand: int) -> float:
    """The points that the hand may collect as declarer."""
    points = 0.0
    aces = 0
    for cards in SUIT_SETS:
        suit = hand & cards
        if not suit:
            continue
        length, low = suit.bit_count(), suit >> cards.bit_length() - 6
        if low & 32:
            aces += 1
            points += 17 + (14 if low & 16 else 0) + 3 * (length - 1)
        elif low & 16:
            points += 7 if length > 1 else 2
        elif length > 2:
            points += 3 * (length - 2)
    married = [MARRIAGES[suit] for suit in range(4) if hand & PAIRS[suit] == PAIRS[suit]]
    if married:
        points += sum(married) * (0.95 if aces > 1 else 0.85 if aces else 0.5) + 12
    return points


def limit(hand: int) -> int:
    """The highest bid."""
    return int((BID_AT_LEAST + BID_SHARE * estimate(hand)) // 10 * 10)


def contract(hand: int) -> int:
    """The contract, where the bid and the limit allow it."""
    return int((estimate(hand) - MARGIN) // 10 * 10)


def gift(hand: int) -> int:
    """See `exchange`."""
    return order(hand)[0]


def play(knowledge: Knowledge) -> int:
    """By rule of thumb, with every unseen card where it may be."""
    legal, trump, trick, seat = (
        set_of(knowledge.may.may_play),
        knowledge.trump,
        knowledge.trick,
        knowledge.seat,
    )
    second = LEFT[seat]
    maybe = [knowledge.unseen & ~excluded for excluded in knowledge.excluded]
    if not trick:
        card = lead(knowledge.hand, maybe[second], maybe[LEFT[second]], trump, declares=knowledge.declares)
        return card if legal >> card & 1 else order(legal)[0]
    best = best_card(trick, trump)
    leader = knowledge.view.leader or 0
    best_seat = (leader + trick.index(best)) % 3
    friendly = knowledge.view.declarer not in (seat, best_seat)
    after = maybe[second] if len(trick) == 1 else 0
    return follow_with(legal, knowledge.hand, best, SUIT_OF[trick[0]], trump, after, with_partner=friendly)
