"""What the end of a deal is worth to a seat, in points of the match."""

from __future__ import annotations

from collections.abc import Sequence

from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.scoring import results

RIVAL = 0.5
"""How much a point of each rival weighs against an own one."""
SLOPE = 0.12
"""How much each card point weighs for its own sake: a contract is not lost before the last trick."""
MATCH = 400.0
"""What the end of the match is worth."""


def worth(
    options: Options,
    scores: Sequence[int],
    totals: Sequence[int],
    declarer: int,
    contract: int,
    seat: int,
) -> float:
    """The seat's own change of score, less half of each rival's; and the match where it ends."""
    changes = results(options, scores, totals, declarer, contract)
    value = 0.0
    for each in range(3):
        change = float(changes[each])
        if scores[each] + changes[each] >= options.target:
            change += MATCH
        value += change if each == seat else -RIVAL * change
    sign = 1.0 if seat == declarer else -1.0
    return value + sign * SLOPE * totals[declarer]
