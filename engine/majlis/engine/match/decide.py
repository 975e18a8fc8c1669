"""The decisions of a match: from a command to what happens, or a refusal that changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine import registry
from majlis.engine.match import clock, direct, seats
from majlis.engine.match.evolve import Draft
from majlis.engine.match.flow import game_of, reject, settle
from majlis.engine.match.opening import TEXT_MAX, already_open, open_match
from majlis.engine.match.recent import recall
from majlis.engine.match.state import SEATING, Act, MatchState
from majlis.engine.vocabulary.entry import ActorKind, Observed
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    Controller,
    CreditClock,
    DeadlinePassed,
    OpenMatch,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    SubstituteComputer,
    TakeSeat,
)
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import COMMAND_NAMES

_SEAT: Final = ActorKind.SEAT
_DIRECTORS: Final = frozenset({ActorKind.DIRECTOR, ActorKind.LOBBY})
_HOLDERS: Final = frozenset({_SEAT})

_RULES: Final[dict[type, tuple[frozenset[ActorKind], Callable[[Draft, Act, Any], None]]]] = {
    OpenMatch: (frozenset({ActorKind.LOBBY}), already_open),
    TakeSeat: (_HOLDERS, seats.take),
    ReturnToSeat: (_HOLDERS | _DIRECTORS, seats.come_back),
    Resign: (_HOLDERS, seats.resign),
    DeadlinePassed: (frozenset({ActorKind.CLOCK}), clock.deadline_passed),
    CreditClock: (frozenset({ActorKind.PLATFORM}), clock.credit),
    Pause: (_DIRECTORS, direct.pause),
    Resume: (_DIRECTORS, direct.resume),
    Adjudicate: (_DIRECTORS, direct.adjudicate),
    Abort: (_DIRECTORS, direct.abort),
    SubstituteComputer: (_DIRECTORS, direct.substitute),
}
"""Who may give a command of the match, and what it does."""
_PLAYERS: Final = {_SEAT: Controller.PERSON, ActorKind.COMPUTER: Controller.COMPUTER}
"""Who may move for a seat, by who controls it."""


def decide(state: MatchState | None, act: Act, match_id: str) -> Draft:
    """The events of the command, and the match they lead to (without what the entry itself adds: `stamp`).

    `state` is None where no such match is known: then only OpenMatch is accepted. Raises Rejected.
    """
    if state is None:
        return open_match(act, match_id)
    _check_texts(act)
    draft = Draft(state, act.observed.received_at_ms)
    rule = _RULES.get(type(act.command))
    if rule is None:
        _play(draft, act)
        return draft
    actors, run = rule
    if act.actor_kind not in actors:
        name = COMMAND_NAMES[type(act.command)]
        raise reject(
            RejectionCode.FORBIDDEN, f"{name} is not for {act.actor_kind.name.lower()}", "Ask the director."
        )
    if run is not already_open:
        _check_running(state)
    run(draft, act, act.command)
    return draft


def prepared(state: MatchState | None, act: Act) -> Act:
    """The act as it is stored: at its time within the match, which never goes backwards, and with the rules version
    it opens, so that years later it is decided alike."""
    command = act.command
    if state is None:
        if isinstance(command, OpenMatch) and not command.rules_version:
            newest = max(registry.game(command.game).rules_versions)
            return replace(act, command=replace(command, rules_version=newest))
        return act
    if act.observed.received_at_ms >= state.last_ms:
        return act
    observed = Observed(received_at_ms=state.last_ms, round_trip_ms=act.observed.round_trip_ms)
    return replace(act, observed=observed)


def accepted_before(state: MatchState, act: Act) -> int | None:
    """The number of the entry in which this very command was accepted; None when it is new.

    Covers the last 32 commands of each seat, and of everybody else together. Computers and the clock do not retry: a
    second answer meets a closed decision. Raises Rejected(DUPLICATE_COMMAND) when the id stood for another command.
    """
    if act.actor_kind in (ActorKind.COMPUTER, ActorKind.CLOCK):
        return None
    slot = seats.existing(state, act.actor_seat) if act.actor_kind is _SEAT else -1
    found = recall(state.recent[slot], act.command_id, act.decision_id, act.command)
    if found is None:
        return None
    number, is_same = found
    if not is_same:
        raise reject(
            RejectionCode.DUPLICATE_COMMAND,
            f"command id {act.command_id!r} stands for another command, accepted as entry {number}",
            "Give every command an id of its own.",
        )
    return number


def _check_texts(act: Act) -> None:
    if len(act.command_id) > TEXT_MAX or len(act.actor_id) > TEXT_MAX:
        raise reject(
            RejectionCode.TOO_LARGE, f"an id is longer than {TEXT_MAX} characters", "Give a shorter one."
        )
    if (
        not act.command_id
        and act.actor_kind is not ActorKind.CLOCK
        and act.actor_kind is not ActorKind.COMPUTER
    ):
        raise reject(
            RejectionCode.MALFORMED, "the command has no id", "Give it 1 to 64 characters of your own."
        )


def _check_running(state: MatchState) -> None:
    if state.ended is not None:
        raise reject(
            RejectionCode.MATCH_FINISHED, f"match {state.match_id} has ended", "Its record is in the archive."
        )


def _play(draft: Draft, act: Act) -> None:
    """A move of the game."""
    state = draft.state
    game = game_of(state)
    command = act.command
    controller = _PLAYERS.get(act.actor_kind)
    if controller is None:
        raise reject(
            RejectionCode.FORBIDDEN, f"{act.actor_kind.name.lower()} makes no moves", "Leave it to the seats."
        )
    _check_running(state)
    index = seats.existing(state, act.actor_seat)
    if state.seats[index].controller is not controller:
        raise seats.not_yours(state, index)
    _check_open(state, act, index)
    if not COMMAND_NAMES[type(command)].startswith(game.key):
        raise reject(
            RejectionCode.WRONG_PHASE,
            f"{COMMAND_NAMES[type(command)]} is no command of {game.key}",
            f"Send commands of {game.key}.",
        )
    deal_before = game.deal(state.game_state)
    draft.take(game.decide(state.game_state, index, command, act.observed))
    settle(draft, game, deal_before)


def _check_open(state: MatchState, act: Act, index: int) -> None:
    """Whether the decision that the act names is open and waits for this seat."""
    clock.check_current(state, act.decision_id)
    decision = state.decision
    if decision is None or act.decision_id == SEATING:
        raise reject(RejectionCode.WRONG_PHASE, "seats are being taken", "Send take_seat.")
    if decision.due_ms and act.observed.received_at_ms >= decision.due_ms:
        raise reject(
            RejectionCode.STALE_DECISION, "the time for this decision is over", "Wait for the next view."
        )
    deadline = game_of(state).deadline(state.game_state)
    if deadline is None or index not in deadline.seats:
        if index in decision.seats:
            raise reject(
                RejectionCode.STALE_DECISION,
                f"seat {index} has decided already",
                "Wait for the next decision.",
            )
        raise reject(
            RejectionCode.NOT_YOUR_TURN, f"this decision is not seat {index}'s", "Wait for your turn."
        )
