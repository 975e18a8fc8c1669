"""A position with nothing in it but what a seat sees: other hands and the draw pile are empty."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.numbers.cards import PICTURE_KIND, SYMBOL_KIND
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import NOTHING, Frame, State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.numbers import NumbersFault, NumbersPrivateView, NumbersView

_NO_CHANCE: Final = Chance(b"", b"", "")


def position_of(view: NumbersView, may: NumbersPrivateView, seat: int, options: Options) -> State:
    """What `legal.plays` needs to list the seat's plays."""
    seats = len(view.seats)
    out = sorted(
        [other for other in range(seats) if view.seats[other].rank], key=lambda s: view.seats[s].rank
    )
    hands = [b""] * seats
    hands[seat] = may.hand
    for partner in may.partners:
        hands[partner.seat] = partner.hand
    frame = Frame(options, _NO_CHANCE, seats, view.deal, players=view.players, out=tuple(out))
    return State(
        frame,
        view.phase,
        turn=seat,
        hands=tuple(hands),
        ground=view.ground,
        target=NOTHING if view.target is None else view.target,
        rights=SYMBOL_KIND * view.any_symbol | PICTURE_KIND * view.any_picture,
        drawn=NOTHING if may.drawn is None else may.drawn,
        thrown=view.thrown,
        fault=view.fault or NumbersFault.UNSPECIFIED,
    )
