"""What a deal and a match are worth (NUM-37 to NUM-51)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import Frame, team_of

RANK_POINTS: Final = (40, 32, 25, 19, 14)
"""NUM-45."""
RANKED: Final = len(RANK_POINTS)


def bonus(cards: int) -> int:
    """NUM-48: four cards in one calculation are a masterstroke."""
    return max(0, 7 * (cards - 3))


def finishers(players: int) -> int:
    """NUM-39, NUM-40: when so many are out the round ends."""
    return players - 1 if players <= RANKED else RANKED


def is_round_over(frame: Frame, remaining: Sequence[int]) -> bool:
    """NUM-39, NUM-40, NUM-44."""
    if len(frame.out) >= finishers(len(frame.players)):
        return True
    return len({team_of(frame, seat) for seat in remaining}) < 2


def ranks_of(frame: Frame, rest: Sequence[int]) -> tuple[int, ...]:
    """By seat, 0 for none: who is out in that order, then the rest in the order given."""
    ranks = [0] * frame.seats
    for rank, seat in enumerate((*frame.out, *rest), start=1):
        ranks[seat] = rank
    return tuple(ranks)


def points_of(options: Options, ranks: Sequence[int], bonuses: Sequence[int]) -> tuple[int, ...]:
    """NUM-45 to NUM-48: masterstrokes count with the points of a rank (NUM-O21, NUM-O22)."""
    keeps = options.nonfinisher_bonus == "yes"
    points = []
    for rank, strokes in zip(ranks, bonuses, strict=True):
        if 1 <= rank <= RANKED:
            points.append(RANK_POINTS[rank - 1] + strokes)
        else:
            points.append(strokes if keeps else 0)
    return tuple(points)


def team_totals(frame: Frame, totals: Sequence[int]) -> tuple[int, ...]:
    """NUM-43: by seat, the total of its team."""
    sums: dict[int, int] = {}
    for seat, total in enumerate(totals):
        team = team_of(frame, seat)
        sums[team] = sums.get(team, 0) + total
    return tuple([sums[team_of(frame, seat)] for seat in range(len(totals))])


def groups_by(frame: Frame, seats: Sequence[int], points: Sequence[int]) -> list[tuple[int, ...]]:
    """The seats by their own or their team's points, the best first; equal ones together."""
    counted = [points[seat] if seat in seats else 0 for seat in range(frame.seats)]
    totals = team_totals(frame, counted)
    found: dict[int, list[int]] = {}
    for seat in seats:
        found.setdefault(totals[seat], []).append(seat)
    return [tuple(found[total]) for total in sorted(found, reverse=True)]


def resolved(frame: Frame, points: Sequence[int], *, extra: bool) -> tuple[tuple[int, ...], ...]:
    """The groups after a deal: an extra round splits the one that was disputed (NUM-O25)."""
    if not extra:
        return tuple(groups_by(frame, range(frame.seats), points))
    disputed = open_dispute(frame)
    groups: list[tuple[int, ...]] = []
    for group in frame.standing:
        groups += groups_by(frame, group, points) if group == disputed else [group]
    return tuple(groups)


def open_dispute(frame: Frame) -> tuple[int, ...]:
    """The seats of the highest place that several players or teams share; none where all is decided.

    Those without points hold no place and share it (NUM-O25).
    """
    totals = team_totals(frame, frame.totals)
    for group in frame.standing:
        if len({team_of(frame, seat) for seat in group}) > 1 and totals[group[0]] > 0:
            return group
    return ()


def places_of(frame: Frame) -> tuple[int, ...]:
    """NUM-49: by seat; equal places shared, members of a team alike."""
    places = [1] * frame.seats
    before = 0
    for group in frame.standing:
        for seat in group:
            places[seat] = before + 1
        before += len(group)
    return tuple(places)


def best_of(frame: Frame, seats: Sequence[int]) -> int:
    """NUM-41: who has the most points of the last deal; between equal ones the better rank (NUM-O20)."""
    return min(seats, key=lambda seat: (-frame.recent[seat], frame.ranks[seat] or frame.seats + 1, seat))
