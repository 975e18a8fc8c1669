"""How a play is judged: without fault, or what is wrong with it and what of it stays (RULES §2.C, NUM-32 to NUM-36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from majlis.engine.games.numbers.arithmetic import (
    first_in_order,
    is_minimal,
    smallest_sets,
    value,
)
from majlis.engine.games.numbers.cards import (
    CHANGERS,
    FITTING,
    KIND_OF,
    NUMBER_OF,
    RIGHTS_OF,
)
from majlis.engine.games.numbers.legal import (
    PLAYS,
    barred,
    calculations,
    fewest,
)
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import NOTHING, State
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import NumbersCalculate, NumbersFault

Fault = NumbersFault


class Judgement(NamedTuple):
    """`stays`: the cards that lie on the ground in the end. `asks`: the seat may put it right."""

    fault: NumbersFault = Fault.UNSPECIFIED
    stays: bytes = b""
    asks: bool = False


FAULTLESS: Final = Judgement()


def judge_calculation(state: State, seat: int, cards: bytes, operations: bytes) -> Judgement:
    """The first fault decides (NUM-O11). `cards`: number cards, two at least."""
    options, target = state.frame.options, state.target
    if len({KIND_OF[card] for card in cards}) > 1:
        return Judgement(Fault.MIXED)
    compatible = [card for card in cards if card in barred(options, target)]
    if compatible:
        asks = options.several_compatible == "player" and len(set(compatible)) > 1
        return Judgement(Fault.COMPATIBLE, b"" if asks else bytes(compatible[:1]), asks)
    numbers = [NUMBER_OF[card] for card in cards]
    result = NUMBER_OF[target]
    if value(numbers, operations) != result:
        return _wrong_result(options, cards, target)
    if not is_minimal(options.operations, result, numbers):
        asks = (
            options.smallest_set == "player" and len(smallest_sets(numbers, result, options.operations)) > 1
        )
        return Judgement(Fault.NOT_MINIMAL, b"" if asks else first_set(options, cards, target), asks)
    if options.minimum_scope == "hand" and len(cards) > fewest(options, state.hands[seat], target):
        return Judgement(Fault.NOT_MINIMAL)
    return FAULTLESS


def _wrong_result(options: Options, cards: bytes, target: int) -> Judgement:
    """NUM-36, NUM-O28: asked only where a right calculation exists."""
    found = first_set(options, cards, target)
    if not found:
        return Judgement(Fault.WRONG_RESULT)
    if options.correction == "server":
        return Judgement(Fault.WRONG_RESULT, found)
    return Judgement(Fault.WRONG_RESULT, b"", True)


def first_set(options: Options, cards: bytes, target: int) -> bytes:
    """NUM-32, NUM-O9: of the smallest sets the first put down, in its first right order; nothing where none is."""
    numbers = [NUMBER_OF[card] for card in cards]
    sets = smallest_sets(numbers, NUMBER_OF[target], options.operations)
    return arranged(options, cards, sets[0], target).cards if sets else b""


def arranged(options: Options, cards: bytes, places: Sequence[int], target: int) -> NumbersCalculate:
    """The cards at these places in the first order that makes the result."""
    numbers = tuple([NUMBER_OF[cards[place]] for place in places])
    expression = first_in_order(numbers, NUMBER_OF[target], options.operations)
    left = list(places)
    order = []
    for number in expression.numbers:
        place = next(place for place in left if NUMBER_OF[cards[place]] == number)
        left.remove(place)
        order.append(cards[place])
    return NumbersCalculate(cards=bytes(order), operations=expression.operations)


def judge_joker(state: State, joker: int, cover: int | None) -> Judgement:
    """NUM-22 to NUM-27, NUM-35 in the order of NUM-O13."""
    rights, target = RIGHTS_OF[joker], state.target
    stays = bytes([joker]) if state.frame.options.wrong_joker == "joker_stays" else b""
    if not rights & KIND_OF[target]:
        return Judgement(Fault.WRONG_JOKER)
    if cover is None:
        return FAULTLESS
    if cover in CHANGERS:
        return Judgement(Fault.TWO_JOKERS, bytes([joker]))
    if not rights & KIND_OF[cover]:
        return Judgement(Fault.WRONG_COVER, stays)
    if cover in FITTING[target]:
        return Judgement(Fault.COMPATIBLE_COVER, stays or bytes([cover]))
    return FAULTLESS


def fits(state: State, card: int) -> bool:
    """NUM-11; on a bare joker, NUM-25."""
    if state.rights:
        return bool(KIND_OF[card] & state.rights)
    return state.target != NOTHING and card in FITTING[state.target]


def right_answers(state: State) -> Iterator[Command]:
    """What puts the faulty play right (NUM-O9, NUM-O10, NUM-O28)."""
    options, thrown, target = state.frame.options, state.thrown, state.target
    if state.fault is Fault.COMPATIBLE:
        yield from [PLAYS[card] for card in dict.fromkeys(thrown) if card in barred(options, target)]
    elif state.fault is Fault.NOT_MINIMAL:
        sets = smallest_sets([NUMBER_OF[card] for card in thrown], NUMBER_OF[target], options.operations)
        yield from dict.fromkeys([arranged(options, thrown, places, target) for places in sets])
    else:
        rest = bytes(sorted(thrown))
        yield from dict.fromkeys(calculations(options.operations, rest, target, NOTHING))


def is_right(state: State, cards: bytes, operations: bytes) -> bool:
    """Whether the calculation puts the faulty play right."""
    numbers, result = [NUMBER_OF[card] for card in cards], NUMBER_OF[state.target]
    options = state.frame.options
    if value(numbers, operations) != result or not is_minimal(options.operations, result, numbers):
        return False
    if state.fault is not Fault.NOT_MINIMAL:
        return True
    thrown = [NUMBER_OF[card] for card in state.thrown]
    return len(cards) == len(smallest_sets(thrown, result, options.operations)[0])
