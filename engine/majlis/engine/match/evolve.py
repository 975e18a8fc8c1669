"""The fold: what each event and each entry makes of a match. Total and silent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine import options, registry
from majlis.engine.decider import Emitter, Setup
from majlis.engine.match.recent import remember
from majlis.engine.match.state import Act, Facts, MatchState, Seat
from majlis.engine.shuffle import Chance
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind, Command, Entry, Event
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    ClockCredited,
    ComputerLevel,
    Controller,
    CreditClock,
    DeadlinePassed,
    DecisionMissed,
    DecisionOpened,
    MatchEnded,
    MatchOpened,
    MatchPaused,
    MatchResumed,
    MatchStarted,
    OpenMatch,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    SeatResigned,
    SeatReturned,
    SeatReturnRequested,
    SeatTaken,
    SeatTakenOver,
    SubstituteComputer,
    TakeSeat,
)

MATCH_COMMANDS: Final[frozenset[type]] = frozenset(
    {OpenMatch, TakeSeat, DeadlinePassed, ReturnToSeat, Resign, Pause, Resume, Adjudicate, Abort, CreditClock}
    | {SubstituteComputer}
)
"""The commands every match knows; all others are a game's."""
_PERSON: Final = Controller.PERSON
_SEAT: Final = ActorKind.SEAT
_COMPUTER: Final = ActorKind.COMPUTER
_CLOCK: Final = ActorKind.CLOCK


class Draft(list[Event]):
    """The events of one command as they are decided, and the match they lead to."""

    __slots__ = ("at_ms", "state")

    def __init__(self, state: MatchState, at_ms: int, events: Iterable[Event] = ()) -> None:
        super().__init__(events)
        self.state = state
        self.at_ms = at_ms

    def __call__(self, event: Event) -> None:
        self.append(event)
        self.state = evolve(self.state, event, self.at_ms)

    def take(self, emitted: Emitter[Any]) -> None:
        """Adds what the game has decided and already folded."""
        self.extend(emitted)
        self.state = replace(self.state, game_state=emitted.state)


def apply(state: MatchState | None, entry: Entry, entry_hash: bytes) -> MatchState:
    """One entry folded in. `entry_hash`: SHA-256 of its stored bytes. Raises Unreadable when it is no whole entry."""
    command, observed, events = entry.command, entry.observed, entry.events
    if command is None or observed is None or not events:
        raise Unreadable("Entry", "it has no command, no time or no events")
    if state is None:
        state, events = born(entry.match_id, entry.rules_version, events[0]), events[1:]
    for event in events:
        state = evolve(state, event, observed.received_at_ms)
    act = Act(
        entry.actor_kind,
        entry.actor_seat,
        entry.actor_id,
        entry.command_id,
        entry.decision_id,
        command,
        observed,
    )
    return stamp(state, act, entry.number, entry_hash)


def born(match_id: str, rules_version: int, event: Event) -> MatchState:
    """A match after the first event of its first entry. Raises Unreadable when it is another."""
    if not isinstance(event, MatchOpened):
        raise Unreadable("match", f"{match_id} begins with {type(event).__name__}")
    defaults = registry.game(event.game).rules_versions[rules_version]
    seats = tuple(
        Seat(controller=seat.controller, level=seat.level or ComputerLevel.CLUB, holder=seat.controller)
        for seat in event.seats
    )
    facts = Facts(match_id, rules_version, options.complete(defaults, event.options), event)
    return MatchState(facts, seats, recent=(b"",) * (len(seats) + 1))


def evolve(state: MatchState, event: Event, at_ms: int) -> MatchState:
    """One event folded in; `at_ms` is the time of its entry."""
    change = _CHANGES.get(type(event))
    if change is not None:
        return change(state, event, at_ms)
    return _evolve_game(state, event)


def stamp(state: MatchState, act: Act, number: int, entry_hash: bytes) -> MatchState:
    """What the entry itself adds to its events: number, time, chain, who has moved, and the command's id."""
    seats, recent = state.seats, state.recent
    kind, seat = act.actor_kind, act.actor_seat or 0
    if kind is _SEAT or kind is _COMPUTER:
        seats = _with(seats, seat, _having_acted(seats[seat], kind, act.command))
    if kind is not _COMPUTER and kind is not _CLOCK:
        slot = seat if kind is _SEAT else len(recent) - 1
        memory = remember(recent[slot], act.command_id, number, act.decision_id, act.command)
        recent = _with(recent, slot, memory)
    return MatchState(
        state.facts,
        seats,
        number,
        entry_hash,
        act.observed.received_at_ms,
        state.started_at_ms,
        state.decision,
        state.paused_at_ms,
        state.resigned,
        recent,
        state.game_state,
        state.ended,
    )


def _having_acted(seat: Seat, kind: ActorKind, command: Command) -> Seat:
    own = kind is _SEAT or seat.holder is not _PERSON
    moves = 0 if type(command) in MATCH_COMMANDS else 1
    return Seat(
        seat.controller,
        seat.level,
        seat.holder,
        seat.taken,
        seat.away,
        seat.returning,
        0,
        seat.own_moves + (moves if own else 0),
        seat.computer_moves + (0 if own else moves),
        seat.entropy,
    )


def _with(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _change_seat(state: MatchState, index: int, **changes: Any) -> MatchState:
    return replace(state, seats=_with(state.seats, index, replace(state.seats[index], **changes)))


def _evolve_game(state: MatchState, event: Event) -> MatchState:
    if state.game_state is None:
        return state
    game = registry.GAMES[state.facts.opened.game].game
    return replace(state, game_state=game.evolve(state.game_state, event))


# --- what each event changes ---------------------------------------------------------------------------------------


def _match_opened(state: MatchState, _event: MatchOpened, _at_ms: int) -> MatchState:
    return state  # only the first event of a match opens it


def _seat_taken(state: MatchState, event: SeatTaken, _at_ms: int) -> MatchState:
    return _change_seat(state, event.seat, taken=True, entropy=event.entropy)


def _match_started(state: MatchState, event: MatchStarted, at_ms: int) -> MatchState:
    opened = state.facts.opened
    chance = Chance(opened.server_seed, event.player_entropy, opened.deal_context or state.facts.match_id)
    game = registry.game(opened.game)
    return replace(
        state,
        started_at_ms=at_ms,
        seats=tuple(replace(seat, entropy=b"") for seat in state.seats),
        game_state=game.initial(Setup(len(state.seats), state.facts.options, chance)),
    )


def _decision_opened(state: MatchState, event: DecisionOpened, _at_ms: int) -> MatchState:
    return replace(state, decision=event)


def _decision_missed(state: MatchState, event: DecisionMissed, _at_ms: int) -> MatchState:
    seat = state.seats[event.seat]
    own = seat.holder is not _PERSON
    return _change_seat(
        state,
        event.seat,
        missed=seat.missed + 1,
        own_moves=seat.own_moves + own,
        computer_moves=seat.computer_moves + (not own),
    )


def _seat_taken_over(state: MatchState, event: SeatTakenOver, _at_ms: int) -> MatchState:
    return _change_seat(
        state, event.seat, controller=Controller.COMPUTER, away=event.reason, returning=False, missed=0
    )


def _seat_return_requested(state: MatchState, event: SeatReturnRequested, _at_ms: int) -> MatchState:
    return _change_seat(state, event.seat, returning=True, taken=True)


def _seat_returned(state: MatchState, event: SeatReturned, _at_ms: int) -> MatchState:
    return _change_seat(state, event.seat, controller=_PERSON, away="", returning=False, missed=0)


def _seat_resigned(state: MatchState, event: SeatResigned, _at_ms: int) -> MatchState:
    return replace(state, resigned=(*state.resigned, event.seat))


def _match_paused(state: MatchState, event: MatchPaused, _at_ms: int) -> MatchState:
    return _evolve_game(replace(state, paused_at_ms=event.at_ms), event)


def _match_resumed(state: MatchState, event: MatchResumed, _at_ms: int) -> MatchState:
    stopped_ms = event.at_ms - (state.paused_at_ms if state.paused_at_ms is not None else event.at_ms)
    return _evolve_game(_postpone(replace(state, paused_at_ms=None), stopped_ms), event)


def _clock_credited(state: MatchState, event: ClockCredited, _at_ms: int) -> MatchState:
    return _evolve_game(_postpone(state, event.to_ms - event.from_ms), event)


def _match_ended(state: MatchState, event: MatchEnded, _at_ms: int) -> MatchState:
    return replace(state, ended=event, decision=None, paused_at_ms=None)


def _postpone(state: MatchState, by_ms: int) -> MatchState:
    decision = state.decision
    if decision is None or decision.due_ms == 0:
        return state
    return replace(state, decision=replace(decision, due_ms=decision.due_ms + by_ms))


_CHANGES: Final[dict[type, Callable[[MatchState, Any, int], MatchState]]] = {
    MatchOpened: _match_opened,
    SeatTaken: _seat_taken,
    MatchStarted: _match_started,
    DecisionOpened: _decision_opened,
    DecisionMissed: _decision_missed,
    SeatTakenOver: _seat_taken_over,
    SeatReturnRequested: _seat_return_requested,
    SeatReturned: _seat_returned,
    SeatResigned: _seat_resigned,
    MatchPaused: _match_paused,
    MatchResumed: _match_resumed,
    ClockCredited: _clock_credited,
    MatchEnded: _match_ended,
}
MATCH_EVENTS: Final = frozenset(_CHANGES)
"""The events every match knows; all others are a game's."""
