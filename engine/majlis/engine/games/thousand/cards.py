"""Cards of Thousand and sets of them.

A card is suit * 6 + rank; a set of cards is a number whose bit i says that card i is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CARDS: Final = 24
SUITS: Final = "SCDH"
RANKS: Final = "9JQKTA"
PACK: Final = bytes(range(CARDS))
"""THO-2: the 24 cards."""
ALL: Final = (1 << CARDS) - 1

VALUES: Final = (0, 2, 3, 4, 10, 11)
"""THO-4: points by rank."""
MARRIAGES: Final = (40, 60, 80, 100)
"""THO-23: points by suit."""
POINTS: Final = tuple([VALUES[card % 6] for card in range(CARDS)])
SUIT_OF: Final = tuple([card // 6 for card in range(CARDS)])
BIT: Final = tuple([1 << card for card in range(CARDS)])
ONE: Final = tuple([bytes([card]) for card in range(CARDS)])
"""One card as bytes."""

SUIT_SETS: Final = tuple([0b111111 << 6 * suit for suit in range(4)])
ABOVE: Final = tuple([SUIT_SETS[SUIT_OF[card]] & ~((2 << card) - 1) for card in range(CARDS)])
"""The higher cards of a card's suit (THO-5)."""
PAIRS: Final = tuple([0b001100 << 6 * suit for suit in range(4)])
"""Queen and king of each suit."""
NINES: Final = sum(1 << 6 * suit for suit in range(4))
PARTNER: Final = tuple([{2: card + 1, 3: card - 1}.get(card % 6) for card in range(CARDS)])
"""The other card of the pair that a queen or king belongs to."""

_SET_POINTS: Final = tuple([sum(VALUES[rank] for rank in range(6) if low >> rank & 1) for low in range(64)])
_SUIT_CARDS: Final = tuple(
    [
        tuple([bytes([6 * suit + rank for rank in range(6) if low >> rank & 1]) for low in range(64)])
        for suit in range(4)
    ]
)
_LOWEST: Final = sorted(range(CARDS), key=lambda card: (card % 6, card // 6))
"""From the weakest rank up, then spades, clubs, diamonds, hearts (THO-O22)."""


def set_points(cards: int) -> int:
    """The card points in a set (THO-4)."""
    return (
        _SET_POINTS[cards & 63]
        + _SET_POINTS[cards >> 6 & 63]
        + _SET_POINTS[cards >> 12 & 63]
        + _SET_POINTS[cards >> 18]
    )


def cards_of(cards: int) -> bytes:
    """The cards of a set, in rising order."""
    spades, clubs, diamonds, hearts = _SUIT_CARDS
    return spades[cards & 63] + clubs[cards >> 6 & 63] + diamonds[cards >> 12 & 63] + hearts[cards >> 18]


def set_of(cards: Iterable[int]) -> int:
    """The set of these cards."""
    found = 0
    for card in cards:
        found |= BIT[card]
    return found


def pairs_in(cards: int) -> int:
    """The queens and kings of the complete pairs in a set."""
    kings = cards & cards << 1 & 0b001000_001000_001000_001000
    return kings | kings >> 1


def marriage_points(cards: int) -> int:
    """What the marriages held in a set are worth (THO-10, THO-15, THO-23)."""
    return sum([MARRIAGES[suit] for suit in range(4) if cards & PAIRS[suit] == PAIRS[suit]])


def lowest(cards: int) -> int:
    """The lowest card of a set that is not empty (THO-O22)."""
    return next(card for card in _LOWEST if cards >> card & 1)


def card_name(card: int) -> str:
    """9S to AH; T = ten."""
    return RANKS[card % 6] + SUITS[card // 6]


def names(cards: Iterable[int]) -> str:
    """Cards as text, in their order."""
    return " ".join([card_name(card) for card in cards]) or "none"
