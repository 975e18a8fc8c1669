"""Which two cards a declarer gives away by rule of thumb: pointless ones of short suits, never of a pair (THO-37)."""

from __future__ import annotations

from majlis.engine.games.thousand.cards import POINTS, SUIT_OF, SUIT_SETS, pairs_in

_GUARD = 7


def keeping(card: int, hand: int) -> int:
    """What the card is worth to its holder: the least is given first."""
    suit = hand & SUIT_SETS[SUIT_OF[card]]
    length, rank = suit.bit_count(), card % 6
    if pairs_in(hand) >> card & 1:
        return 100 + POINTS[card]
    if rank == 5:
        return 60 + length
    if rank == 4:
        has_ace = suit >> (card + 1) & 1
        return 40 + length if has_ace else 14 + 4 * length
    has_top = suit.bit_length() - 1 > card and suit.bit_length() % 6 == 0
    return 2 * POINTS[card] + (_GUARD if has_top else 0) + 2 * length


def order(hand: int) -> list[int]:
    """The cards of the hand, the first to be given first."""
    cards = [card for card in range(24) if hand >> card & 1]
    return sorted(cards, key=lambda card: keeping(card, hand))


def two_gifts(hand: int) -> tuple[int, int]:
    """Two cards to give: the second with the first away."""
    first = min([card for card in range(24) if hand >> card & 1], key=lambda card: keeping(card, hand))
    left = hand ^ 1 << first
    second = min([card for card in range(24) if left >> card & 1], key=lambda card: keeping(card, left))
    return first, second
