"""Sounding: hidden grids of twelve cards, the lowest total wins. The rules: RULES.md, in this folder.

Read in this order: `state`, `evolve`, `rules` (what a command causes), `legal`, `view`; then `deals`, `scoring`, `fallback`,
`notation` (positions as text) and `computer` (the computer player).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from majlis.engine.decider import SPECTATOR, Deadline, Emitter, Outcome, Rejected, Setup
from majlis.engine.games.sounding.deals import deal
from majlis.engine.games.sounding.evolve import evolve
from majlis.engine.games.sounding.fallback import fallback
from majlis.engine.games.sounding.legal import legal, waiting
from majlis.engine.games.sounding.options import RULES_VERSIONS, Options
from majlis.engine.games.sounding.position import is_conserved, position
from majlis.engine.games.sounding.rules import decide
from majlis.engine.games.sounding.scoring import places
from majlis.engine.games.sounding.state import (
    DRAWN,
    INITIAL_FLIPS,
    NOT_STARTED,
    OVER,
    TAKEN,
    TURN,
    Frame,
    State,
)
from majlis.engine.games.sounding.view import happening, private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode

_WHAT_FOR: Final = {
    INITIAL_FLIPS: ("initial_flips", "initial_flips_ms"),
    TURN: ("turn", "turn_ms"),
    DRAWN: ("drawn", "drawn_ms"),
    TAKEN: ("taken", "drawn_ms"),
}


class Sounding:
    """The game, as `decider.Game` wants it."""

    key: str = "sounding"
    rules_versions: Mapping[int, Any] = RULES_VERSIONS
    state_schema: int = 1
    state_type: type[Any] = State

    def check_setup(self, seats: int, options: Options) -> None:
        """SND-O1."""
        if not 2 <= seats <= options.max_seats:
            raise Rejected(
                RejectionCode.BAD_SEATS,
                f"{seats} seats cannot play Sounding",
                f"Seat 2 to {options.max_seats} players.",
            )

    def initial(self, setup: Setup) -> State:
        """Before the first deal."""
        return State(Frame(setup.seats, setup.options, setup.chance, totals=(0,) * setup.seats))

    def start(self, state: State) -> Emitter[State]:
        """The first deal."""
        emit = Emitter(evolve, state)
        emit(deal(state))
        return emit

    def decide(self, state: State, seat: int, command: Command, observed: Observed) -> Emitter[State]:
        """See `rules`; nothing in this game depends on when a command arrives."""
        return decide(state, seat, command)

    def evolve(self, state: State, event: Event) -> State:
        """See `evolve`."""
        return evolve(state, event)

    def legal(self, state: State, seat: int) -> Iterable[Command]:
        """See `legal`."""
        return legal(state, seat)

    def view(self, state: State, viewer: int) -> Any:
        """See `view`."""
        return public_view(state) if viewer == SPECTATOR else private_view(state, viewer)

    def happening(self, event: Event, viewer: int) -> Any:
        """See `view`."""
        return happening(event, viewer)

    def deadline(self, state: State) -> Deadline | None:
        """The open decision; None before the first deal and after the last."""
        seats = waiting(state)
        if not seats or state.phase in (OVER, NOT_STARTED):
            return None
        what_for, limit = _WHAT_FOR[state.phase]
        return Deadline(state.decision_id, seats, what_for, getattr(state.frame.options, limit))

    def fallback(self, state: State, seat: int) -> Command:
        """See `fallback`."""
        return fallback(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        """SND-22, SND-23."""
        if state.phase is not OVER:
            return None
        totals = state.frame.totals
        return Outcome(Termination.PLAYED_OUT, places(totals), totals)

    def deal(self, state: State) -> int:
        """1, 2, 3 …"""
        return state.frame.deal

    def position(self, state: State) -> str:
        """See `position`."""
        return position(state)

    def conserved(self, state: State) -> bool:
        """See `position`."""
        return is_conserved(state)
