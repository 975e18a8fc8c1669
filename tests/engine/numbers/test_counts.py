"""Counts from outside: the minimal calculations, counted again by a search that shares nothing with the engine.

RULES §2.C: 1063 pairs of a multiset of numbers and a result, 84/396/399/126/39/17/2 of them with 2 to 8 cards. The search below works on
sorted tuples and exact fractions: it tries every order and every operation of every multiset of which no part makes the result.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import pytest

from majlis.engine.games.numbers.arithmetic import SIGNS, endings, is_minimal, minimal, unpacked, value

SIZES = {2: 84, 3: 396, 4: 399, 5: 126, 6: 39, 7: 17, 8: 2}
SMALL = 4
"""Sizes up to here are searched with fractions; the larger ones with whole numbers, which find the same (RULES §2.C)."""


@cache
def reachable(cards: tuple[int, ...]) -> frozenset[Fraction]:
    """All results of these cards, in any order, from left to right."""
    if len(cards) == 1:
        return frozenset([Fraction(cards[0])])
    found = set()
    for place, card in enumerate(cards):
        for before in reachable(cards[:place] + cards[place + 1 :]):
            found |= {before + card, before - card, before * card, before / card}
    return frozenset(found)


def parts(cards: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {cards[:place] + cards[place + 1 :] for place in range(len(cards))}


@pytest.mark.parametrize("size", [2, 3, SMALL])
def test_num_17_the_table_holds_exactly_the_minimal_calculations(size: int) -> None:
    counted = 0
    for result in range(1, 11):
        for cards in combinations_with_replacement([n for n in range(1, 11) if n != result], size):
            if max(map(cards.count, cards)) > 4:
                continue
            wanted = result in reachable(cards) and not makes_with_less(cards, result)
            counted += wanted
            assert is_minimal("all", result, cards) == wanted
    assert counted == SIZES[size]


@cache
def makes_with_less(cards: tuple[int, ...], result: int) -> bool:
    return any(
        (len(part) > 1 and result in reachable(part)) or makes_with_less(part, result)
        for part in parts(cards)
        if len(part) > 1
    )


def test_num_17_the_table_has_the_sizes_of_the_rules() -> None:
    sizes = [len(unpacked(each)) for result in range(1, 11) for each in minimal("all", result)]
    assert len(sizes) == 1063
    assert {size: sizes.count(size) for size in set(sizes)} == SIZES


def test_num_48_the_two_longest_calculations() -> None:
    longest = [
        (unpacked(each), result)
        for result in range(1, 11)
        for each in minimal("all", result)
        if len(unpacked(each)) == 8
    ]
    assert sorted(longest) == [((1, 9, 9, 9, 9, 10, 10, 10), 5), ((9, 9, 9, 9, 10, 10, 10, 10), 5)]


@pytest.mark.parametrize("operations", ["all", "add_subtract_multiply", "add_subtract"])
def test_num_21_every_entry_is_a_calculation_with_the_operations_allowed(operations: str) -> None:
    signs = {"all": "+-*/", "add_subtract_multiply": "+-*", "add_subtract": "+-"}[operations]
    for result in range(1, 11):
        for each in minimal(operations, result):
            ways = endings(each, result, operations)
            assert ways
            for way in ways:
                assert tuple(sorted(way.numbers)) == unpacked(each)
                assert value(way.numbers, way.operations) == result
                assert {SIGNS[operation] for operation in way.operations} <= set(signs)


@pytest.mark.parametrize("operations", ["add_subtract_multiply", "add_subtract"])
def test_num_21_the_smaller_tables_hold_exactly_the_minimal_calculations(operations: str) -> None:
    for result in range(1, 11):
        for size in (2, 3, 4):
            for cards in combinations_with_replacement([n for n in range(1, 11) if n != result], size):
                if max(map(cards.count, cards)) <= 4:
                    wanted = makes(cards, result, operations) and not any(
                        smaller(part, result, operations) for part in parts(cards)
                    )
                    assert is_minimal(operations, result, cards) == wanted


@cache
def smaller(cards: tuple[int, ...], result: int, operations: str) -> bool:
    if len(cards) < 2:
        return False
    return makes(cards, result, operations) or any(smaller(part, result, operations) for part in parts(cards))


def makes(cards: tuple[int, ...], result: int, operations: str) -> bool:
    return result in whole(cards, operations)


@cache
def whole(cards: tuple[int, ...], operations: str) -> frozenset[int]:
    if len(cards) == 1:
        return frozenset(cards)
    found = set()
    for place, card in enumerate(cards):
        for before in whole(cards[:place] + cards[place + 1 :], operations):
            found |= {before + card, before - card}
            if operations == "add_subtract_multiply":
                found.add(before * card)
    return frozenset(found)


def test_num_17_many_cards_are_judged_by_one_look() -> None:
    assert not is_minimal("all", 3, [1] * 40)
