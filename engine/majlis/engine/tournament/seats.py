"""Who sits where in a pod: everybody in each seat as equally often as possible."""

from __future__ import annotations

from collections.abc import Sequence


def balanced_seats(seat_counts: Sequence[Sequence[int]]) -> list[int]:
    """For each member of a pod the seat to take; `seat_counts[member][seat]` = how often it has sat there.

    The exact optimum of the sum of squares after this round. Where several are as good, the order of members decides:
    hand them over in a drawn order.
    """
    return assignment([[2 * count + 1 for count in counts[: len(seat_counts)]] for counts in seat_counts])


def crowding(seat_counts: Sequence[Sequence[int]]) -> int:
    """How far the best seating of these members is from everybody on the seat he has had least often; 0 is perfect."""
    seats = range(len(seat_counts))
    taken = sum(seat_counts[member][seat] for member, seat in enumerate(balanced_seats(seat_counts)))
    return taken - sum(min(counts[seat] for seat in seats) for counts in seat_counts)


def assignment(cost: Sequence[Sequence[int]]) -> list[int]:
    """The column of each row in a cheapest perfect matching of a square matrix.

    The Hungarian method with potentials (Kuhn 1955, Munkres 1957): rows are added one by one along a shortest
    augmenting path.
    """
    size = len(cost)
    none = size  # the column from which every path starts
    row_potential, column_potential = [0] * size, [0] * (size + 1)
    row_of = [-1] * (size + 1)
    for row in range(size):
        row_of[none] = row
        column = none
        distance: list[int | None] = [None] * size
        before = [none] * size
        done: list[int] = []
        while row_of[column] != -1:
            done.append(column)
            base = row_of[column]
            best: int | None = None
            nearest = none
            for c in range(size):
                if c in done:
                    continue
                reduced = cost[base][c] - row_potential[base] - column_potential[c]
                known = distance[c]
                if known is None or reduced < known:
                    distance[c] = known = reduced
                    before[c] = column
                if best is None or known < best:
                    best, nearest = known, c
            step = best or 0
            for c in done:
                row_potential[row_of[c]] += step
                column_potential[c] -= step
            distance = [None if d is None else d - step for d in distance]
            column = nearest
        while column != none:
            row_of[column] = row_of[before[column]]
            column = before[column]
    column_of = [0] * size
    for column in range(size):
        column_of[row_of[column]] = column
    return column_of
