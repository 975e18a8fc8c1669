"""The demo's tournament: created, entered, started and followed, across the death of any service."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from majlis.cli.calls import AGAIN_S
from majlis.cli.exits import UNREACHABLE, Ending
from majlis.cli.options import LEVELS, Level
from majlis.cli.tournament import calls
from majlis.engine import registry
from majlis.engine.decider import Rejected
from majlis.v1 import lobby_pb2, match_pb2, tournament_pb2

T = TypeVar("T")

ENTRANTS: Final = {Level.NOVICE: 8, Level.CLUB: 8, Level.EXPERT: 8}
POD_SIZE: Final = 4
"""Where the game seats so many, otherwise the next smaller number that it does."""
ROUNDS: Final = 5
FAST_MS: Final = "3000"
"""Every time limit: computers answer at once, a deadline is only met when one has died."""
PATIENCE_S: Final = 60.0


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
        options=_fast_clock(game),
        rounds=ROUNDS,
        pod_size=pod_size(game),
        no_show=tournament_pb2.NO_SHOW_POLICY_COMPUTER,
        seating_timeout_ms=30_000,
        thinking_percent=0,
        rng_seed=secrets.token_bytes(32),
    )
    await insist(lambda: _create(tournament_id, setup))
    for level, count in ENTRANTS.items():
        await _enter(tournament_id, level, count)
    start = tournament_pb2.TournamentCommand(start_tournament=tournament_pb2.StartTournament())
    await calls.direct(tournament_id, start, for_s=PATIENCE_S)
    summary = await calls.watch(tournament_id, see, for_s=PATIENCE_S)
    told = await insist(lambda: calls.standings(tournament_id))
    last = await insist(lambda: calls.pairings(tournament_id, summary.setup.rounds))
    return Played(tournament_id, summary, list(told.standings), last.pods[0].pod.match_id)


def pod_size(game: str) -> int:
    """How many play at each table of the demo. Raises Rejected(UNKNOWN_GAME)."""
    rules = registry.game(game)
    defaults = rules.rules_versions[max(rules.rules_versions)]
    for seats in range(POD_SIZE, 2, -1):
        try:
            rules.check_setup(seats, defaults)
            return seats
        except Rejected:
            continue
    return 2


def _fast_clock(game: str) -> list[match_pb2.Option]:
    rules = registry.game(game)
    names = msgspec.structs.asdict(rules.rules_versions[max(rules.rules_versions)])
    return [match_pb2.Option(name=name, value=FAST_MS) for name in names if name.endswith("_ms")]


async def insist(work: Callable[[], Awaitable[T]]) -> T:
    """Does what may be done twice again while its service is away: the supervisor starts it again."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return await work()
        except Ending as ending:
            if ending.code != UNREACHABLE or time.monotonic() > deadline:
                raise
        await asyncio.sleep(AGAIN_S)


async def _create(tournament_id: str, setup: tournament_pb2.TournamentSetup) -> None:
    try:
        await calls.create(tournament_id, setup)
    except Ending as ending:
        # The lobby died after it had created it, before it could say so.
        if ending.rejection != "TOURNAMENT_EXISTS":
            raise


async def _enter(tournament_id: str, level: Level, count: int) -> None:
    """Enters computers once, also where the lobby dies before it has answered."""
    before = await insist(lambda: calls.get(tournament_id))
    request = lobby_pb2.RegisterRequest(
        tournament_id=tournament_id,
        name=level.value.capitalize(),
        controller=match_pb2.CONTROLLER_COMPUTER,
        level=LEVELS[level],
        count=count,
    )

    async def enter() -> None:
        missing = before.entrants + count - (await calls.get(tournament_id)).entrants
        if missing:
            request.count = missing
            await calls.register(request)

    await insist(enter)
