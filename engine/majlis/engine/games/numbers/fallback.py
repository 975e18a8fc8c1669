"""The move made for a silent seat (NUM-O27): always legal, and never better informed than the seat."""

from __future__ import annotations

from majlis.engine.games.numbers.legal import DRAW_AND_KEEP, END, KEEP, may_keep
from majlis.engine.games.numbers.listing import GIVE_UP
from majlis.engine.games.numbers.state import CORRECTION, PLAYED, State
from majlis.engine.vocabulary.entry import Command


def fallback(state: State, _seat: int) -> Command:
    """Draw and keep; after a draw keep; after a play end the turn; in a correction give up."""
    if state.phase is CORRECTION:
        return GIVE_UP
    if state.phase is PLAYED:
        return END
    return KEEP if may_keep(state) else DRAW_AND_KEEP
