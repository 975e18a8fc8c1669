"""How a card is chosen by rule of thumb (RULES THO-37): for club players, and for everybody when a deal is played out in thought.

`one` and `two` are the other hands as far as they are known: exactly in thought; otherwise both are all unseen cards.
"""

from __future__ import annotations

from typing import Final

from majlis.engine.games.thousand.cards import ABOVE, CARDS, POINTS, SUIT_OF, SUIT_SETS, pairs_in

_FIVE_OF_SIX: Final = 32
_BIT_OF_TEN: Final = 16
_ACES: Final = tuple([_FIVE_OF_SIX << 6 * suit for suit in range(4)])
_TENS: Final = tuple([_BIT_OF_TEN << 6 * suit for suit in range(4)])
_KINGS: Final = sum(8 << 6 * suit for suit in range(4))
_SUITED: Final = tuple(enumerate(SUIT_SETS))
TAKING: Final = tuple([(0, 2, 3, 4, 5, 1)[card % 6] for card in range(CARDS)])
"""In which order a trick is best taken by its last player: the ten while it is safe, the ace where nothing else does."""


def lead(hand: int, one: int, two: int, trump: int, *, declares: bool) -> int:
    """The card to begin a trick with: a marriage, else a sure trick, else something cheap."""
    out = one | two
    if declares:
        kings = hand & hand << 1 & _KINGS
        if kings:
            king = kings.bit_length() - 1
            return king - 1 if out & ABOVE[king] else king
    best, most = -1, -1
    trumps = SUIT_SETS[trump] if trump >= 0 else 0
    for suit, cards in _SUITED:
        mine, theirs = hand & cards, out & cards
        if mine <= theirs:
            continue
        value = POINTS[mine.bit_length() - 1]
        if suit == trump:
            value += 6 if theirs else 0
        elif trumps and ((one & trumps and not one & cards) or (two & trumps and not two & cards)):
            continue  # would be trumped
        if value > most:
            best, most = mine.bit_length() - 1, value
    return best if best >= 0 else cheap_lead(hand, declares=declares)


def cheap_lead(hand: int, *, declares: bool) -> int:
    """Something that costs little: low, from a long suit, not from a pair or a ten that needs cover."""
    keep = 0 if declares else pairs_in(hand)
    best, least = -1, 1000
    for suit, cards in _SUITED:
        mine = hand & cards & ~keep
        if not mine:
            continue
        low = (mine & -mine).bit_length() - 1
        cost = 3 * POINTS[low] - 2 * mine.bit_count()
        if hand & _TENS[suit] and not hand & _ACES[suit]:
            cost += 4
        if cost < least:
            best, least = low, cost
    return best if best >= 0 else (hand & -hand).bit_length() - 1


def beats(card: int, best: int, trump: int) -> bool:
    """Whether the card takes the trick from the best one so far."""
    if SUIT_OF[card] == SUIT_OF[best]:
        return card > best
    return SUIT_OF[card] == trump


def can_beat(hand: int, card: int, led: int, trump: int) -> bool:
    """Whether some card that the hand could add to the trick would take it from this one."""
    suit = SUIT_OF[card]
    if hand & SUIT_SETS[led]:
        return bool(hand & ABOVE[card]) if suit == led else False
    if trump < 0:
        return False
    return bool(hand & ABOVE[card]) if suit == trump else bool(hand & SUIT_SETS[trump])


def lowest_of(cards: int, keep: int) -> int:
    """The cheapest card, one of a pair only where nothing cheap is left."""
    best, least = -1, 1000
    for suit, each in _SUITED:
        mine = cards & each
        if not mine:
            continue
        low = (mine & -mine).bit_length() - 1
        cost = 2 * POINTS[low]
        if keep and keep >> low & 1:
            cost += 12 + 2 * suit
        if cost < least:
            best, least = low, cost
    return best


def dearest_of(cards: int) -> int:
    """The card with most points."""
    best, most = -1, -1
    for _, each in _SUITED:
        mine = cards & each
        if mine and POINTS[mine.bit_length() - 1] > most:
            best = mine.bit_length() - 1
            most = POINTS[best]
    return best


def follow_with(
    legal: int, hand: int, best: int, led: int, trump: int, after: int, *, with_partner: bool
) -> int:
    """The card to add. `after`: the hand that plays after this one, 0 when none does; `with_partner`: the best card is the
    other defender's. By the rules either all legal cards take the trick, or none does.
    """
    if legal & (legal - 1) == 0:
        return legal.bit_length() - 1
    some = (legal & -legal).bit_length() - 1
    if not beats(some, best, trump):
        if with_partner and not (after and can_beat(after, best, led, trump)):
            return dearest_of(legal)
        return lowest_of(legal, pairs_in(hand))
    top = legal.bit_length() - 1
    if not after or not can_beat(after, some, led, trump):
        return _take(legal, pairs_in(hand), is_trump=SUIT_OF[some] == trump)
    return some if can_beat(after, top, led, trump) else top


def _take(legal: int, keep: int, *, is_trump: bool) -> int:
    """The card of one suit with which the trick is taken for good."""
    free = legal & ~keep or legal
    if is_trump:
        return (free & -free).bit_length() - 1
    best = -1
    while free:
        card = free.bit_length() - 1
        free ^= 1 << card
        if best < 0 or TAKING[card] > TAKING[best]:
            best = card
    return best
