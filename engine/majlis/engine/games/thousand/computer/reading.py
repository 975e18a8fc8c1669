"""What a seat can know: its view and the deal's public history, read once for each decision."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from majlis.engine.games.thousand.cards import ABOVE, ALL, BIT, SUIT_OF, SUIT_SETS, set_of
from majlis.engine.games.thousand.computer.playout import best_card
from majlis.engine.games.thousand.state import LEFT, SEATS
from majlis.engine.vocabulary.thousand import (
    ThousandHappening,
    ThousandHappeningKind,
    ThousandPhase,
    ThousandPrivateView,
    ThousandView,
)
from majlis.engine.vocabulary.view import Happening

_SAFE_TALON = set_of([card for card in range(24) if card % 6 > 1])
"""Cards of the talon that a declarer is taken to keep: none of these is given away without need."""


class Knowledge(Struct):
    """A deal as one seat knows it."""

    seat: int
    view: ThousandView
    may: ThousandPrivateView
    hand: int
    unseen: int
    """Neither held nor played: other hands, and the talon while it is hidden."""
    sizes: tuple[int, ...]
    known: list[int]
    """By seat: unseen cards that are certainly, or almost certainly, there."""
    excluded: list[int]
    """By seat: cards that are certainly not there."""
    played: list[int]
    """By seat: what each has played."""
    trump: int
    declares: bool
    """Whether a trick has been taken."""
    points: list[int]
    """By seat: cards taken and marriages declared."""

    @property
    def trick(self) -> list[int]:
        """The cards on the table, as played."""
        return list(self.view.trick)


def read(view: ThousandView, may: ThousandPrivateView, seat: int, history: Sequence[Happening]) -> Knowledge:
    """Everything that follows from what this seat has seen."""
    told = [each for each in history if isinstance(each, ThousandHappening)]
    hand = set_of(may.hand)
    reader = _Reader(told)
    gone = reader.played[0] | reader.played[1] | reader.played[2]
    marriages = reader.marriages
    knowledge = Knowledge(
        seat=seat,
        view=view,
        may=may,
        hand=hand,
        unseen=ALL & ~hand & ~gone,
        sizes=tuple([each.cards for each in view.seats]),
        known=[0] * SEATS,
        excluded=reader.excluded,
        played=reader.played,
        trump=-1 if view.trump is None else view.trump,
        declares=any(each.tricks for each in view.seats),
        points=[each.card_points + won for each, won in zip(view.seats, marriages, strict=True)],
    )
    _know_gifts(knowledge)
    return knowledge


def _know_gifts(knowledge: Knowledge) -> None:
    """The declarer knows what it gave; the others know that most of the talon is still the declarer's."""
    view, may, seat = knowledge.view, knowledge.may, knowledge.seat
    declarer = view.declarer
    if declarer is None:
        return
    if declarer == seat:
        for receiver, card in ((LEFT[seat], may.given_left), (LEFT[LEFT[seat]], may.given_right)):
            if card is not None:
                knowledge.known[receiver] |= BIT[card] & knowledge.unseen
        return
    talon = set_of(view.talon) & knowledge.unseen
    if view.phase in (ThousandPhase.CONTRACT, ThousandPhase.TRICK):
        talon &= _SAFE_TALON
    knowledge.known[declarer] = talon & ~knowledge.excluded[declarer]


class _Reader:
    """Follows the tricks of a deal and notes what each card told (THO-17 to THO-20)."""

    def __init__(self, told: Sequence[ThousandHappening]) -> None:
        self._begin()
        for each in told:
            self._take(each)

    def _begin(self) -> None:
        self.played = [0] * SEATS
        self.excluded = [0] * SEATS
        self.marriages = [0] * SEATS
        self._trick: list[int] = []
        self._trump = -1

    def _take(self, told: ThousandHappening) -> None:
        kind = told.kind
        if kind is ThousandHappeningKind.PLAYED and told.card is not None:
            self._played(told.seat or 0, told.card)
        elif kind is ThousandHappeningKind.MARRIAGE and told.suit is not None:
            self._trump = told.suit
            self.marriages[told.seat or 0] += told.amount or 0
        elif kind is ThousandHappeningKind.DEALT:
            self._begin()

    def _played(self, seat: int, card: int) -> None:
        self.played[seat] |= BIT[card]
        if len(self._trick) == SEATS or not self._trick:
            self._trick = [card]
            return
        led, best = SUIT_OF[self._trick[0]], best_card(self._trick, self._trump)
        self._trick.append(card)
        suit, trump = SUIT_OF[card], self._trump
        missing = 0
        if suit != led:
            missing |= SUIT_SETS[led]
            if trump >= 0 and suit != trump:
                missing |= SUIT_SETS[trump]
            elif suit == trump == SUIT_OF[best] and card < best:
                missing |= ABOVE[best]
        elif SUIT_OF[best] == led and card < best:
            missing |= ABOVE[best]
        self.excluded[seat] |= missing
