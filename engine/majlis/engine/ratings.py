"""Ladders: a fold of results, one ladder per game, by OpenSkill's Plackett–Luce model.

A seat that the computer partly played counts by the share its holder played of it: both the change of the mean and
that of the uncertainty are scaled by it. (OpenSkill's own `weights` does the opposite for a partner who was present.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from openskill.models import PlackettLuce

from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.result import Result, SeatResult

_MODEL: Final = PlackettLuce()
_SHOWN_BASE: Final = 1000
_SHOWN_SCALE: Final = 40


class Rating(Struct, frozen=True):
    """A player's strength in one game: mean and uncertainty in OpenSkill's units, and what they rest on."""

    mu: float = 25.0
    sigma: float = 25.0 / 3
    matches: int = 0
    last_match_ms: int = 0

    @property
    def shown(self) -> int:
        """What people see: cautious, since three uncertainties below the mean; 1000 for a newcomer."""
        return round(_SHOWN_BASE + _SHOWN_SCALE * (self.mu - 3 * self.sigma))


NEWCOMER: Final = Rating()


def holders_share(seat: SeatResult) -> float:
    """How much of the seat its holder played: 0 to 1. A computer's own seat is wholly its own."""
    if seat.opened_as_computer:
        return 1.0
    moves = seat.own_moves + seat.computer_moves
    return seat.own_moves / moves if moves else 0.0


def is_rated(result: Result) -> bool:
    """Aborted matches have no places, and alone nobody can be measured."""
    return (
        result.termination is not Termination.ABORTED
        and len(result.seats) > 1
        and all(seat.place for seat in result.seats)
    )


def rate(result: Result, ratings: Mapping[str, Rating]) -> dict[str, Rating]:
    """The new ratings of those who took part: player id -> rating. Empty where the match is not rated.

    `ratings`: theirs before; whoever is missing is a newcomer. Anonymous computers are newcomers and keep nothing.
    """
    if not is_rated(result):
        return {}
    before = [ratings.get(seat.player_id, NEWCOMER) for seat in result.seats]
    teams = [[_MODEL.rating(mu=rating.mu, sigma=rating.sigma)] for rating in before]
    rated = _MODEL.rate(teams, ranks=[float(seat.place) for seat in result.seats])
    return {
        seat.player_id: _moved(old, team[0].mu, team[0].sigma, holders_share(seat), result.ended_at_ms)
        for seat, old, team in zip(result.seats, before, rated, strict=True)
        if seat.player_id
    }


def _moved(old: Rating, mu: float, sigma: float, share: float, at_ms: int) -> Rating:
    return Rating(
        mu=old.mu + share * (mu - old.mu),
        sigma=old.sigma + share * (sigma - old.sigma),
        matches=old.matches + 1,
        last_match_ms=at_ms,
    )
