"""Tournaments as their callers see them: requests made into commands, states made into messages."""

from __future__ import annotations

import re
import secrets
import unicodedata
from typing import Final

from msgspec.structs import replace

from majlis.engine import options, registry
from majlis.engine.decider import Rejected
from majlis.engine.shuffle import SEED_BYTES
from majlis.engine.tournament import TournamentState
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.match import ComputerLevel, Controller, OpenMatch, Option, SeatSetup
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.tournament import Entrant, TournamentSetup
from majlis.engine.vocabulary.wire import fill_tournament_setup, read_tournament_setup
from majlis.v1 import lobby_pb2, tournament_pb2

from .names import clean_name
from .paper import SEATS_MAX, too_many_seats, try_opening

ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
REGISTER_AT_ONCE: Final = 2000
LONGEST_NAME: Final = 64


def read_setup(message: tournament_pb2.TournamentSetup) -> TournamentSetup:
    """The setup with what the caller left to us filled in. Raises Rejected."""
    if not message.no_show:
        message.no_show = tournament_pb2.NO_SHOW_POLICY_COMPUTER
    try:
        setup = read_tournament_setup(message)
    except Unreadable as error:
        raise Rejected(RejectionCode.MALFORMED, str(error), "set every field of the setup") from error
    game = registry.game(setup.game)
    version = setup.rules_version or max(game.rules_versions)
    setup = replace(
        setup,
        name=clean_name(setup.name, LONGEST_NAME),
        rules_version=version,
        options=_with_tournament_options(setup),
        # The seed decides pairings and lots: nobody but the platform may know it beforehand.
        rng_seed=secrets.token_bytes(SEED_BYTES),
    )
    try_opening(_full_pod(setup))
    chosen = options.complete(game.rules_versions[version], setup.options)
    return replace(setup, min_pod_size=_smallest_pod(setup, chosen))


def _with_tournament_options(setup: TournamentSetup) -> tuple[Option, ...]:
    chosen = {option.name for option in setup.options}
    usual = registry.registered(setup.game).tournament_options
    return (*setup.options, *(option for option in usual if option.name not in chosen))


def _full_pod(setup: TournamentSetup) -> OpenMatch:
    """The match of a pod of computers."""
    if setup.pod_size > SEATS_MAX:
        raise too_many_seats(setup.pod_size)
    seat = SeatSetup(controller=Controller.COMPUTER, level=ComputerLevel.CLUB)
    return OpenMatch(
        game=setup.game,
        rules_version=setup.rules_version,
        options=setup.options,
        seats=(seat,) * setup.pod_size,
        seating_timeout_ms=setup.seating_timeout_ms,
        thinking_percent=setup.thinking_percent,
    )


def same_setup(existing: TournamentSetup, asked: TournamentSetup) -> bool:
    """Whether both ask for the same tournament; each has a seed of its own."""
    return replace(existing, rng_seed=b"") == replace(asked, rng_seed=b"")


def _smallest_pod(setup: TournamentSetup, chosen: object) -> int:
    game = registry.game(setup.game)
    for seats in range(2, setup.pod_size):
        try:
            game.check_setup(seats, chosen)
            return seats
        except Rejected:
            continue
    return setup.pod_size


def made_id(name: str) -> str:
    """An id made from a tournament's name; a random one where nothing of it can be spelled in one."""
    spelled = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")[:40].strip("-")
    return found or f"tournament-{secrets.token_hex(4)}"


def check_id(tournament_id: str) -> str:
    """Raises Rejected(MALFORMED)."""
    if ID.fullmatch(tournament_id) is None:
        raise Rejected(
            RejectionCode.MALFORMED,
            f"{tournament_id[:80]!r} cannot be a tournament's id",
            "use 1 to 40 of a-z, 0-9 and -, or leave it empty",
        )
    return tournament_id


def computer_entrants(state: TournamentState, name: str, level: ComputerLevel, count: int) -> list[Entrant]:
    """The next so many computers of a level. The same ones play every tournament, so their ratings mean something."""
    if not 1 <= count <= REGISTER_AT_ONCE:
        raise Rejected(
            RejectionCode.TOO_LARGE, f"{count} computers at once", f"register 1 to {REGISTER_AT_ONCE} at once"
        )
    present = sum(one.entrant.controller is Controller.COMPUTER for one in state.entrants.values())
    return [
        Entrant(
            entrant_id=f"computer-{level.name.lower()}-{number}",
            name=f"{name} {number}",
            player_ids=(f"computer-{level.name.lower()}-{number}",),
            controller=Controller.COMPUTER,
            level=level,
        )
        for number in range(present + 1, present + count + 1)
    ]


def summary(state: TournamentState) -> lobby_pb2.TournamentSummary:
    """A tournament in a few figures. Its seed is told when it is over: it decides what is still to be drawn."""
    pods = [pod for one in state.rounds for pod in one.pods]
    present = state.rounds[-1].pods if state.rounds else ()
    message = lobby_pb2.TournamentSummary(
        tournament_id=state.tournament_id,
        stage=int(state.stage),  # type: ignore[arg-type]
        round=state.round,
        entrants=len(state.active),
        pods_open=sum(not pod.decided for pod in present),
        pods_decided=sum(pod.decided for pod in pods),
        pods_total=len(pods),
        paused=state.paused,
        started_at_ms=state.started_at_ms,
        ended_at_ms=state.ended_at_ms,
    )
    fill_tournament_setup(message.setup, state.setup if state.over else replace(state.setup, rng_seed=b""))
    return message
