"""A deal played out in thought: all hands known, everybody by rule of thumb."""

from __future__ import annotations

from majlis.engine.games.thousand.cards import ABOVE, MARRIAGES, PAIRS, POINTS, SUIT_OF, SUIT_SETS
from majlis.engine.games.thousand.computer.playing import follow_with, lead
from majlis.engine.games.thousand.state import LEFT, SEATS


def follow_set(hand: int, led: int, best: int, trump: int) -> int:
    """The cards that may be added to a trick whose best card is this (THO-17 to THO-20)."""
    suit = hand & SUIT_SETS[led]
    if suit:
        return (suit & ABOVE[best] or suit) if SUIT_OF[best] == led else suit
    if trump >= 0:
        trumps = hand & SUIT_SETS[trump]
        if trumps:
            return (trumps & ABOVE[best] or trumps) if SUIT_OF[best] == trump else trumps
    return hand


def play_out(
    hands: list[int], points: list[int], declarer: int, seat: int, trump: int, *, declares: bool
) -> list[int]:
    """The points of each seat at the end, with what they have now (`points`), when this seat begins a trick.

    Takes both lists for its own. `declares`: a trick has been taken in this deal.
    """
    while hands[seat]:
        hand, second = hands[seat], LEFT[seat]
        card = lead(hand, hands[second], hands[LEFT[second]], trump, declares=declares)
        suit = SUIT_OF[card]
        if declares and hand & PAIRS[suit] == PAIRS[suit] and PAIRS[suit] >> card & 1:
            points[seat] += MARRIAGES[suit]
            trump = suit
        hands[seat] = hand ^ 1 << card
        seat, won = finish_trick(hands, [card], seat, trump, declarer)
        points[seat] += won
        declares = True
    return points


def finish_trick(
    hands: list[int], trick: list[int], leader: int, trump: int, declarer: int
) -> tuple[int, int]:
    """The trick on the table is completed from the hands: who takes it, and its points."""
    led, best = SUIT_OF[trick[0]], best_card(trick, trump)
    best_seat = (leader + trick.index(best)) % SEATS
    won = sum([POINTS[card] for card in trick])
    for place in range(len(trick), SEATS):
        seat = (leader + place) % SEATS
        hand = hands[seat]
        legal = follow_set(hand, led, best, trump)
        if legal & (legal - 1) == 0:
            card = legal.bit_length() - 1
        else:
            after = hands[LEFT[seat]] if place == 1 else 0
            friendly = declarer not in (seat, best_seat)
            card = follow_with(legal, hand, best, led, trump, after, with_partner=friendly)
        hands[seat] = hand ^ 1 << card
        won += POINTS[card]
        suit = SUIT_OF[card]
        if card > best if suit == SUIT_OF[best] else suit == trump:
            best, best_seat = card, seat
    return best_seat, won


def best_card(cards: list[int], trump: int) -> int:
    """The card that takes the trick so far."""
    best = cards[0]
    for card in cards[1:]:
        suit = SUIT_OF[card]
        if card > best if suit == SUIT_OF[best] else suit == trump:
            best = card
    return best
