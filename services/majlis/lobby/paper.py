"""Openings tried on paper: what no table would ever open is refused while somebody is there to hear it."""

from __future__ import annotations

from msgspec.structs import replace

from majlis.engine import match, registry
from majlis.engine.decider import Rejected
from majlis.engine.shuffle import SEED_BYTES
from majlis.engine.vocabulary.entry import ActorKind, Observed
from majlis.engine.vocabulary.match import Controller, OpenMatch, SeatSetup
from majlis.engine.vocabulary.rejection import RejectionCode

SEATS_MAX = 12
"""Of any game; more are not even looked at."""


def try_opening(opening: OpenMatch) -> None:
    """Decides the opening as a table will, with a seed and players of paper. Raises what the table would."""
    if len(opening.seats) > SEATS_MAX:
        raise too_many_seats(len(opening.seats))
    version = opening.rules_version or max(registry.game(opening.game).rules_versions)
    seats = tuple(_with_player(seat, number) for number, seat in enumerate(opening.seats))
    paper = replace(opening, seats=seats, rules_version=version, server_seed=bytes(SEED_BYTES))
    act = match.Act(ActorKind.LOBBY, None, "lobby", "paper", 0, paper, Observed())
    match.decide(None, act, "0-paper")


def too_many_seats(seats: int) -> Rejected:
    return Rejected(RejectionCode.BAD_SEATS, f"{seats} seats", f"no game has more than {SEATS_MAX}")


def _with_player(seat: SeatSetup, number: int) -> SeatSetup:
    person = seat.controller is Controller.PERSON and not seat.player_id
    return replace(seat, player_id=f"paper-{number}") if person else seat
