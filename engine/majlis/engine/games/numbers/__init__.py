"""Numbers: compatible cards, calculations, jokers and penalties, for two to twelve players. Its rules in words: RULES.md beside this file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from majlis.engine.decider import SPECTATOR, Deadline, Emitter, Outcome, Rejected, Setup
from majlis.engine.games.numbers.cards import pack_of
from majlis.engine.games.numbers.deals import emit_first_deal
from majlis.engine.games.numbers.evolve import evolve
from majlis.engine.games.numbers.fallback import fallback
from majlis.engine.games.numbers.listing import Legal
from majlis.engine.games.numbers.options import RULES_VERSIONS, Options
from majlis.engine.games.numbers.position import is_conserved, position
from majlis.engine.games.numbers.rules import decide
from majlis.engine.games.numbers.scoring import places_of, team_totals
from majlis.engine.games.numbers.state import (
    CORRECTION,
    HAND,
    NOT_STARTED,
    OVER,
    SEATS_MAX,
    SEATS_MIN,
    Frame,
    State,
)
from majlis.engine.games.numbers.view import happening, private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode


class Numbers:
    """The game, as `decider.Game` wants it."""

    key: str = "numbers"
    rules_versions: Mapping[int, Any] = RULES_VERSIONS
    state_schema: int = 1
    state_type: type[Any] = State

    def check_setup(self, seats: int, options: Options) -> None:
        """NUM-5, NUM-42, NUM-O7, NUM-O24."""
        if not SEATS_MIN <= seats <= SEATS_MAX:
            raise _bad_seats(f"{seats} seats cannot play Numbers", "Seat 2 to 12 players.")
        if options.full_table == "forbid" and seats * HAND >= len(pack_of(options.level)):
            raise _bad_seats(f"at this level no card is left to open for {seats} seats", "Seat one less.")
        teams = options.teams
        if teams and (seats % teams or seats == teams):
            raise _bad_seats(
                f"{seats} seats do not make {teams} teams of the same size", "Seat two or more for each team."
            )

    def initial(self, setup: Setup) -> State:
        """Before the first deal."""
        return State(Frame(setup.options, setup.chance, setup.seats))

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
        """See `listing`."""
        return Legal(state, seat)

    def view(self, state: State, viewer: int) -> Any:
        """See `view`."""
        return public_view(state) if viewer == SPECTATOR else private_view(state, viewer)

    def happening(self, event: Event, viewer: int) -> Any:
        """See `view`."""
        return happening(event, viewer)

    def deadline(self, state: State) -> Deadline | None:
        """The open decision; None before the first deal and after the last."""
        phase = state.phase
        if phase is NOT_STARTED or phase is OVER:
            return None
        options = state.frame.options
        if phase is CORRECTION:
            return Deadline(state.decision_id, (state.turn,), "correct", options.correction_ms)
        return Deadline(state.decision_id, (state.turn,), "play", options.turn_ms)

    def fallback(self, state: State, seat: int) -> Command:
        """See `fallback`."""
        return fallback(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        """NUM-49, NUM-50: a team's members share its place and its total."""
        if state.phase is not OVER:
            return None
        frame = state.frame
        return Outcome(Termination.PLAYED_OUT, places_of(frame), team_totals(frame, frame.totals))

    def deal(self, state: State) -> int:
        """1, 2, 3 …, extra rounds included; a deal that is dealt anew keeps its number."""
        return state.frame.deal

    def position(self, state: State) -> str:
        """See `position`."""
        return position(state)

    def conserved(self, state: State) -> bool:
        """See `position`."""
        return is_conserved(state)


def _bad_seats(detail: str, remedy: str) -> Rejected:
    return Rejected(RejectionCode.BAD_SEATS, detail, remedy)
