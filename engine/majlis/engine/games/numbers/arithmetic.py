"""Calculations: what they make, which are minimal, and how a set of numbers makes a result (NUM-12 to NUM-17).

A multiset of numbers is packed: four bits for how often each number occurs, 1 in the lowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Final, NamedTuple

from majlis.engine.games.numbers.minimal import MINIMAL

PLUS: Final = 0
MINUS: Final = 1
TIMES: Final = 2
DIVIDED: Final = 3
SIGNS: Final = "+-*/"
ALLOWED: Final = {
    "all": bytes([PLUS, MINUS, TIMES, DIVIDED]),
    "add_subtract_multiply": bytes([PLUS, MINUS, TIMES]),
    "add_subtract": bytes([PLUS, MINUS]),
}
"""NUM-13, NUM-21."""
GUARD: Final = 0x8888888888
"""The highest bit of each number's four: a number occurs four times at most."""
ONES: Final = 0x1111111111
LONGEST: Final = 8
"""No minimal calculation has more cards."""


class Expression(NamedTuple):
    """Numbers in their order, and the operations between them."""

    numbers: tuple[int, ...]
    operations: bytes


def unit(number: int) -> int:
    """One occurrence of the number, packed."""
    return 1 << 4 * (number - 1)


def packed(numbers: Iterable[int]) -> int:
    """The multiset of these numbers, each at most seven times."""
    return sum([1 << 4 * (number - 1) for number in numbers])


def unpacked(multiset: int) -> tuple[int, ...]:
    """The numbers in rising order."""
    return tuple([n for n in range(1, 11) for _ in range(multiset >> 4 * (n - 1) & 15)])


def holds(held: int, wanted: int) -> bool:
    """Whether the first multiset contains the second."""
    return ((held | GUARD) - wanted) & GUARD == GUARD


def support(multiset: int) -> int:
    """Which numbers occur: the lowest of each number's four bits."""
    return (multiset | multiset >> 1 | multiset >> 2) & ONES


@lru_cache(64)
def minimal(operations: str, result: int) -> frozenset[int]:
    """The multisets that make this result and of which no part does."""
    texts = MINIMAL[operations][result - 1].split()
    return frozenset([packed([int(digit) or 10 for digit in text]) for text in texts])


@lru_cache(64)
def _by_size(operations: str, result: int) -> tuple[tuple[int, int], ...]:
    """The minimal multisets, the smallest first, each with its support."""
    found = sorted(minimal(operations, result), key=lambda each: (len(unpacked(each)), unpacked(each)))
    return tuple([(each, support(each)) for each in found])


@lru_cache(1 << 15)
def within(operations: str, result: int, numbers: int) -> tuple[int, ...]:
    """Those made of these numbers alone (a support); the smallest first."""
    others = ~numbers
    return tuple([each for each, mine in _by_size(operations, result) if not mine & others])


def possible(operations: str, result: int, held: int) -> list[int]:
    """The minimal calculations that the held numbers are enough for; the smallest first."""
    guarded = held | GUARD
    return [each for each in within(operations, result, support(held)) if (guarded - each) & GUARD == GUARD]


def is_minimal(operations: str, result: int, numbers: Sequence[int]) -> bool:
    """NUM-17, NUM-18: one look at the table, whatever the number of cards."""
    return len(numbers) <= LONGEST and packed(numbers) in minimal(operations, result)


def value(numbers: Sequence[int], operations: bytes) -> Fraction:
    """NUM-14: strictly from left to right. A divisor is a card, so never zero."""
    result = Fraction(numbers[0])
    for number, operation in zip(numbers[1:], operations, strict=True):
        if operation == PLUS:
            result += number
        elif operation == MINUS:
            result -= number
        elif operation == TIMES:
            result *= number
        else:
            result /= number
    return result


Ratio = tuple[int, int]
"""Numerator and denominator: a value on the way."""


def _ratio(over: int, under: int) -> Ratio:
    shared = gcd(over, under)
    return (over // shared, under // shared)


def _after(ratio: Ratio, operation: int, number: int) -> Ratio:
    over, under = ratio
    if operation == PLUS:
        return (over + number * under, under)
    if operation == MINUS:
        return (over - number * under, under)
    return _ratio(over * number, under) if operation == TIMES else _ratio(over, under * number)


_INVERSE: Final = (MINUS, PLUS, DIVIDED, TIMES)
_SOLVED: Final = 4
"""So many numbers at the end of an order are looked up instead of tried."""


@lru_cache(1 << 12)
def _origins(multiset: int, result: int, allowed: bytes) -> frozenset[Ratio]:
    """The values from which these numbers, in some order, lead to the result."""
    if not multiset:
        return frozenset([(result, 1)])
    found = set()
    for number in set(unpacked(multiset)):
        for ratio in _origins(multiset - unit(number), result, allowed):
            found.update([_after(ratio, _INVERSE[operation], number) for operation in allowed])
    return frozenset(found)


def _first_order(
    done: tuple[int, ...], values: set[Ratio], rest: tuple[int, ...], result: int, allowed: bytes
) -> tuple[int, ...] | None:
    """The first order that begins with what is done, the rest compared by its places."""
    if done and len(rest) <= _SOLVED and values.isdisjoint(_origins(packed(rest), result, allowed)):
        return None
    if not rest:
        return done
    for place, number in enumerate(rest):
        if number in rest[:place]:
            continue
        after = {_after(ratio, operation, number) for ratio in values for operation in allowed}
        found = _first_order(
            (*done, number), after or {(number, 1)}, rest[:place] + rest[place + 1 :], result, allowed
        )
        if found is not None:
            return found
    return None


@lru_cache(1 << 14)
def first_in_order(numbers: tuple[int, ...], result: int, operations: str) -> Expression:
    """The first order of the numbers, and its first operations, that make the result (NUM-O9).

    Orders are compared by the places of the numbers in the sequence given. Raises ValueError where none does.
    """
    allowed = ALLOWED[operations]
    order = _first_order((), set(), numbers, result, allowed)
    if order is None:
        raise ValueError(f"{numbers} do not make {result}")
    reached: dict[Ratio, bytes] = {(order[0], 1): b""}
    for number in order[1:]:
        found: dict[Ratio, bytes] = {}
        for ratio, done in reached.items():
            for operation in allowed:
                found.setdefault(_after(ratio, operation, number), done + bytes([operation]))
        reached = found
    return Expression(order, reached[(result, 1)])


@lru_cache(1 << 14)
def endings(multiset: int, result: int, operations: str) -> tuple[Expression, ...]:
    """For each number that can be put down last, one way to make the result."""
    found = []
    for last in sorted(set(unpacked(multiset))):
        expression = _ending_with(last, multiset, result, ALLOWED[operations])
        if expression is not None:
            found.append(expression)
    return tuple(found)


def _ending_with(last: int, multiset: int, result: int, allowed: bytes) -> Expression | None:
    rest = multiset - unit(last)
    for operation in allowed:
        needed = _before(result, operation, last)
        if needed is None:
            continue
        reached = _reach(rest, needed, allowed)
        if reached is not None:
            return Expression((*reached.numbers, last), reached.operations + bytes([operation]))
    return None


def _before(result: int, operation: int, number: int) -> int | None:
    """The whole number from which the operation leads to the result. Fractions decide nothing (RULES §2.C)."""
    if operation == PLUS:
        return result - number
    if operation == MINUS:
        return result + number
    if operation == DIVIDED:
        return result * number
    return result // number if result % number == 0 else None


@lru_cache(1 << 16)
def _reach(multiset: int, result: int, allowed: bytes) -> Expression | None:
    """Some order and operations of exactly these numbers with that result."""
    numbers = unpacked(multiset)
    if len(numbers) == 1:
        return Expression(numbers, b"") if numbers[0] == result else None
    for last in dict.fromkeys(numbers):
        found = _ending_with(last, multiset, result, allowed)
        if found is not None:
            return found
    return None


def smallest_sets(numbers: Sequence[int], result: int, operations: str) -> tuple[tuple[int, ...], ...]:
    """The places of the smallest sets that make the result, the first put down first (NUM-O9)."""
    held: dict[int, list[int]] = {}
    for place, number in enumerate(numbers):
        if len(held.setdefault(number, [])) < 4:
            held[number].append(place)
    enough = possible(operations, result, packed([n for n, places in held.items() for _ in places]))
    if not enough:
        return ()
    size = len(unpacked(enough[0]))
    chosen = []
    for each in enough:
        wanted = unpacked(each)
        if len(wanted) == size:
            places = [place for n in dict.fromkeys(wanted) for place in held[n][: wanted.count(n)]]
            chosen.append(tuple(sorted(places)))
    return tuple(sorted(chosen))
