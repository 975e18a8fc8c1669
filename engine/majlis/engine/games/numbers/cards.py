"""The cards of Numbers: numbers 0 to 33 (see numbers.proto), what they are called, and which fit on which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NUMBERS: Final = 10
"""NUM-3: the numbers are 1 to 10."""
FIRST_PICTURE: Final = 10
CHANGE_NUMBER: Final = 30
CHANGE_PICTURE: Final = 31
CHANGE_ANY: Final = 32
AGAIN: Final = 33
CARDS: Final = 34
"""Different cards."""
JOKERS: Final = bytes([CHANGE_NUMBER, CHANGE_PICTURE, CHANGE_ANY, AGAIN])
CHANGERS: Final = JOKERS[:3]
JOKERS_OF: Final = {"beginner": 3, "intermediate": 2, "expert": 1}
"""NUM-2: of each kind, by level."""

PICTURES: Final = ("dra", "tur", "fish", "tenth", "bee", "hip", "chi", "duck", "cat", "bear")
"""NUM-4: pairs for the numbers n and n + 5. The source text never names the tenth animal (NUM-O30)."""
JOKER_NAMES: Final = ("JN", "JP", "JA", "JR")

SYMBOL_KIND: Final = 1
PICTURE_KIND: Final = 2


def _number(card: int) -> int:
    """1 to 10; 0 for a joker."""
    if card >= CHANGE_NUMBER:
        return 0
    return card + 1 if card < FIRST_PICTURE else (card - FIRST_PICTURE) // 2 + 1


def _picture(card: int) -> int:
    """0 to 9; -1 for a card without a picture."""
    if not FIRST_PICTURE <= card < CHANGE_NUMBER:
        return -1
    place = card - FIRST_PICTURE
    return place // 2 % 5 * 2 + place % 2


def _name(card: int) -> str:
    if card >= CHANGE_NUMBER:
        return JOKER_NAMES[card - CHANGE_NUMBER]
    return f"{_number(card)}{'s' if card < FIRST_PICTURE else PICTURES[_picture(card)]}"


NUMBER_OF: Final = tuple([_number(card) for card in range(CARDS)])
PICTURE_OF: Final = tuple([_picture(card) for card in range(CARDS)])
KIND_OF: Final = tuple([SYMBOL_KIND] * 10 + [PICTURE_KIND] * 20 + [0] * 4)
NAME_OF: Final = tuple([_name(card) for card in range(CARDS)])
CARD_OF: Final = {name: card for card, name in enumerate(NAME_OF)}
RIGHTS_OF: Final = {
    CHANGE_NUMBER: SYMBOL_KIND,
    CHANGE_PICTURE: PICTURE_KIND,
    CHANGE_ANY: SYMBOL_KIND | PICTURE_KIND,
}
"""Which kinds of card a joker can lie on, and which it allows (NUM-22 to NUM-24): the same for each."""


def is_compatible(card: int, target: int) -> bool:
    """NUM-11: the same number, or the same picture."""
    if card >= CHANGE_NUMBER:
        return False
    return NUMBER_OF[card] == NUMBER_OF[target] or PICTURE_OF[card] == PICTURE_OF[target] >= 0


SYMBOLS: Final = bytes(range(FIRST_PICTURE))
PICTURE_CARDS: Final = bytes(range(FIRST_PICTURE, CHANGE_NUMBER))
NUMBER_CARDS: Final = SYMBOLS + PICTURE_CARDS
ALL_CARDS: Final = bytes(range(CARDS))
FITTING: Final = tuple(
    [bytes([card for card in ALL_CARDS if is_compatible(card, target)]) for target in NUMBER_CARDS]
)
"""Target -> the cards that may be played on it alone."""
UNFITTING: Final = tuple([bytes([card for card in ALL_CARDS if card not in fit]) for fit in FITTING])
OF_KIND: Final = (b"", SYMBOLS, PICTURE_CARDS, NUMBER_CARDS)
"""Kinds, as rights -> their cards."""


def pack_of(level: str) -> bytes:
    """NUM-1 to NUM-4: 92, 88 or 84 cards in rising order."""
    return bytes(sorted(SYMBOLS * 4 + PICTURE_CARDS * 2 + JOKERS * JOKERS_OF[level]))


def names(cards: Iterable[int]) -> str:
    """Cards as text, in their order: `3s 3bee JN`; `none`."""
    return " ".join([NAME_OF[card] for card in cards]) or "none"


def without(hand: bytes, cards: Iterable[int]) -> bytes:
    """The hand less one copy of each of these cards."""
    for card in cards:
        place = hand.find(card)
        if place >= 0:
            hand = hand[:place] + hand[place + 1 :]
    return hand


def contains(hand: bytes, cards: bytes) -> bool:
    """Whether the hand holds a copy for each of these cards."""
    return all(cards.count(card) <= hand.count(card) for card in set(cards))


def top_place(ground: bytes) -> int:
    """Where the last number card lies on the ground; -1 where there is none."""
    place = len(ground) - 1
    while place >= 0 and ground[place] >= CHANGE_NUMBER:
        place -= 1
    return place
