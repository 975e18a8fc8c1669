"""Ratings: the results of a game's matches, in order, folded into its ladder.

OpenSkill's Plackett–Luce model (Weng & Lin 2011, algorithm 4), each seat a side of its own. What is ours:

* An aborted match is not rated, nor one with fewer than two players who have an id, nor one whose player holds two seats.
  An anonymous computer is nobody to gain on: its seat is left out, the places of the others count among themselves.
* A seat that the computer played for a while counts by the share of decisions that its holder made: the changes of both
  mu and sigma are scaled by it. A seat opened as a computer's is that computer player's own work.
* A correction takes the place of the result it corrects: the ladder is the one that would have come of it at once.

The same results in the same order give the same numbers, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from openskill.models import PlackettLuce

from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.result import Result, SeatResult

_MODEL: Final = PlackettLuce()


class Rated(Struct, frozen=True):
    """A player's rating in one game: skill mu with uncertainty sigma, and what it rests on."""

    mu: float
    sigma: float
    matches: int = 0
    last_match_ms: int = 0

    @property
    def rating(self) -> int:
        """The one number shown: careful about those of whom little is known."""
        return round(1000 + 40 * (self.mu - 3 * self.sigma))


NEWCOMER: Final = Rated(_MODEL.mu, _MODEL.sigma)

Ladder = dict[str, Rated]
"""Player id -> rating, in one game."""


def fault(result: Result) -> str:
    """Why this cannot be the result of a match, whatever version wrote it; empty where it can."""
    count = len(result.seats)
    aborted = result.termination is Termination.ABORTED
    faults = {
        "it names no match": not result.match_id,
        "it names no game": not result.game,
        "its revision is 0": result.revision == 0,
        "it has fewer than two seats": count < 2,
        "a place is missing": not aborted and any(seat.place == 0 for seat in result.seats),
        "an aborted match has no places": aborted and any(seat.place for seat in result.seats),
        "a place is above the number of seats": any(seat.place > count for seat in result.seats),
        "nobody is first": not aborted and bool(count) and all(seat.place != 1 for seat in result.seats),
    }
    return next((text for text, is_so in faults.items() if is_so), "")


def corrects(result: Result, game: str, revision: int) -> bool:
    """Whether it takes the place of the result of its match that was known so far."""
    return result.game == game and result.revision > revision


def rated_seats(result: Result) -> tuple[SeatResult, ...]:
    """The seats that count; none where the match is not rated."""
    known = tuple(seat for seat in result.seats if seat.player_id)
    players = {seat.player_id for seat in known}
    if result.termination is Termination.ABORTED or len(players) < 2 or len(players) < len(known):
        return ()
    return known


def human_share(seat: SeatResult) -> float:
    """How much of the seat's play was its holder's: 0 to 1."""
    moves = seat.own_moves + seat.computer_moves
    if seat.opened_as_computer or moves == 0:
        return 1.0
    return seat.own_moves / moves


def rate(result: Result, before: Mapping[str, Rated]) -> Ladder:
    """The new ratings of those whom the match changes; who is not in `before` is a newcomer."""
    seats = rated_seats(result)
    if not seats:
        return {}
    old = [before.get(seat.player_id, NEWCOMER) for seat in seats]
    sides = [[_MODEL.rating(rated.mu, rated.sigma)] for rated in old]
    new = _MODEL.rate(sides, ranks=[float(seat.place) for seat in seats])
    changed: Ladder = {}
    for seat, was, (now,) in zip(seats, old, new, strict=True):
        share = human_share(seat)
        if share > 0:
            changed[seat.player_id] = Rated(
                mu=_part_way(was.mu, now.mu, share),
                sigma=_part_way(was.sigma, now.sigma, share),
                matches=was.matches + 1,
                last_match_ms=max(was.last_match_ms, result.ended_at_ms),
            )
    return changed


def _part_way(old: float, new: float, share: float) -> float:
    return new if share == 1.0 else old + share * (new - old)


def fold(results: Iterable[Result]) -> dict[str, Ladder]:
    """The ladder of each game, from results in the order of their stream; those with a fault are left out.

    Of a match's results the highest revision counts, in the place of the first one.
    """
    newest: dict[str, Result] = {}
    for result in results:
        known = newest.get(result.match_id)
        if not fault(result) and (known is None or corrects(result, known.game, known.revision)):
            newest[result.match_id] = result
    ladders: dict[str, Ladder] = {}
    for result in newest.values():
        ladder = ladders.setdefault(result.game, {})
        ladder.update(rate(result, ladder))
    return ladders
