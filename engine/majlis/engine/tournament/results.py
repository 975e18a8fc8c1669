"""Decisions on pods: results, no-shows, forfeits, adjudications, and corrections of all these.

A correction is a compensating PodDecided. It may come in any later round and after the end (then the final standings
are written anew); pairings that were made on the old scores stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from majlis.engine.decider import Rejected
from majlis.engine.tournament.emit import Emit
from majlis.engine.tournament.scoring import pod_scores, ranked, void_scores
from majlis.engine.tournament.state import PodState
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AdjudicatePod,
    BookNoShow,
    BookResult,
    EntrantForfeited,
    ForfeitEntrant,
    NoShowPolicy,
    NoShowRecorded,
    PodDecided,
    PodStatus,
    RoundFinished,
    TournamentStage,
)


def book_result(emit: Emit, command: BookResult) -> None:
    """The result of a pod's match, once; a higher revision replaces it."""
    pod = _pod(emit, command.round, command.pod)
    if command.match_id != pod.pod.match_id:
        raise Rejected(
            Code.UNKNOWN_MATCH,
            f"match {command.match_id[:80]!r} is not that of round {command.round}, pod {command.pod}",
            f"That pod plays {pod.pod.match_id}.",
        )
    if command.revision <= pod.revision:
        raise Rejected(
            Code.POD_DECIDED,
            f"round {command.round}, pod {command.pod} is decided ({pod.status.name.lower()}, "
            f"revision {pod.revision})",
            "A correction needs a higher revision, or a director's adjudication.",
        )
    void = command.termination is Termination.ABORTED or not command.places
    if not void:
        _check_places(command.places, pod)
    status = PodStatus.VOID if void else PodStatus.PLAYED
    places = () if void else command.places
    _decide_pod(emit, command, status, places, totals=command.totals, revision=command.revision)


def adjudicate_pod(emit: Emit, command: AdjudicatePod) -> None:
    """The director's decision, which stands against the match's result (but not against a later correction of it)."""
    pod = _pod(emit, command.round, command.pod)
    _check_places(command.places, pod)
    _decide_pod(
        emit,
        command,
        PodStatus.ADJUDICATED,
        command.places,
        totals=pod.totals,
        revision=max(pod.revision, 1),
        reason=command.reason,
    )


def book_no_show(emit: Emit, command: BookNoShow) -> None:
    """Somebody did not come: recorded, and where the tournament says so, forfeited."""
    pod = _member_of(emit, command.round, command.pod, command.entrant_id)
    if command.entrant_id in pod.no_shows:
        raise Rejected(Code.POD_DECIDED, "that no-show is recorded already", "Nothing is left to do.")
    emit(NoShowRecorded(round=command.round, pod=command.pod, entrant_id=command.entrant_id))
    if emit.state.setup.no_show is NoShowPolicy.FORFEIT and command.entrant_id not in pod.forfeited:
        _forfeit(emit, command, "no-show")


def forfeit_entrant(emit: Emit, command: ForfeitEntrant) -> None:
    """The director takes an entrant's pod away: last place and no score, whatever the computer makes of the seat."""
    pod = _member_of(emit, command.round, command.pod, command.entrant_id)
    if command.entrant_id in pod.forfeited:
        raise Rejected(Code.POD_DECIDED, "that entrant has forfeited already", "Nothing is left to do.")
    _forfeit(emit, command, command.reason)


def _forfeit(emit: Emit, command: BookNoShow | ForfeitEntrant, reason: str) -> None:
    emit(EntrantForfeited(round=command.round, pod=command.pod, entrant_id=command.entrant_id, reason=reason))
    pod = emit.pod(command.round, command.pod)
    if pod.decided:
        _decide_pod(
            emit, command, pod.status, pod.places, totals=pod.totals, revision=pod.revision, reason=reason
        )
    elif len(pod.forfeited) >= len(pod.entrants) - 1:
        # Nobody is left to play against: the pod is decided now, whatever the match still brings.
        level = (1,) * len(pod.entrants)
        _decide_pod(emit, command, PodStatus.FORFEITED, level, revision=1, reason=reason)


def _decide_pod(
    emit: Emit,
    where: BookResult | AdjudicatePod | BookNoShow | ForfeitEntrant,
    status: PodStatus,
    places: Sequence[int],
    *,
    totals: tuple[int, ...] = (),
    revision: int,
    reason: str = "",
) -> None:
    pod, pod_size = emit.pod(where.round, where.pod), emit.state.setup.pod_size
    seats = [seat for seat, entrant_id in enumerate(pod.entrants) if entrant_id in pod.forfeited]
    final = ranked(places, seats)
    emit(
        PodDecided(
            round=where.round,
            pod=where.pod,
            status=status,
            places=final,
            scores=pod_scores(final, pod_size, seats)
            if final
            else void_scores(len(pod.entrants), pod_size, seats),
            totals=totals,
            match_id=pod.pod.match_id,
            revision=revision,
            reason=reason,
        )
    )
    _close(emit, where.round)


def _close(emit: Emit, round_number: int) -> None:
    """Ends the round with its last pod, and the tournament with its last round."""
    state = emit.state
    if state.stage is TournamentStage.FINISHED:
        emit.finish()
    if round_number != state.round or state.rounds[round_number - 1].finished:
        return
    if all(pod.decided for pod in state.rounds[round_number - 1].pods):
        emit(RoundFinished(round=round_number, at_ms=emit.now_ms))
        if round_number >= state.setup.rounds:
            emit.finish()


def _pod(emit: Emit, round_number: int, pod_number: int) -> PodState:
    pod = emit.pod(round_number, pod_number)
    if emit.state.stage is TournamentStage.ABORTED:
        emit.need_not_over()
    return pod


def _member_of(emit: Emit, round_number: int, pod_number: int, entrant_id: str) -> PodState:
    pod = _pod(emit, round_number, pod_number)
    emit.entrant(entrant_id)
    if entrant_id not in pod.entrants:
        raise Rejected(
            Code.UNKNOWN_ENTRANT,
            f"{entrant_id!r} does not play in round {round_number}, pod {pod_number}",
            "`majlis tournament pairings` shows who plays where.",
        )
    return pod


def _check_places(places: Sequence[int], pod: PodState) -> None:
    seats = len(pod.entrants)
    if len(places) != seats or not all(1 <= place <= seats for place in places):
        raise Rejected(
            Code.MALFORMED,
            f"places {list(places)} for {seats} seats",
            f"Give one place of 1 to {seats} for each seat, in seat order; equal places are shared.",
        )
