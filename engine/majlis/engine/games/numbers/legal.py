"""What a seat may do now: the plays without a fault, and the test that each command has to pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from majlis.engine.games.numbers.arithmetic import Expression, endings, holds, possible, unit
from majlis.engine.games.numbers.cards import (
    AGAIN as AGAIN_CARD,
)
from majlis.engine.games.numbers.cards import (
    ALL_CARDS,
    CHANGERS,
    FIRST_PICTURE,
    FITTING,
    KIND_OF,
    NUMBER_OF,
    OF_KIND,
    PICTURE_KIND,
    RIGHTS_OF,
    SYMBOL_KIND,
    UNFITTING,
)
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import (
    AGAIN,
    DREW,
    DREW_AGAIN,
    NOTHING,
    PLAYED,
    TURN,
    State,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersCalculate,
    NumbersDraw,
    NumbersEnd,
    NumbersJoker,
    NumbersKeep,
    NumbersPlay,
)

DRAW: Final = NumbersDraw()
DRAW_AND_KEEP: Final = NumbersDraw(keep=True)
KEEP: Final = NumbersKeep()
END: Final = NumbersEnd()
PLAY_AGAIN: Final = NumbersAgain()
PLAYS: Final = tuple([NumbersPlay(card=card) for card in ALL_CARDS])
BARE: Final = {joker: NumbersJoker(joker=joker) for joker in CHANGERS}
COVERED: Final = {
    joker: tuple([NumbersJoker(joker=joker, cover=card) for card in ALL_CARDS]) for joker in CHANGERS
}
UNITS: Final = tuple([unit(NUMBER_OF[card]) if NUMBER_OF[card] else 0 for card in ALL_CARDS])
NOT_KIND: Final = tuple([bytes([card for card in ALL_CARDS if card not in kind]) for kind in OF_KIND])
NOT_SYMBOLS: Final = NOT_KIND[SYMBOL_KIND]
NOT_PICTURES: Final = NOT_KIND[PICTURE_KIND]


def plays(state: State, seat: int) -> Iterator[Command]:
    """The plays without a fault: one for each effect on the ground (RULES §2.B, NUM-10 to NUM-31)."""
    if state.phase is not PLAYED:
        hand, drawn, target = state.hands[seat], state.drawn, state.target
        if state.rights or target == NOTHING:
            yield from _single(hand.translate(None, NOT_KIND[state.rights]), drawn)
            return
        yield from _single(hand.translate(None, UNFITTING[target]), drawn)
        options = state.frame.options
        rest = hand.translate(None, barred(options, target))
        found = calculations(options.operations, rest, target, drawn)
        if options.minimum_scope == "thrown":
            yield from found
        else:
            most = fewest(options, hand, target)
            yield from [each for each in found if len(each.cards) <= most]
        if state.phase <= DREW or options.again_chain == "allow":
            yield from _jokers(hand, target, drawn)
    if may_again(state, seat):
        yield PLAY_AGAIN


def _single(cards: bytes, drawn: int) -> list[Command]:
    return [PLAYS[card] for card in sorted(set(cards)) if drawn in (NOTHING, card)]


def may_again(state: State, seat: int) -> bool:
    """NUM-28, NUM-31: the joker play-again may be put down now (NUM-O16, NUM-O18)."""
    if AGAIN_CARD not in state.hands[seat] or state.rights or state.target == NOTHING:
        return False
    options, phase = state.frame.options, state.phase
    if phase is PLAYED:
        return True
    if phase is TURN or phase is DREW:
        return options.again_first == "yes" and state.drawn in (NOTHING, AGAIN_CARD)
    if phase is AGAIN or phase is DREW_AGAIN:
        return options.again_chain == "allow" and state.drawn in (NOTHING, AGAIN_CARD)
    return False


def _jokers(hand: bytes, target: int, drawn: int) -> Iterator[Command]:
    """NUM-22 to NUM-26: alone, or covered by a card that does not fit the card under it."""
    kind = KIND_OF[target]
    for joker in CHANGERS:
        rights = RIGHTS_OF[joker]
        if joker not in hand or not rights & kind:
            continue
        if drawn in (NOTHING, joker):
            yield BARE[joker]
        for cover in sorted(set(hand.translate(None, NOT_KIND[rights]).translate(None, FITTING[target]))):
            if drawn in (NOTHING, joker, cover):
                yield COVERED[joker][cover]


def barred(options: Options, target: int) -> bytes:
    """The cards that no calculation may use (NUM-19, NUM-O29)."""
    if options.calculation_on_one == "example" and NUMBER_OF[target] == 1:
        return bytes([card for card in FITTING[target] if NUMBER_OF[card] == 1])
    return FITTING[target]


def fewest(options: Options, hand: bytes, target: int) -> int:
    """NUM-O8: the size of the smallest calculation in the whole hand; large where there is none."""
    rest = hand.translate(None, barred(options, target))
    sizes = [99]
    for kind in (NOT_SYMBOLS, NOT_PICTURES):
        held = sum([UNITS[card] for card in rest.translate(None, kind)])
        for each in possible(options.operations, NUMBER_OF[target], held)[:1]:
            sizes.append(sum([each >> 4 * n & 15 for n in range(10)]))
    return min(sizes)


def calculations(operations: str, rest: bytes, target: int, drawn: int) -> Iterator[NumbersCalculate]:
    """Minimal calculations of one kind with these cards: for each set of numbers and each last card one way."""
    number = NUMBER_OF[target]
    symbols = rest.translate(None, NOT_SYMBOLS)
    if len(symbols) > 1 and (drawn < 0 or drawn in symbols):
        held = sum([UNITS[card] for card in symbols])
        for each in possible(operations, number, held):
            if drawn < 0 or holds(each, UNITS[drawn]):
                yield from _symbol_ways(operations, number, each)
    pictures = rest.translate(None, NOT_PICTURES)
    if len(pictures) > 1 and (drawn < 0 or drawn in pictures):
        held = sum([UNITS[card] for card in pictures])
        for each in possible(operations, number, held):
            if drawn < 0 or holds(each, UNITS[drawn]):
                yield from _picture_ways(operations, number, each, pictures, drawn)


@lru_cache(1 << 13)
def _symbol_ways(operations: str, number: int, multiset: int) -> tuple[NumbersCalculate, ...]:
    return tuple(
        [
            NumbersCalculate(cards=bytes([n - 1 for n in each.numbers]), operations=each.operations)
            for each in endings(multiset, number, operations)
        ]
    )


@lru_cache(1 << 14)
def _picture_ways(
    operations: str, number: int, multiset: int, pictures: bytes, drawn: int
) -> tuple[NumbersCalculate, ...]:
    """Each picture that can come last; the others, and above all the drawn one, from the lowest on."""
    found = {}
    for each in endings(multiset, number, operations):
        first = FIRST_PICTURE + (each.numbers[-1] - 1) * 2
        for last in (first, first + 1):
            cards = _pictured(each, pictures, last, drawn) if last in pictures else None
            if cards is not None:
                found[cards] = NumbersCalculate(cards=cards, operations=each.operations)
    return tuple(found.values())


def _pictured(each: Expression, pictures: bytes, last: int, drawn: int) -> bytes | None:
    """The numbers as cards held, or None where the drawn card would not be among them."""
    left = sorted(pictures, key=lambda card: (card != drawn, card))
    left.remove(last)
    cards = []
    for number in each.numbers[:-1]:
        card = next((card for card in left if NUMBER_OF[card] == number), None)
        if card is None:
            return None
        left.remove(card)
        cards.append(card)
    cards.append(last)
    return bytes(cards) if drawn < 0 or drawn in cards else None


def may_draw(state: State, seat: int) -> bool:
    """NUM-8, NUM-29, NUM-O2, NUM-O32."""
    if state.phase is TURN:
        return state.frame.options.draw_when == "freely" or next(plays(state, seat), None) is None
    return state.phase is AGAIN and not (state.has_drawn and state.frame.options.draws == "one")


def may_keep(state: State) -> bool:
    """After a draw; or where the draw after the joker play-again is the one already made (NUM-O32)."""
    if state.phase is AGAIN:
        return state.has_drawn and state.frame.options.draws == "one"
    return state.phase is DREW or state.phase is DREW_AGAIN


def others(state: State, seat: int) -> Iterator[Command]:
    """What is no play."""
    phase = state.phase
    if phase is TURN or phase is AGAIN:
        if may_draw(state, seat):
            yield DRAW
        if may_keep(state):
            yield KEEP
        else:
            yield DRAW_AND_KEEP
    elif phase is PLAYED:
        yield END
    elif phase is DREW or phase is DREW_AGAIN:
        yield KEEP
