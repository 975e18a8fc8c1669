"""Folding a tournament's events: total and silent. What an event names and the state does not know changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.tournament.state import EntrantState, PodState, RoundState, TournamentState
from majlis.engine.vocabulary.tournament import (
    EntrantForfeited,
    EntrantRegistered,
    EntrantReturned,
    EntrantWithdrawn,
    NoShowRecorded,
    PodDecided,
    RoundFinished,
    RoundPaired,
    TournamentAborted,
    TournamentCreated,
    TournamentEvent,
    TournamentFinished,
    TournamentPaused,
    TournamentResumed,
    TournamentStage,
    TournamentStarted,
)


def evolve(
    state: TournamentState | None, event: TournamentEvent, tournament_id: str
) -> TournamentState | None:
    """The state after the event; None as long as no tournament was created."""
    if state is None:
        if isinstance(event, TournamentCreated) and event.setup is not None:
            return TournamentState(tournament_id=tournament_id, setup=event.setup, created_at_ms=event.at_ms)
        return None
    fold = _FOLDS.get(type(event))
    return fold(state, event) if fold is not None else state


def _registered(state: TournamentState, event: EntrantRegistered) -> TournamentState:
    if event.entrant is None:
        return state
    added = {event.entrant.entrant_id: EntrantState(event.entrant)}
    return replace(state, entrants={**state.entrants, **added})


def _withdrawn(state: TournamentState, event: EntrantWithdrawn) -> TournamentState:
    return _with_withdrawn(state, event.entrant_id, withdrawn=True)


def _returned(state: TournamentState, event: EntrantReturned) -> TournamentState:
    return _with_withdrawn(state, event.entrant_id, withdrawn=False)


def _with_withdrawn(state: TournamentState, entrant_id: str, *, withdrawn: bool) -> TournamentState:
    found = state.entrants.get(entrant_id)
    if found is None:
        return state
    return replace(state, entrants={**state.entrants, entrant_id: EntrantState(found.entrant, withdrawn)})


def _started(state: TournamentState, event: TournamentStarted) -> TournamentState:
    return replace(state, stage=TournamentStage.BETWEEN_ROUNDS, started_at_ms=event.at_ms)


def _paired(state: TournamentState, event: RoundPaired) -> TournamentState:
    if event.round != state.round + 1:
        return state
    paired = RoundState(tuple(PodState(pod) for pod in event.pods), event.byes)
    return replace(state, stage=TournamentStage.PLAYING, rounds=(*state.rounds, paired))


def _decided(state: TournamentState, event: PodDecided) -> TournamentState:
    def decide(pod: PodState) -> PodState:
        return replace(
            pod,
            status=event.status,
            places=event.places,
            scores=event.scores,
            totals=event.totals,
            revision=event.revision,
        )

    return _with_pod(state, event.round, event.pod, decide)


def _no_show(state: TournamentState, event: NoShowRecorded) -> TournamentState:
    return _with_pod(
        state,
        event.round,
        event.pod,
        lambda pod: replace(pod, no_shows=(*pod.no_shows, event.entrant_id)),
    )


def _forfeited(state: TournamentState, event: EntrantForfeited) -> TournamentState:
    return _with_pod(
        state,
        event.round,
        event.pod,
        lambda pod: replace(pod, forfeited=(*pod.forfeited, event.entrant_id)),
    )


def _with_pod(
    state: TournamentState, round_number: int, pod_number: int, change: Callable[[PodState], PodState]
) -> TournamentState:
    found = state.pod(round_number, pod_number)
    if found is None:
        return state
    changed = state.rounds[round_number - 1]
    pods = (*changed.pods[: pod_number - 1], change(found), *changed.pods[pod_number:])
    return _with_round(state, round_number, replace(changed, pods=pods))


def _with_round(state: TournamentState, number: int, changed: RoundState) -> TournamentState:
    return replace(state, rounds=(*state.rounds[: number - 1], changed, *state.rounds[number:]))


def _round_finished(state: TournamentState, event: RoundFinished) -> TournamentState:
    if not 1 <= event.round <= state.round:
        return state
    finished = replace(state.rounds[event.round - 1], finished=True)
    return replace(_with_round(state, event.round, finished), stage=TournamentStage.BETWEEN_ROUNDS)


def _paused(state: TournamentState, _event: TournamentPaused) -> TournamentState:
    return replace(state, paused=True)


def _resumed(state: TournamentState, _event: TournamentResumed) -> TournamentState:
    return replace(state, paused=False)


def _finished(state: TournamentState, event: TournamentFinished) -> TournamentState:
    return replace(
        state,
        stage=TournamentStage.FINISHED,
        paused=False,
        final_standings=event.standings,
        ended_at_ms=state.ended_at_ms or event.at_ms,
    )


def _aborted(state: TournamentState, event: TournamentAborted) -> TournamentState:
    return replace(state, stage=TournamentStage.ABORTED, paused=False, ended_at_ms=event.at_ms)


_FOLDS: Final[dict[type, Callable[[TournamentState, Any], TournamentState]]] = {
    EntrantRegistered: _registered,
    EntrantWithdrawn: _withdrawn,
    EntrantReturned: _returned,
    TournamentStarted: _started,
    RoundPaired: _paired,
    PodDecided: _decided,
    NoShowRecorded: _no_show,
    EntrantForfeited: _forfeited,
    RoundFinished: _round_finished,
    TournamentPaused: _paused,
    TournamentResumed: _resumed,
    TournamentFinished: _finished,
    TournamentAborted: _aborted,
}
