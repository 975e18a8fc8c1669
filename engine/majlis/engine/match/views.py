"""What may be seen of a match: its info, a viewer's view, what a viewer is told, and the result."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, get_args

from majlis.engine import options
from majlis.engine.decider import SPECTATOR
from majlis.engine.match.flow import game_of, waiting_for
from majlis.engine.match.state import MatchState, Seat
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.match import Controller, DecisionOpened
from majlis.engine.vocabulary.result import Result, SeatResult
from majlis.engine.vocabulary.view import Happening, MatchInfo, MatchView, SeatPrivateView, SeatView

_TOLD: frozenset[type] = frozenset(get_args(Happening))
"""The events of a match that everybody is told as they stand."""


def open_decision(state: MatchState) -> DecisionOpened | None:
    """The running deadline with the seats it waits for now; None while the match is paused and when it has ended."""
    decision = state.decision
    if decision is None or state.paused:
        return None
    return DecisionOpened(
        decision_id=decision.decision_id,
        seats=waiting_for(state),
        what_for=decision.what_for,
        due_ms=decision.due_ms,
    )


def info(state: MatchState) -> MatchInfo:
    """What does not change during the match."""
    opened = state.facts.opened
    return MatchInfo(
        match_id=state.match_id,
        game=opened.game,
        rules_version=state.rules_version,
        options=options.texts(state.options),
        player_ids=tuple(seat.player_id for seat in opened.seats),
        commitment=opened.commitment,
        tournament_id=opened.tournament_id,
        round=opened.round,
        pod=opened.pod,
    )


def public_view(state: MatchState) -> MatchView:
    """What a spectator sees."""
    decision = state.decision
    return MatchView(
        seats=tuple([_seat_view(seat.controller, seat.taken, seat.missed) for seat in state.seats]),
        started=state.started,
        paused=state.paused,
        decision_id=decision.decision_id if decision is not None else 0,
        waiting_for=waiting_for(state),
        what_for=decision.what_for if decision is not None else "",
        due_ms=decision.due_ms if decision is not None else 0,
        ended=state.ended,
        game_view=game_of(state).view(state.game_state, SPECTATOR) if state.started else None,
    )


def private_view(state: MatchState, seat: int) -> SeatPrivateView:
    """What that seat sees on top."""
    return SeatPrivateView(
        seat=seat, game_view=game_of(state).view(state.game_state, seat) if state.started else None
    )


def view(state: MatchState, viewer: int) -> MatchView | SeatPrivateView:
    """The public view for SPECTATOR; for a seat what it alone sees."""
    return public_view(state) if viewer == SPECTATOR else private_view(state, viewer)


def happening(state: MatchState, event: Event, viewer: int) -> Happening | None:
    """What the viewer may be told of an event.

    For SPECTATOR what everybody is told; for a seat what it alone is told instead, None where the public one says all.
    """
    return next(iter(happenings(state, (event,), viewer)), None)


def happenings(state: MatchState, events: Iterable[Event], viewer: int) -> list[Happening]:
    """What the viewer may be told of several events, in their order; see `happening`."""
    of_game = game_of(state).happening
    told: list[Any] = []
    for event in events:
        if type(event) not in _TOLD:
            one = of_game(event, viewer)
            if one is not None:
                told.append(one)
        elif viewer == SPECTATOR:
            told.append(event)
    return told


def told_alone(
    state: MatchState, events: Iterable[Event], seats: Iterable[int]
) -> dict[int, list[Happening]]:
    """What single seats alone are told of events, by seat; a seat that is told nothing is not in it."""
    of_game, seats = game_of(state).happening, tuple(seats)
    told: dict[int, list[Happening]] = {}
    for event in events:
        if type(event) not in _TOLD:
            for seat in seats:
                one = of_game(event, seat)
                if one is not None:
                    told.setdefault(seat, []).append(one)
    return told


def result(state: MatchState) -> Result:
    """The result of a match that has ended: revision 1. Raises ValueError before."""
    ended, opened = state.ended, state.facts.opened
    if ended is None:
        raise ValueError(f"match {state.match_id} has not ended")
    places = ended.places or (0,) * len(state.seats)
    totals = ended.totals or (0,) * len(state.seats)
    return Result(
        match_id=state.match_id,
        revision=1,
        game=opened.game,
        rules_version=state.rules_version,
        tournament_id=opened.tournament_id,
        round=opened.round,
        pod=opened.pod,
        termination=ended.termination,
        seats=tuple(
            _seat_result(seat, setup.player_id, place, total)
            for seat, setup, place, total in zip(state.seats, opened.seats, places, totals, strict=True)
        ),
        started_at_ms=state.started_at_ms,
        ended_at_ms=ended.at_ms,
        entries=state.number,
        position_hash=ended.position_hash,
        reason=ended.reason,
    )


def _seat_result(seat: Seat, player_id: str, place: int, total: int) -> SeatResult:
    return SeatResult(
        player_id=player_id,
        place=place,
        total=total,
        own_moves=seat.own_moves,
        computer_moves=seat.computer_moves,
        controller=seat.controller,
        opened_as_computer=seat.holder is Controller.COMPUTER,
    )


@lru_cache(256)
def _seat_view(controller: Controller, taken: bool, missed: int) -> SeatView:
    return SeatView(controller=controller, taken=taken, missed=missed)
