"""The beginner: the text's own tips (THO-37), and no count of the cards."""

from __future__ import annotations

from majlis.engine.games.thousand.cards import cards_of, marriage_points, set_of
from majlis.engine.games.thousand.computer.exchange import order
from majlis.engine.games.thousand.computer.playing import beats, dearest_of, lowest_of
from majlis.engine.games.thousand.computer.playout import best_card
from majlis.engine.games.thousand.computer.reading import Knowledge


def limit(hand: int) -> int:
    """Above 100 only with a marriage or several aces and tens."""
    strong = sum(card % 6 >= 4 for card in cards_of(hand))
    aces = sum(card % 6 == 5 for card in cards_of(hand))
    if marriage_points(hand):
        return 120 + (marriage_points(hand) // 2 if aces else 0)
    return 120 if strong >= 5 else 110 if strong >= 4 else 100


def gift(hand: int) -> int:
    """A card without points, of a suit of which there are few."""
    return order(hand)[0]


def play(knowledge: Knowledge) -> int:
    """Leads marriages and high cards; takes what it can; adds points to a trick of the other defender."""
    legal, trump, trick = set_of(knowledge.may.may_play), knowledge.trump, knowledge.trick
    if not trick:
        declaring = set_of(knowledge.may.declares)
        if declaring:
            return declaring.bit_length() - 1
        return dearest_of(legal)
    best = best_card(trick, trump)
    winners = set_of([card for card in cards_of(legal) if beats(card, best, trump)])
    if winners:
        return dearest_of(winners) if len(trick) == 1 else (winners & -winners).bit_length() - 1
    leader = knowledge.view.leader or 0
    best_seat = (leader + trick.index(best)) % 3
    if knowledge.view.declarer not in (knowledge.seat, best_seat) and len(trick) == 2:
        return dearest_of(legal)
    return lowest_of(legal, 0)
