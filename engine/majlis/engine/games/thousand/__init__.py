"""Thousand: auction, talon, marriages and the barrel, for three players. Its rules in words: RULES.md beside this file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, Final

from majlis.engine.decider import SPECTATOR, Deadline, Emitter, Outcome, Rejected, Setup
from majlis.engine.games.thousand.deals import emit_first_deal
from majlis.engine.games.thousand.evolve import evolve
from majlis.engine.games.thousand.fallback import fallback
from majlis.engine.games.thousand.legal import legal, playable, waiting
from majlis.engine.games.thousand.options import RULES_VERSIONS, Options
from majlis.engine.games.thousand.position import is_conserved, position
from majlis.engine.games.thousand.rules import decide
from majlis.engine.games.thousand.scoring import places
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    GIVE_LEFT,
    GIVE_RIGHT,
    OVER,
    REDEAL,
    SEATS,
    TRICK,
    Frame,
    State,
)
from majlis.engine.games.thousand.view import happening, private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.thousand import ThousandPhase

_WHAT_FOR: Final = {
    REDEAL: ("redeal", attrgetter("redeal_ms")),
    AUCTION: ("bid", attrgetter("bid_ms")),
    GIVE_LEFT: ("give_left", attrgetter("give_ms")),
    GIVE_RIGHT: ("give_right", attrgetter("give_ms")),
    CONTRACT: ("contract", attrgetter("contract_ms")),
    TRICK: ("play", attrgetter("play_ms")),
}
_BY_PHASE: Final = tuple([_WHAT_FOR.get(phase) for phase in ThousandPhase])
"""A phase is a small number: an index is quicker than the hash of an enum."""
AUTO_PLAY_MS: Final = 500
"""THO-O24: the only legal card is played for the seat after this time, not before."""


class Thousand:
    """The game, as `decider.Game` wants it."""

    key: str = "thousand"
    rules_versions: Mapping[int, Any] = RULES_VERSIONS
    state_schema: int = 1
    state_type: type[Any] = State

    def check_setup(self, seats: int, options: Options) -> None:
        """THO-1, THO-O23."""
        if seats != SEATS:
            raise Rejected(
                RejectionCode.BAD_SEATS, f"{seats} seats cannot play Thousand", "Seat three players."
            )

    def initial(self, setup: Setup) -> State:
        """Before the first deal."""
        return State(Frame(setup.options, setup.chance))

    def start(self, state: State) -> Emitter[State]:
        """The first dealer and the first deal."""
        emit = Emitter(evolve, state)
        emit_first_deal(emit)
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
        phase, options, turn = state.phase, state.frame.options, state.turn
        asked = _BY_PHASE[phase]
        if asked is None:
            return None
        what_for, limit = asked
        if turn is None:
            return Deadline(state.decision_id, waiting(state), what_for, limit(options), None, True)
        if phase is TRICK and options.auto_play == "yes":
            cards = playable(state, turn)
            if cards & (cards - 1) == 0:
                return Deadline(state.decision_id, (turn,), what_for, AUTO_PLAY_MS, None, True)
        return Deadline(state.decision_id, (turn,), what_for, limit(options))

    def fallback(self, state: State, seat: int) -> Command:
        """See `fallback`."""
        return fallback(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        """THO-33, THO-35."""
        if state.phase is not OVER:
            return None
        scores = state.frame.scores
        return Outcome(Termination.PLAYED_OUT, places(scores), scores)

    def deal(self, state: State) -> int:
        """1, 2, 3 …; a deal that is dealt anew keeps its number."""
        return state.frame.deal

    def position(self, state: State) -> str:
        """See `position`."""
        return position(state)

    def conserved(self, state: State) -> bool:
        """See `position`."""
        return is_conserved(state)
