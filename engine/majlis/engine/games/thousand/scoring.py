"""What a deal and a match are worth (THO-28 to THO-36)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import iter_unpack, pack
from typing import Final, NamedTuple

from majlis.engine.games.thousand.options import Options
from majlis.engine.vocabulary.thousand import ThousandDealScored

_LINE: Final = ">BH3h"
ATTEMPTS_LOSS: Final = 120
"""What a player loses whose attempts on the barrel are used up (THO-O15, option barrel_attempts)."""


def rounded(points: int) -> int:
    """THO-30: to tens, a 5 down."""
    return (points + 4) // 10 * 10


def barrel(options: Options) -> int:
    """THO-31, THO-34: the score from which a player is on the barrel."""
    return options.target * 4 // 5


def cap(options: Options) -> int:
    """THO-32, THO-O10: beyond this no defender's score grows."""
    return 990 if options.defender_cap == "990" else options.target - 10


def is_over(options: Options, deal: int, scores: Sequence[int]) -> bool:
    """THO-33; or as many deals as the match may have, after which the highest score wins."""
    return max(scores, default=0) >= options.target or 0 < options.deals_max <= deal


def results(
    options: Options,
    scores: Sequence[int],
    totals: Sequence[int],
    declarer: int,
    contract: int,
    attempts: Sequence[int] = (0, 0, 0),
) -> tuple[int, ...]:
    """What each score changes by. `totals`: points of cards and marriages by seat, not rounded."""
    changes = []
    for seat, (score, points) in enumerate(zip(scores, totals, strict=True)):
        if seat == declarer:
            change = contract if points >= contract else -contract
        elif score >= barrel(options):
            change = 0
        else:
            change = min(rounded(points), max(cap(options) - score, 0))
        if _is_used_up(options, score, score + change, attempts[seat]):
            change -= ATTEMPTS_LOSS
        changes.append(change)
    return tuple(changes)


def _is_used_up(options: Options, before: int, after: int, attempts: int) -> bool:
    """Whether this was the last attempt of a player who is on the barrel and stays there (THO-O15)."""
    limit = options.barrel_attempts
    return (
        limit > 0
        and before >= barrel(options)
        and barrel(options) <= after < options.target
        and attempts + 1 >= limit
    )


def attempts_after(
    options: Options, attempts: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[int, int, int]:
    """How many deals in a row each has been on the barrel; counted anew after they were used up."""
    if options.barrel_attempts == 0:
        return (0, 0, 0)
    edge = barrel(options)
    first, second, third = [
        tried + 1 if old >= edge and new >= edge and tried + 1 < options.barrel_attempts else 0
        for tried, old, new in zip(attempts, before, after, strict=True)
    ]
    return (first, second, third)


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """THO-33, THO-O22: by score; equal scores share the place."""
    return tuple([1 + sum(other > own for other in scores) for own in scores])


def line(scored: ThousandDealScored) -> bytes:
    """A deal as the state keeps it."""
    return pack(_LINE, scored.declarer, scored.contract, *scored.results)


class Sheet(NamedTuple):
    """The score sheet by columns: for each deal its declarer and contract, and what each of the three scores changed by."""

    declarers: tuple[int, ...]
    contracts: tuple[int, ...]
    results: tuple[int, ...]


@lru_cache(4096)
def read_sheet(sheet: bytes) -> Sheet:
    """The deals scored so far."""
    lines = list(iter_unpack(_LINE, sheet))
    return Sheet(
        tuple([declarer for declarer, *_ in lines]),
        tuple([contract for _, contract, *_ in lines]),
        tuple([change for _, _, *changes in lines for change in changes]),
    )
