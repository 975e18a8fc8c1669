"""The first command of a match: what may be opened, and what its first entry says."""

from __future__ import annotations

from typing import Any, Final

from majlis.engine import options, registry
from majlis.engine.decider import Game
from majlis.engine.match.evolve import Draft, born
from majlis.engine.match.flow import reject, start_when_complete, waiting_for
from majlis.engine.match.state import SEATING, SEATING_TIMEOUT_MS, Act
from majlis.engine.shuffle import SEED_BYTES, commitment
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import (
    ComputerLevel,
    Controller,
    DecisionOpened,
    MatchOpened,
    OpenMatch,
    SeatSetup,
)
from majlis.engine.vocabulary.rejection import RejectionCode

TEXT_MAX: Final = 64
"""Characters of an id."""
CONTEXT_MAX: Final = 200
OPTIONS_MAX: Final = 200
SEATING_TIMEOUT_MAX_MS: Final = 24 * 3600 * 1000
THINKING_PERCENT_MAX: Final = 1000


def open_match(act: Act, match_id: str) -> Draft:
    """The draft of the first entry; its rules version stands in the state's facts."""
    command = act.command
    if not isinstance(command, OpenMatch):
        raise reject(
            RejectionCode.UNKNOWN_MATCH,
            f"there is no match {match_id[:TEXT_MAX]!r}",
            "Check the id; a finished match is in the archive.",
        )
    if act.actor_kind is not ActorKind.LOBBY:
        raise reject(RejectionCode.FORBIDDEN, "only the lobby opens matches", "Open a table at the lobby.")
    _check_limits(command, match_id)
    game = registry.game(command.game)
    version = command.rules_version
    _check_version(game, version)
    chosen = options.complete(game.rules_versions[version], command.options)
    _check_seats(command.seats)
    game.check_setup(len(command.seats), chosen)
    at_ms = act.observed.received_at_ms
    opened = _opened(command, chosen, at_ms)
    draft = Draft(born(match_id, version, opened), at_ms, [opened])
    persons = waiting_for(draft.state)
    if persons:
        due_ms = at_ms + (command.seating_timeout_ms or SEATING_TIMEOUT_MS)
        draft(DecisionOpened(decision_id=SEATING, seats=persons, what_for="seating", due_ms=due_ms))
    start_when_complete(draft)
    return draft


def already_open(draft: Draft, _act: Act, _command: OpenMatch) -> None:
    """A match is opened once (the same opening repeated is found by its command id)."""
    raise reject(
        RejectionCode.MATCH_EXISTS,
        f"match {draft.state.match_id} was opened otherwise",
        "Take another match id.",
    )


def _opened(command: OpenMatch, chosen: Any, at_ms: int) -> MatchOpened:
    seats = tuple(
        SeatSetup(
            player_id=seat.player_id, controller=seat.controller, level=seat.level or ComputerLevel.CLUB
        )
        for seat in command.seats
    )
    return MatchOpened(
        game=command.game,
        options=options.texts(chosen),
        seats=seats,
        commitment=commitment(command.server_seed),
        server_seed=command.server_seed,
        tournament_id=command.tournament_id,
        round=command.round,
        pod=command.pod,
        thinking_percent=command.thinking_percent,
        deal_context=command.deal_context,
        opened_at_ms=at_ms,
    )


def _check_limits(command: OpenMatch, match_id: str) -> None:
    if len(command.server_seed) != SEED_BYTES:
        raise reject(
            RejectionCode.MALFORMED,
            f"the server seed has {len(command.server_seed)} bytes",
            f"Draw {SEED_BYTES} bytes from the system's generator.",
        )
    over = {
        "match_id": len(match_id) > TEXT_MAX,
        "game": len(command.game) > TEXT_MAX,
        "tournament_id": len(command.tournament_id) > TEXT_MAX,
        "deal_context": len(command.deal_context) > CONTEXT_MAX,
        "options": len(command.options) > OPTIONS_MAX,
        "seating_timeout_ms": command.seating_timeout_ms > SEATING_TIMEOUT_MAX_MS,
        "thinking_percent": command.thinking_percent > THINKING_PERCENT_MAX,
        "player_id": any(len(seat.player_id) > TEXT_MAX for seat in command.seats),
    }
    for name, is_over in over.items():
        if is_over:
            raise reject(
                RejectionCode.TOO_LARGE, f"{name} of open_match is over its limit", f"Give a smaller {name}."
            )


def _check_version(game: Game[Any], version: int) -> None:
    if version not in game.rules_versions:
        known = ", ".join(map(str, sorted(game.rules_versions)))
        raise reject(
            RejectionCode.UNKNOWN_RULES_VERSION,
            f"{game.key} has no rules version {version}",
            f"Choose one of {known}, or 0 for the newest.",
        )


def _check_seats(seats: tuple[SeatSetup, ...]) -> None:
    holders = [seat.player_id for seat in seats if seat.player_id]
    if len(set(holders)) != len(holders):
        raise reject(RejectionCode.BAD_SEATS, "a player holds two seats", "Give every seat another player.")
    for index, seat in enumerate(seats):
        if seat.controller is Controller.VACANT:
            raise reject(
                RejectionCode.BAD_SEATS, f"seat {index} is vacant", "Give it to a person or a computer."
            )
        if seat.controller is Controller.PERSON and not seat.player_id:
            raise reject(
                RejectionCode.BAD_SEATS, f"seat {index} names no player", "Give the person's player id."
            )
