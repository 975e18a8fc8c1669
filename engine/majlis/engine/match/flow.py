"""What follows from a command by itself: the start, the next decision, seats given back, the end."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from majlis.engine import registry
from majlis.engine.decider import Deadline, Game, Rejected
from majlis.engine.match.evolve import Draft
from majlis.engine.match.state import ABSENT, MISSED_LIMIT, MatchState, Seat
from majlis.engine.shuffle import combine_entropy
from majlis.engine.vocabulary.match import (
    Controller,
    DecisionMissed,
    DecisionOpened,
    MatchEnded,
    MatchStarted,
    SeatReturned,
    SeatTakenOver,
    Termination,
)
from majlis.engine.vocabulary.rejection import RejectionCode


def game_of(state: MatchState) -> Game[Any]:
    """The rules this match is played by."""
    return registry.GAMES[state.facts.opened.game].game


def reject(code: RejectionCode, detail: str, remedy: str) -> Rejected:
    """A refusal, to be raised."""
    return Rejected(code, detail, remedy)


def waiting_for(state: MatchState) -> tuple[int, ...]:
    """The seats the open decision waits for now."""
    if state.ended is not None:
        return ()
    if not state.started:
        return tuple(i for i, seat in enumerate(state.seats) if _is_expected(seat))
    deadline = game_of(state).deadline(state.game_state)
    return deadline.seats if deadline is not None else ()


def _is_expected(seat: Seat) -> bool:
    return seat.controller is Controller.PERSON and not seat.taken


def position_hash(state: MatchState) -> bytes:
    """SHA-256 of the canonical text position; of nothing while the match has not started."""
    text = game_of(state).position(state.game_state) if state.started else ""
    return sha256(text.encode()).digest()


def start_when_complete(draft: Draft) -> None:
    """Begins the match when no person's seat is expected any more. A paused match begins when it is resumed."""
    state = draft.state
    if state.started or state.paused or state.ended is not None or waiting_for(state):
        return
    # In duplicate events all tables play the same cards: there the players add nothing.
    added = [] if state.facts.opened.deal_context else [seat.entropy for seat in state.seats]
    draft(MatchStarted(player_entropy=combine_entropy(added)))
    game = game_of(state)
    draft.take(game.start(draft.state.game_state))
    settle(draft, game, deal_before=1)


def settle(draft: Draft, game: Game[Any], deal_before: int) -> None:
    """After the game's events: the end, or who is back in the new deal and what is to be decided next."""
    outcome = game.outcome(draft.state.game_state)
    if outcome is not None:
        end(draft, outcome.termination, ranked(outcome.places, draft.state.resigned), outcome.totals)
        return
    if game.deal(draft.state.game_state) != deal_before:
        _give_back(draft)
    deadline = game.deadline(draft.state.game_state)
    if deadline is not None:
        _open(draft, deadline)


def _give_back(draft: Draft) -> None:
    """RULES §6.2: the computer has an absent player's seat for the deal, in tournaments until the player is back."""
    casual = not draft.state.facts.opened.tournament_id
    for index, seat in enumerate(draft.state.seats):
        if seat.returning or (casual and seat.away == ABSENT and seat.taken):
            draft(SeatReturned(seat=index))


def _open(draft: Draft, deadline: Deadline) -> None:
    current, due_ms = draft.state.decision, deadline.due_ms
    if (
        current is not None
        and current.decision_id == deadline.decision_id
        and due_ms in (None, current.due_ms)
    ):
        return
    if due_ms is None:
        due_ms = draft.at_ms + deadline.timeout_ms if deadline.timeout_ms is not None else 0
    draft(
        DecisionOpened(
            decision_id=deadline.decision_id, seats=deadline.seats, what_for=deadline.what_for, due_ms=due_ms
        )
    )


def miss(draft: Draft, index: int) -> None:
    """The clock decides for this seat: after the third time in a row the computer takes a person's seat."""
    draft(DecisionMissed(seat=index))
    seat = draft.state.seats[index]
    if seat.controller is Controller.PERSON and seat.missed >= MISSED_LIMIT:
        draft(SeatTakenOver(seat=index, reason=ABSENT))


def end(
    draft: Draft,
    termination: Termination,
    places: Sequence[int] = (),
    totals: Sequence[int] = (),
    reason: str = "",
) -> None:
    """The ending, with the hash of the position it leaves."""
    draft(
        MatchEnded(
            termination=termination,
            places=tuple(places),
            totals=tuple(totals),
            position_hash=position_hash(draft.state),
            reason=reason,
            at_ms=draft.at_ms,
        )
    )


def ranked(places: Sequence[int], resigned: Sequence[int]) -> tuple[int, ...]:
    """The places when those who resigned come last, whoever resigned first behind the others (SND-O14)."""
    # Sorted by this, best first; equal keys share a place.
    keys = [
        (resigned[::-1].index(seat) + 1 if seat in resigned else 0, place)
        for seat, place in enumerate(places)
    ]
    return tuple(1 + sum(other < key for other in keys) for key in keys)
