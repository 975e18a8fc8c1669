"""Numbers in words and pictures, for replays: what happened as a sentence, and a view as the table looks from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from majlis.engine.games.numbers.cards import NAME_OF, names
from majlis.engine.games.numbers.notation import calculation_text
from majlis.engine.vocabulary.numbers import NumbersHappening, NumbersPrivateView, NumbersView
from majlis.engine.vocabulary.numbers import NumbersHappeningKind as Kind


def told(happening: NumbersHappening) -> str:
    """What happened, as a sentence: `seat 1 plays 3bee`."""
    return _TOLD[happening.kind](happening)


def picture(view: NumbersView, private: NumbersPrivateView | None) -> str:
    """The table as a viewer sees it: a line for each seat, the ground, and the viewer's own hand."""
    rows = [
        f"seat {seat}: {each.cards} cards, {each.total} points"
        + (f", out as {each.rank}" if each.rank else "")
        for seat, each in enumerate(view.seats)
    ]
    target = "nothing" if view.target is None else NAME_OF[view.target]
    rows.append(f"deal {view.deal}: on {target}, {view.pile} cards to draw; ground {names(view.ground[-8:])}")
    if private is not None:
        rows.append(f"hand {names(private.hand)}")
    return "\n".join(rows)


def _drawn(happening: NumbersHappening) -> str:
    cards = f": {names(happening.cards)}" if happening.cards else ""
    return f"seat {happening.seat} draws {happening.amount or 0}{cards}"


def _reckoned(happening: NumbersHappening) -> str:
    text = (
        calculation_text(happening.cards, happening.operations)
        if happening.operations
        else names(happening.cards)
    )
    return f"seat {happening.seat} calculates {text}" + (
        f", bonus {happening.amount}" if happening.amount else ""
    )


def _faulted(happening: NumbersHappening) -> str:
    fault = happening.fault.name.lower().replace("_", " ") if happening.fault else "fault"
    return f"seat {happening.seat} throws {names(happening.cards)} ({fault}); {names(happening.stays)} stays"


_TOLD: Final[dict[Kind, Callable[[NumbersHappening], str]]] = {
    Kind.DEALER_DRAWN: lambda h: f"seat {h.seat} is drawn to deal first",
    Kind.DEALT: lambda h: f"seat {h.seat} deals" + (f"; hand {names(h.cards)}" if h.cards else ""),
    Kind.PILE_SHUFFLED: lambda h: "the draw pile is shuffled",
    Kind.OPENED: lambda h: f"opened: {names(h.cards)}",
    Kind.PLAYED: lambda h: f"seat {h.seat} plays {names(h.cards)}",
    Kind.CALCULATED: _reckoned,
    Kind.JOKER: lambda h: f"seat {h.seat} plays {names(h.cards)}",
    Kind.AGAIN: lambda h: f"seat {h.seat} plays JR",
    Kind.DRAWN: _drawn,
    Kind.PENALTY: lambda h: _drawn(h) + " as a penalty",
    Kind.RECYCLED: lambda h: f"the ground becomes the draw pile: {h.amount} cards",
    Kind.KEPT: lambda h: f"seat {h.seat} keeps",
    Kind.TURN_ENDED: lambda h: f"seat {h.seat}'s turn ends",
    Kind.FAULTED: _faulted,
    Kind.CORRECTED: lambda h: _reckoned(h) + " as a correction",
    Kind.GAVE_UP: lambda h: f"seat {h.seat} finds no correction",
    Kind.OUT: lambda h: f"seat {h.seat} is out as number {h.amount}",
    Kind.STUCK: lambda h: "nobody can move: ranked " + " ".join(map(str, h.seats)),
    Kind.SCORED: lambda h: "the deal is scored: " + " ".join(map(str, h.points)),
}
