"""Collects the events of one decision and folds each at once; holds the questions that decisions ask of the state."""

from __future__ import annotations

from majlis.engine.decider import Rejected
from majlis.engine.tournament.evolve import evolve
from majlis.engine.tournament.standings import standings
from majlis.engine.tournament.state import EntrantState, PodState, TournamentState
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import TournamentEvent, TournamentFinished


class Emit:
    """`emit(event)` records it; `state` is always the state after the events so far."""

    __slots__ = ("events", "now_ms", "state")

    def __init__(self, state: TournamentState, now_ms: int) -> None:
        self.state = state
        self.now_ms = max(now_ms, state.last_ms)
        self.events: list[TournamentEvent] = []

    def __call__(self, event: TournamentEvent) -> None:
        self.events.append(event)
        self.state = evolve(self.state, event, self.state.tournament_id) or self.state

    def finish(self) -> None:
        """Ends the tournament with the standings of now; also used where a correction changes the final ones."""
        self(TournamentFinished(standings=standings(self.state), at_ms=self.now_ms))

    def entrant(self, entrant_id: str) -> EntrantState:
        """Raises Rejected(UNKNOWN_ENTRANT)."""
        found = self.state.entrants.get(entrant_id)
        if found is None:
            raise Rejected(
                Code.UNKNOWN_ENTRANT,
                f"{entrant_id[:80]!r} is no entrant of this tournament",
                "`majlis tournament standings` shows the ids.",
            )
        return found

    def pod(self, round_number: int, pod_number: int) -> PodState:
        """Raises Rejected(UNKNOWN_POD)."""
        found = self.state.pod(round_number, pod_number)
        if found is None:
            raise Rejected(
                Code.UNKNOWN_POD,
                f"round {round_number} has no pod {pod_number}",
                "`majlis tournament pairings` shows rounds and pods.",
            )
        return found

    def need_not_over(self) -> None:
        """Raises Rejected(WRONG_STAGE) once the tournament has finished or was aborted."""
        if self.state.over:
            raise Rejected(
                Code.WRONG_STAGE,
                f"the tournament is {self.state.stage.name.lower()}",
                "Only results can still be corrected, and only of a finished one.",
            )
