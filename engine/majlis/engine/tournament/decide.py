"""Decisions on a tournament: registration, rounds, results and what a director may do.

`decide` raises Rejected and changes nothing, or returns the events that the command causes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from majlis.engine.decider import Rejected
from majlis.engine.shuffle import SEED_BYTES
from majlis.engine.tournament.emit import Emit
from majlis.engine.tournament.pairing import pair
from majlis.engine.tournament.results import adjudicate_pod, book_no_show, book_result, forfeit_entrant
from majlis.engine.tournament.state import ENTRANTS_MAX, POD_SIZES, ROUNDS_MAX, Act, TournamentState
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import Controller
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    AbortTournament,
    AdjudicatePod,
    BookNoShow,
    BookResult,
    CreateTournament,
    Entrant,
    EntrantRegistered,
    EntrantReturned,
    EntrantWithdrawn,
    ForfeitEntrant,
    PairRound,
    PauseTournament,
    RegisterEntrant,
    ResumeTournament,
    ReturnEntrant,
    RoundPaired,
    StartTournament,
    TournamentAborted,
    TournamentCreated,
    TournamentEvent,
    TournamentPaused,
    TournamentResumed,
    TournamentSetup,
    TournamentStage,
    TournamentStarted,
    WithdrawEntrant,
)

REASONED: Final = (AdjudicatePod, ForfeitEntrant, PauseTournament, AbortTournament, WithdrawEntrant)
"""What a director may do only with a reason."""


REASON_MAX: Final = 500


def decide(state: TournamentState | None, act: Act, tournament_id: str) -> list[TournamentEvent]:
    """The events of one command, at least one. Raises Rejected."""
    command = act.command
    if state is None:
        if isinstance(command, CreateTournament):
            return [_created(command, act)]
        raise Rejected(
            Code.UNKNOWN_TOURNAMENT,
            f"there is no tournament {tournament_id!r}",
            "`majlis tournament list` shows them.",
        )
    if act.actor_kind is ActorKind.DIRECTOR and isinstance(command, REASONED) and not command.reason.strip():
        raise Rejected(
            Code.REASON_REQUIRED, "a director's intervention needs a reason", "Say why in `reason`."
        )
    if len(getattr(command, "reason", "")) > REASON_MAX:
        raise Rejected(Code.TOO_LARGE, "the reason is too long", f"Say it in {REASON_MAX} characters.")
    decision = _DECISIONS.get(type(command))
    if decision is None:
        raise Rejected(
            Code.TOURNAMENT_EXISTS,
            f"there is a tournament {tournament_id!r} already",
            "Choose another id, or leave it empty.",
        )
    emit = Emit(state, act.received_at_ms)
    decision(emit, command)
    return emit.events


def _created(command: CreateTournament, act: Act) -> TournamentCreated:
    setup = command.setup
    if setup is None:
        raise _malformed("no setup is given", "Fill in `setup`.")
    _check_setup(setup)
    return TournamentCreated(setup=setup, at_ms=act.received_at_ms)


def _check_setup(setup: TournamentSetup) -> None:
    sizes = f"{POD_SIZES.start} to {POD_SIZES.stop - 1}"
    if not setup.name or not setup.game:
        raise _malformed("a tournament needs a name and a game", "Fill in `name` and `game`.")
    if not 1 <= setup.rounds <= ROUNDS_MAX:
        raise _malformed(f"{setup.rounds} rounds", f"Give 1 to {ROUNDS_MAX} rounds.")
    if setup.pod_size not in POD_SIZES:
        raise _malformed(f"pods of {setup.pod_size}", f"Give a pod size of {sizes}.")
    if setup.min_pod_size and not POD_SIZES.start <= setup.min_pod_size <= setup.pod_size:
        raise _malformed(
            f"smallest pod {setup.min_pod_size}", f"Give {POD_SIZES.start} to {setup.pod_size}, or 0."
        )
    if len(setup.rng_seed) != SEED_BYTES:
        raise _malformed(f"an rng_seed of {len(setup.rng_seed)} bytes", f"Give {SEED_BYTES} random bytes.")
    if setup.max_entrants > ENTRANTS_MAX:
        raise _malformed(f"places for {setup.max_entrants} entrants", f"Give at most {ENTRANTS_MAX}, or 0.")
    if setup.byes_score_percent > 100:
        raise _malformed(f"byes score {setup.byes_score_percent} %", "Give at most 100.")


def _register(emit: Emit, command: RegisterEntrant) -> None:
    entrant, state = command.entrant, emit.state
    if entrant is None or not entrant.entrant_id or not entrant.name:
        raise _malformed("an entrant needs an id and a name", "Fill in `entrant`.")
    _check_controller(entrant)
    _need_stage(emit, "entrants can register only before the start", TournamentStage.REGISTRATION)
    known = state.entrants.get(entrant.entrant_id)
    if known is not None and not known.withdrawn:
        raise Rejected(
            Code.ALREADY_REGISTERED,
            f"{known.entrant.name!r} is registered already",
            "Nothing is left to do.",
        )
    places = min(state.setup.max_entrants or ENTRANTS_MAX, ENTRANTS_MAX)
    if len(state.active) >= places or (known is None and len(state.entrants) >= ENTRANTS_MAX):
        raise Rejected(
            Code.TOURNAMENT_FULL, f"all {places} places are taken", "Wait until somebody withdraws."
        )
    if known is not None:
        emit(EntrantReturned(entrant_id=entrant.entrant_id))
        return
    taken = entrant.name.casefold()
    if any(one.entrant.name.casefold() == taken for one in state.entrants.values()):
        raise Rejected(
            Code.NAME_TAKEN, f"there is an entrant {entrant.name!r} already", "Register under another name."
        )
    emit(EntrantRegistered(entrant=_seeded(entrant, len(state.entrants) + 1)))


def _check_controller(entrant: Entrant) -> None:
    if entrant.controller not in (Controller.PERSON, Controller.COMPUTER):
        raise _malformed("an entrant is a person or a computer", "Give one of these as `controller`.")
    if entrant.controller is Controller.COMPUTER and entrant.level is None:
        raise _malformed("a computer without a level", "Give its `level`.")
    if not entrant.player_ids:
        raise _malformed("an entrant without players", "Fill in `player_ids`.")


def _seeded(entrant: Entrant, number: int) -> Entrant:
    if entrant.seeding:
        return entrant
    return Entrant(
        entrant_id=entrant.entrant_id,
        name=entrant.name,
        player_ids=entrant.player_ids,
        seeding=number,
        controller=entrant.controller,
        level=entrant.level,
    )


def _withdraw(emit: Emit, command: WithdrawEntrant) -> None:
    known = emit.entrant(command.entrant_id)
    emit.need_not_over()
    if known.withdrawn:
        raise Rejected(
            Code.WRONG_STAGE, f"{known.entrant.name!r} has withdrawn already", "Nothing is left to do."
        )
    emit(EntrantWithdrawn(entrant_id=command.entrant_id, reason=command.reason))


def _return(emit: Emit, command: ReturnEntrant) -> None:
    known = emit.entrant(command.entrant_id)
    emit.need_not_over()
    if not known.withdrawn:
        raise Rejected(
            Code.WRONG_STAGE, f"{known.entrant.name!r} has not withdrawn", "Nothing is left to do."
        )
    emit(EntrantReturned(entrant_id=command.entrant_id))


def _start(emit: Emit, _command: StartTournament) -> None:
    _need_stage(emit, "the tournament has been started already", TournamentStage.REGISTRATION)
    needed, registered = emit.state.min_pod_size, len(emit.state.active)
    if registered < needed:
        raise Rejected(
            Code.TOO_FEW_ENTRANTS,
            f"{registered} entrants, and a pod needs {needed}",
            "Register more entrants first.",
        )
    emit(TournamentStarted(at_ms=emit.now_ms))


def _pair(emit: Emit, command: PairRound) -> None:
    _need_stage(emit, "a round can be paired only between rounds", TournamentStage.BETWEEN_ROUNDS)
    if emit.state.paused:
        raise Rejected(Code.WRONG_STAGE, "the tournament is paused", "Resume it first.")
    if command.round != emit.state.round + 1:
        raise Rejected(
            Code.WRONG_STAGE,
            f"the next round is {emit.state.round + 1}, not {command.round}",
            "Pair that one.",
        )
    if not command.shards:
        raise _malformed("no number of shards", "Fill in `shards`.")
    if len(emit.state.active) < emit.state.min_pod_size:
        emit.finish()
        return
    pods, byes = pair(emit.state, command.shards)
    emit(RoundPaired(round=command.round, pods=pods, byes=byes, at_ms=emit.now_ms))


def _pause(emit: Emit, command: PauseTournament) -> None:
    _need_stage(
        emit,
        "only a tournament that is being played can be paused",
        TournamentStage.PLAYING,
        TournamentStage.BETWEEN_ROUNDS,
    )
    if emit.state.paused:
        raise Rejected(Code.WRONG_STAGE, "the tournament is paused already", "Nothing is left to do.")
    emit(TournamentPaused(reason=command.reason, at_ms=emit.now_ms))


def _resume(emit: Emit, command: ResumeTournament) -> None:
    if not emit.state.paused:
        raise Rejected(Code.WRONG_STAGE, "the tournament is not paused", "Nothing is left to do.")
    emit(TournamentResumed(reason=command.reason, at_ms=emit.now_ms))


def _abort(emit: Emit, command: AbortTournament) -> None:
    emit.need_not_over()
    emit(TournamentAborted(reason=command.reason, at_ms=emit.now_ms))


def _need_stage(emit: Emit, why: str, *stages: TournamentStage) -> None:
    if emit.state.stage not in stages:
        raise Rejected(
            Code.WRONG_STAGE,
            f"{why}; it is now: {emit.state.stage.name.lower().replace('_', ' ')}",
            "`majlis tournament show` says how far the tournament is.",
        )


def _malformed(detail: str, remedy: str) -> Rejected:
    return Rejected(Code.MALFORMED, detail, remedy)


_DECISIONS: Final[dict[type, Callable[[Emit, Any], None]]] = {
    RegisterEntrant: _register,
    WithdrawEntrant: _withdraw,
    ReturnEntrant: _return,
    StartTournament: _start,
    PairRound: _pair,
    BookResult: book_result,
    BookNoShow: book_no_show,
    AdjudicatePod: adjudicate_pod,
    ForfeitEntrant: forfeit_entrant,
    PauseTournament: _pause,
    ResumeTournament: _resume,
    AbortTournament: _abort,
}
