"""Counts from outside: the engine must find as many as a brute force that shares nothing with it but the rules' text.

The brute force below works on card names; every literal is what it counted, and is counted again here.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from msgspec import Struct

from majlis.engine.games.thousand.cards import set_of
from majlis.engine.games.thousand.legal import may_request
from majlis.engine.games.thousand.notation import position_from
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import REDEAL, Frame, State
from majlis.engine.shuffle import Chance
from tests.engine.thousand.walks import GAME, OBSERVED

STRENGTH = "9JQKTA"
POINTS = {"9": 0, "J": 2, "Q": 3, "K": 4, "T": 10, "A": 11}


class Case(Struct, frozen=True):
    """Hands from which seat `leader` leads; how many ways there are to play them out."""

    hands: tuple[str, str, str]
    leader: int
    trump: str | None
    first_trick: bool
    ways: int


CASES = {
    "no trump, three cards": Case(("AS TS 9H", "KS QS AH", "JS 9S TH"), 0, None, False, 24),
    "hearts, four cards": Case(("AS KD QD 9H", "TS KS AH JH", "9S TD AD TH"), 1, "H", False, 168),
    "a pair in each hand": Case(("KS QS 9C 9D", "KC QC JD JS", "KD QD 9S TC"), 2, "S", False, 240),
    "five cards": Case(("AS TS KH QH 9D", "KS QS AD TD AC", "JS 9S AH TH KC"), 0, "C", False, 12352),
    "the first trick declares nothing": Case(("KH QH 9S", "AH 9C TS", "TH JC AS"), 0, None, True, 10),
    "two trumps against none": Case(("KC QC TC AC", "9D JD QD KD", "9S JS QS KS"), 1, "C", False, 13824),
}


def may_play(hand: list[str], trick: list[str], trump: str | None) -> list[str]:
    """¶47, ¶70: the suit, higher; else a trump, higher; else any card."""
    if not trick:
        return hand
    led = trick[0][1]
    in_suit = [card for card in hand if card[1] == led]
    trumps_there = [card for card in trick if card[1] == trump]
    if in_suit:
        if trumps_there and led != trump:
            return in_suit
        highest = max(STRENGTH.index(card[0]) for card in trick if card[1] == led)
        return [card for card in in_suit if STRENGTH.index(card[0]) > highest] or in_suit
    trumps = [card for card in hand if card[1] == trump]
    if not trumps:
        return hand
    highest = max((STRENGTH.index(card[0]) for card in trumps_there), default=-1)
    return [card for card in trumps if STRENGTH.index(card[0]) > highest] or trumps


def taker(trick: list[str], trump: str | None) -> int:
    """The place in the trick of the highest trump, else of the highest card of the suit led."""
    suit = trump if any(card[1] == trump for card in trick) else trick[0][1]
    return max(
        (place for place in range(3) if trick[place][1] == suit),
        key=lambda place: STRENGTH.index(trick[place][0]),
    )


def ways(hands: list[list[str]], leader: int, trick: list[str], trump: str | None, *, first: bool) -> int:
    """How many sequences of plays there are from here to the last card."""
    if len(trick) == 3:
        return ways(hands, (leader + taker(trick, trump)) % 3, [], trump, first=False)
    seat = (leader + len(trick)) % 3
    if not hands[seat]:
        return 1
    total = 0
    for card in may_play(hands[seat], trick, trump):
        partner = {"K": "Q", "Q": "K"}.get(card[0], "?") + card[1]
        declares = not trick and not first and partner in hands[seat]
        rest = [[each for each in hand if each != card] for hand in hands]
        total += ways(rest, leader, [*trick, card], card[1] if declares else trump, first=first)
    return total


def engine_ways(state: State) -> int:
    """The same by the engine: every legal command of every position of the deal."""
    if state.frame.deal != 1 or state.turn is None:
        return 1
    return sum(
        engine_ways(GAME.decide(state, state.turn, command, OBSERVED).state)
        for command in GAME.legal(state, state.turn)
    )


@pytest.mark.parametrize("name", CASES)
def test_the_ways_to_play_a_deal_out(name: str) -> None:
    case = CASES[name]
    hands = [hand.split() for hand in case.hands]
    tricks = 0 if case.first_trick else 8 - len(hands[0])
    position = {
        "hands": list(case.hands),
        "leader": case.leader,
        "turn": case.leader,
        "tricks": tricks,
        "trump": case.trump,
        "declarer": 0,
        "contract": 100,
    }
    state = position_from(position, Options(), Chance(bytes(32), b"", "counts"))
    assert ways(hands, case.leader, [], case.trump, first=case.first_trick) == case.ways
    if case.first_trick:
        assert first_trick_ways(state, len(hands[0])) == case.ways
    else:
        assert engine_ways(state) == case.ways


def first_trick_ways(state: State, tricks: int) -> int:
    """A deal that begins with fewer than eight cards each: played until they are gone."""
    if state.tricks == tricks or state.turn is None:
        return 1
    return sum(
        first_trick_ways(GAME.decide(state, state.turn, command, OBSERVED).state, tricks)
        for command in GAME.legal(state, state.turn)
    )


HANDS = 346_104
"""C(24, 7)."""
FOUR_NINES = 1_140
"""C(20, 3): the three other cards."""


def test_the_hands_that_entitle_to_a_new_deal() -> None:
    """By rank counts: every way to hold n of the four cards of each rank; marriages by looking at the suits."""
    pack = [rank + suit for suit in "SCDH" for rank in STRENGTH]
    points = [POINTS[card[0]] for card in pack]
    hands = list(combinations(range(24), 7))
    assert len(hands) == HANDS
    entitled = nines = found = 0
    frame = Frame(Options(), Chance(bytes(32), b"", ""))
    for cards in hands:
        names = {pack[card] for card in cards}
        four = {"9S", "9C", "9D", "9H"} <= names
        married = any({"K" + suit, "Q" + suit} <= names for suit in "SCDH")
        nines += four
        entitled += four or (not married and sum(points[card] for card in cards) < 10)
        found += may_request(State(frame, REDEAL, hands=(set_of(cards), 0, 0)), 0)
    assert nines == FOUR_NINES
    assert found == entitled == ENTITLED


ENTITLED = 1_208
"""Four nines, and 68 hands more: 0.35 % of all (RULES §4.G). Counted by the brute force above."""
