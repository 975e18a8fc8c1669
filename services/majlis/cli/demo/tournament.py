"""The demo's tournament: created, entered, started and followed, across the death of any service."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from majlis.cli.exits import Ending
from majlis.cli.options import LEVELS, Level
from majlis.cli.tournament import calls
from majlis.v1 import lobby_pb2, match_pb2, tournament_pb2

ENTRANTS: Final = {Level.NOVICE: 8, Level.CLUB: 8, Level.EXPERT: 8}
POD_SIZE: Final = 4
ROUNDS: Final = 5
FAST_CLOCK: Final = {"initial_flips_ms": "3000", "turn_ms": "3000", "drawn_ms": "3000"}
"""Computers answer at once; a deadline is only met when one has died."""
PATIENCE_S: Final = 30.0


class Played(Struct, frozen=True):
    """How the tournament ended."""

    tournament_id: str
    summary: lobby_pb2.TournamentSummary
    standings: list[tournament_pb2.Standing]
    final_match_id: str
    """The first pod of the last round."""


async def play(tournament_id: str, game: str, see: Callable[[lobby_pb2.TournamentSummary], None]) -> Played:
    """Plays it to its end. Raises Ending where the platform cannot be reached or the tournament was aborted."""
    setup = tournament_pb2.TournamentSetup(
        name="Demo",
        game=game,
        options=[match_pb2.Option(name=name, value=value) for name, value in FAST_CLOCK.items()],
        rounds=ROUNDS,
        pod_size=POD_SIZE,
        no_show=tournament_pb2.NO_SHOW_POLICY_COMPUTER,
        seating_timeout_ms=30_000,
        thinking_percent=0,
        rng_seed=secrets.token_bytes(32),
    )
    await calls.create(tournament_id, setup)
    for level, count in ENTRANTS.items():
        await _enter(tournament_id, level, count)
    start = tournament_pb2.TournamentCommand(start_tournament=tournament_pb2.StartTournament())
    await calls.direct(tournament_id, start, for_s=PATIENCE_S)
    summary = await calls.watch(tournament_id, see)
    told = await calls.standings(tournament_id)
    last = await calls.pairings(tournament_id, summary.setup.rounds)
    return Played(tournament_id, summary, list(told.standings), last.pods[0].pod.match_id)


async def _enter(tournament_id: str, level: Level, count: int) -> None:
    """Enters computers once, also where the lobby dies before it has answered."""
    before = (await calls.get(tournament_id)).entrants
    request = lobby_pb2.RegisterRequest(
        tournament_id=tournament_id,
        name=level.value.capitalize(),
        controller=match_pb2.CONTROLLER_COMPUTER,
        level=LEVELS[level],
        count=count,
    )
    try:
        await calls.register(request)
    except Ending:
        if (await calls.get(tournament_id)).entrants < before + count:
            raise
