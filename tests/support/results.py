"""Results of matches that nobody played."""

from __future__ import annotations

import random
from typing import Any

from majlis.engine.vocabulary.match import Controller, Termination
from majlis.engine.vocabulary.result import Result, SeatResult

START_MS = 1_700_000_000_000


def seat(player_id: str, place: int, **fields: Any) -> SeatResult:
    """A person's seat that its holder played all the way."""
    usual: dict[str, Any] = {"own_moves": 20, "controller": Controller.PERSON}
    return SeatResult(player_id=player_id, place=place, **(usual | fields))


def result(number: int, *seats: SeatResult, **fields: Any) -> Result:
    """The result of match `number`."""
    usual: dict[str, Any] = {
        "match_id": f"0-match{number}",
        "revision": 1,
        "game": "sounding",
        "rules_version": 1,
        "termination": Termination.PLAYED_OUT,
        "started_at_ms": START_MS + 1000 * number,
        "ended_at_ms": START_MS + 1000 * number + 500,
        "entries": 100,
    }
    return Result(seats=seats, **(usual | fields))


def season(count: int, players: int = 24, seats: int = 4, rng_seed: int = 1) -> list[Result]:
    """Matches between players drawn by lot: the higher a player's number, the more often it wins; ties occur."""
    chance = random.Random(rng_seed)
    results = []
    for number in range(count):
        drawn = chance.sample(range(players), seats)
        points = {player: round(player + chance.gauss(0, players / 3)) // 2 for player in drawn}
        seated = [
            seat(f"player-{player}", 1 + sum(other > points[player] for other in points.values()))
            for player in drawn
        ]
        results.append(result(number, *seated))
    return results
