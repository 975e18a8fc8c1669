"""Thousand in words and pictures, for replays: what happened as a sentence, and a view as the table looks from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from majlis.engine.games.thousand.cards import SUITS, card_name, names
from majlis.engine.vocabulary.thousand import (
    ThousandHappening,
    ThousandPrivateView,
    ThousandSeatView,
    ThousandView,
)
from majlis.engine.vocabulary.thousand import ThousandHappeningKind as Kind

SUIT_NAMES: Final = ("spades", "clubs", "diamonds", "hearts")


def told(happening: ThousandHappening) -> str:
    """What happened, as a sentence: `seat 1 plays TS`."""
    return _TOLD[happening.kind](happening)


def picture(view: ThousandView, private: ThousandPrivateView | None) -> str:
    """The table as a viewer sees it: a line for each seat, the trick, the scores, and the viewer's own hand."""
    rows = [_seat(view, seat, each) for seat, each in enumerate(view.seats)]
    trump = "none" if view.trump is None else SUIT_NAMES[view.trump]
    rows.append(f"talon {names(view.talon)}; trump {trump}; trick {names(view.trick)}")
    rows.append(f"deal {view.deal}: scores {' '.join(map(str, view.scores))}")
    if private is not None:
        rows.append(f"hand {names(private.hand)}")
    return "\n".join(rows)


def _seat(view: ThousandView, seat: int, each: ThousandSeatView) -> str:
    parts = [f"seat {seat}: {each.cards} cards, {each.tricks} tricks, {each.card_points} points"]
    if each.marriages:
        parts.append("marriages " + " ".join([SUITS[suit] for suit in each.marriages]))
    if seat == view.declarer:
        parts.append(f"declarer, plays for {view.contract or view.bid}")
    elif view.declarer is None and (each.passed or each.bid):
        parts.append("passed" if each.passed else f"bids {each.bid}")
    return ", ".join(parts)


def _card(happening: ThousandHappening) -> str:
    return "a card" if happening.card is None else card_name(happening.card)


def _marriage(happening: ThousandHappening) -> str:
    return f"seat {happening.seat} declares {SUIT_NAMES[happening.suit or 0]}: {happening.amount} points"


def _scored(happening: ThousandHappening) -> str:
    changes = " ".join([f"{change:+d}" for change in happening.results])
    return f"the deal is scored: {changes}; seat {happening.seat} played for {happening.amount}"


_TOLD: Final[dict[Kind, Callable[[ThousandHappening], str]]] = {
    Kind.DEALER_DRAWN: lambda h: f"seat {h.seat} is drawn to deal first",
    Kind.DEALT: lambda h: f"seat {h.seat} deals" + (f"; hand {names(h.cards)}" if h.cards else ""),
    Kind.REDEAL_ANSWERED: lambda h: f"seat {h.seat} has answered",
    Kind.REDEAL_GRANTED: lambda h: f"seat {h.seat} asks for a new deal and shows {names(h.cards)}",
    Kind.BID: lambda h: f"seat {h.seat} bids {h.amount}",
    Kind.PASSED: lambda h: f"seat {h.seat} passes",
    Kind.TALON_TAKEN: lambda h: f"seat {h.seat} is declarer at {h.amount} and takes {names(h.cards)}",
    Kind.GIVEN: lambda h: f"seat {h.seat} gives {_card(h)} to seat {h.receiver}",
    Kind.CONTRACT: lambda h: f"seat {h.seat} plays for {h.amount}",
    Kind.PLAYED: lambda h: f"seat {h.seat} plays {_card(h)}",
    Kind.MARRIAGE: _marriage,
    Kind.TRICK_TAKEN: lambda h: f"seat {h.seat} takes the trick: {h.amount} points",
    Kind.SCORED: _scored,
}
