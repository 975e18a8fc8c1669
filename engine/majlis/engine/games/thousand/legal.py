"""What may be done: sets of cards and ranges of amounts, and the commands made of them. Looks at the seat's hand only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from majlis.engine.games.thousand.cards import (
    ABOVE,
    NINES,
    PAIRS,
    PARTNER,
    SUIT_OF,
    SUIT_SETS,
    marriage_points,
    pairs_in,
    set_points,
)
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    GIVE_LEFT,
    GIVE_RIGHT,
    REDEAL,
    SEATS,
    TRICK,
    UNANSWERED,
    Frame,
    State,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.thousand import (
    ThousandBid,
    ThousandContract,
    ThousandDeclineRedeal,
    ThousandGive,
    ThousandPass,
    ThousandPlay,
    ThousandRequestRedeal,
)

LIMIT: Final = 120
"""THO-10, THO-15: without a marriage."""
NO_LIMIT: Final = 400
"""The most that a deal can give: all cards and all marriages (THO-O3)."""

PASS: Final = ThousandPass()
REQUEST: Final = ThousandRequestRedeal()
DECLINE: Final = ThousandDeclineRedeal()
BIDS: Final = {amount: ThousandBid(amount=amount) for amount in range(100, NO_LIMIT + 1)}
CONTRACTS: Final = {amount: ThousandContract(amount=amount) for amount in range(100, NO_LIMIT + 1)}


def _by_suit(make: Callable[[int], Command]) -> tuple[tuple[tuple[Command, ...], ...], ...]:
    """For each suit and each set of its cards the commands on them, made once."""
    each = [make(card) for card in range(24)]
    return tuple(
        [
            tuple(
                [tuple([each[6 * suit + rank] for rank in range(6) if low >> rank & 1]) for low in range(64)]
            )
            for suit in range(4)
        ]
    )


PLAYS: Final = _by_suit(lambda card: ThousandPlay(card=card))
UNDECLARED: Final = _by_suit(lambda card: ThousandPlay(card=card, undeclared=True))
GIVES: Final = _by_suit(lambda card: ThousandGive(card=card))


def _commands(table: tuple[tuple[tuple[Command, ...], ...], ...], cards: int) -> tuple[Command, ...]:
    spades, clubs, diamonds, hearts = table
    return spades[cards & 63] + clubs[cards >> 6 & 63] + diamonds[cards >> 12 & 63] + hearts[cards >> 18]


def may_request(state: State, seat: int) -> bool:
    """THO-6, THO-O11: four nines, or less than 10 points and no marriage."""
    hand = state.hands[seat]
    unmarried = not pairs_in(hand)
    if hand & NINES == NINES:
        return unmarried or state.frame.options.redeal_four_nines_needs_no_marriage == "no"
    return unmarried and set_points(hand) < 10


def bid_limit(frame: Frame, hand: int) -> int:
    """THO-10, THO-O3."""
    held = marriage_points(hand)
    return NO_LIMIT if held and frame.options.auction_limit == "none" else LIMIT + held


def bid_range(state: State, seat: int) -> tuple[int, int]:
    """The lowest and the highest bid (THO-8, THO-O1, THO-O2); (0, 0) where the seat can only pass."""
    frame = state.frame
    least = frame.bid + frame.options.bid_step
    most = bid_limit(frame, state.hands[seat])
    if least > most:
        return (0, 0)
    return (least, most if frame.options.jump_bids == "yes" else least)


def contract_range(state: State, seat: int) -> tuple[int, int]:
    """From the bid to the limit of the hand, but never below the bid (THO-14, THO-15, THO-O5, THO-O6)."""
    frame, hand = state.frame, state.hands[seat]
    if frame.options.contract_marriages == "before_giving":
        for card in frame.given:
            hand |= 1 << card
    return (frame.bid, max(frame.bid, LIMIT + marriage_points(hand)))


def best_of(trick: bytes, trump: int) -> int:
    """The card that takes the trick as far as it has been played (THO-22)."""
    best = trick[0]
    for card in trick[1:]:
        suit = SUIT_OF[card]
        if card > best if suit == SUIT_OF[best] else suit == trump:
            best = card
    return best


def follow(hand: int, trick: bytes, trump: int, *, raise_trumped: bool = False) -> int:
    """The cards that may be added to a trick (THO-17 to THO-20; `raise_trumped`: THO-O7)."""
    led = SUIT_OF[trick[0]]
    best, suit = trick[0] if len(trick) == 1 else best_of(trick, trump), hand & SUIT_SETS[led]
    if suit:
        if SUIT_OF[best] == led:
            return suit & ABOVE[best] or suit
        return suit & ABOVE[trick[0]] or suit if raise_trumped else suit
    trumps = hand & SUIT_SETS[trump] if trump >= 0 else 0
    if not trumps:
        return hand
    return trumps & ABOVE[best] or trumps if SUIT_OF[best] == trump else trumps


def playable(state: State, seat: int) -> int:
    """The cards that the turn's owner may play (THO-21)."""
    hand, options = state.hands[seat], state.frame.options
    if state.trick:
        return follow(hand, state.trick, state.trump, raise_trumped=options.trumped_suit == "raise")
    if options.first_trick_pair_lead == "no" and state.tricks == 0:
        return hand & ~pairs_in(hand) or hand  # four pairs: something must be led (THO-O8)
    return hand


def declaring(state: State, seat: int) -> int:
    """The cards that declare a marriage when the seat leads them now (THO-24, THO-25)."""
    if state.trick or state.tricks == 0:
        return 0
    return pairs_in(state.hands[seat])


def declares(state: State, seat: int, card: int) -> bool:
    """Whether the lead of this card declares its marriage."""
    if state.trick or state.tricks == 0 or PARTNER[card] is None:
        return False
    pair = PAIRS[SUIT_OF[card]]
    return state.hands[seat] & pair == pair


def waiting(state: State) -> tuple[int, ...]:
    """The seats that the open decision waits for; none when nothing is open."""
    if state.turn is not None:
        return (state.turn,)
    if state.phase is REDEAL:
        answers = state.frame.answers
        return tuple([seat for seat in range(SEATS) if answers[seat] == UNANSWERED])
    return ()


def legal(state: State, seat: int) -> Iterable[Command]:
    """Every command that would be accepted from this seat now."""
    phase = state.phase
    if seat == state.turn:
        if phase is TRICK:
            return _of_a_trick(state, seat)
        if phase is GIVE_LEFT or phase is GIVE_RIGHT:
            return _commands(GIVES, state.hands[seat])
        if phase is AUCTION:
            return (*_amounts(state, BIDS, bid_range(state, seat)), PASS)
        if phase is CONTRACT:
            return _amounts(state, CONTRACTS, contract_range(state, seat))
    if phase is REDEAL and seat in waiting(state):
        return (REQUEST, DECLINE) if may_request(state, seat) else (DECLINE,)
    return ()


def _of_a_trick(state: State, seat: int) -> tuple[Command, ...]:
    cards = playable(state, seat)
    suit = SUIT_OF[cards.bit_length() - 1]
    alone = cards & SUIT_SETS[suit] == cards
    plays = PLAYS[suit][cards >> 6 * suit] if alone else _commands(PLAYS, cards)
    if state.frame.options.marriage_declaration == "optional":
        return plays + _commands(UNDECLARED, cards & declaring(state, seat))
    return plays


def _amounts(state: State, table: Mapping[int, Command], limits: tuple[int, int]) -> tuple[Command, ...]:
    least, most = limits
    if not least:
        return ()
    return tuple([table[amount] for amount in range(least, most + 1, state.frame.options.bid_step)])
