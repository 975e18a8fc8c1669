"""What the holder of a seat may ask besides moving: to sit down, to come back, to resign."""

from __future__ import annotations

from majlis.engine.decider import Rejected
from majlis.engine.match.clock import check_current, check_running_clock
from majlis.engine.match.evolve import Draft
from majlis.engine.match.flow import end, ranked, reject, start_when_complete
from majlis.engine.match.state import ABSENT, RESIGNED, SEATING, Act, MatchState
from majlis.engine.shuffle import ENTROPY_BYTES_MAX
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import (
    Controller,
    Resign,
    ReturnToSeat,
    SeatResigned,
    SeatReturnRequested,
    SeatTaken,
    SeatTakenOver,
    TakeSeat,
    Termination,
)
from majlis.engine.vocabulary.rejection import RejectionCode


def existing(state: MatchState, index: int | None) -> int:
    """The number of a seat that exists; raises Rejected(WRONG_SEAT) for any other."""
    if index is None or not 0 <= index < len(state.seats):
        raise reject(
            RejectionCode.WRONG_SEAT,
            f"there is no seat {index} at match {state.match_id}",
            f"Seats are numbered 0 to {len(state.seats) - 1}.",
        )
    return index


def not_yours(state: MatchState, index: int) -> Rejected:
    """The refusal for who does not play this seat now."""
    seat = state.seats[index]
    if seat.away == ABSENT:
        remedy = "Send return_to_seat: it is yours again at the next deal."
    else:
        remedy = "Ask the director." if seat.away else "Use the token of your own seat."
    return reject(
        RejectionCode.WRONG_SEAT, f"seat {index} is played by a {seat.controller.name.lower()}", remedy
    )


def take(draft: Draft, act: Act, command: TakeSeat) -> None:
    """A person sits down, and may add to the shuffle."""
    state = draft.state
    index = existing(state, act.actor_seat)
    check_running_clock(state)
    if state.seats[index].controller is not Controller.PERSON:
        raise not_yours(state, index)
    if state.seats[index].taken:
        raise reject(RejectionCode.SEAT_TAKEN, f"seat {index} is taken already", "It is yours: go on.")
    check_current(state, act.decision_id)
    if act.decision_id != SEATING:
        raise reject(RejectionCode.WRONG_PHASE, "seats are not being taken", "Send return_to_seat.")
    if len(command.entropy) > ENTROPY_BYTES_MAX:
        raise reject(
            RejectionCode.TOO_LARGE,
            f"{len(command.entropy)} bytes of entropy",
            f"Add at most {ENTROPY_BYTES_MAX} bytes.",
        )
    draft(SeatTaken(seat=index, entropy=command.entropy))
    start_when_complete(draft)


def come_back(draft: Draft, act: Act, command: ReturnToSeat) -> None:
    """Who was absent asks for the seat again; whom the director replaced comes back by the director only."""
    state = draft.state
    is_holder = act.actor_kind is ActorKind.SEAT
    index = existing(state, act.actor_seat if is_holder else command.seat)
    seat = state.seats[index]
    if seat.holder is not Controller.PERSON or seat.away == RESIGNED:
        raise not_yours(state, index)
    if not seat.away:
        raise reject(
            RejectionCode.SEAT_TAKEN, f"seat {index} is its holder's", "Nothing is to be done: go on."
        )
    if is_holder and seat.away != ABSENT:
        raise not_yours(state, index)
    if seat.returning:
        raise reject(RejectionCode.SEAT_TAKEN, f"seat {index} is given back at the next deal", "Wait for it.")
    draft(SeatReturnRequested(seat=index))


def resign(draft: Draft, act: Act, _command: Resign) -> None:
    """The holder gives the match up: the computer plays on, and the seat ends last (SND-O14)."""
    state = draft.state
    index = existing(state, act.actor_seat)
    check_running_clock(state)
    if state.seats[index].holder is not Controller.PERSON or index in state.resigned:
        raise not_yours(state, index)
    draft(SeatResigned(seat=index))
    draft(SeatTakenOver(seat=index, reason=RESIGNED))
    resigned = draft.state.resigned
    if len(state.seats) - len(resigned) < 2:
        end(draft, Termination.RESIGNED, ranked([1] * len(state.seats), resigned))
    else:
        start_when_complete(draft)
