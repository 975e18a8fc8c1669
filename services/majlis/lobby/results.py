"""Books results: what the tables publish is folded into the tournaments, each result once.

The position in the stream of results moves only after the booking is stored in the tournament's own log, and booking
the same result again is refused there: so a crash between the two loses nothing and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncConnection

from majlis.chassis.broker import RESULTS
from majlis.chassis.clock import Clock
from majlis.chassis.feed import Message
from majlis.engine.decider import Rejected
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.match import Controller
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.result import Result, SeatResult
from majlis.engine.vocabulary.tournament import BookNoShow, BookResult, TournamentCommand
from majlis.engine.vocabulary.wire import decode_result

from .hall import Hall
from .manager import lobby_act
from .schema import ENDED, tables

log = structlog.get_logger(__name__)

_BOOKED: Final = frozenset({RejectionCode.POD_DECIDED, RejectionCode.WRONG_STAGE})
"""How a tournament refuses what it has already, or does not need any more."""


class ResultFold:
    """Folds RESULTS into tournaments and casual tables."""

    name = "lobby"
    stream = RESULTS

    def __init__(self, hall: Hall, clock: Clock) -> None:
        self._hall = hall
        self._clock = clock

    async def apply(self, connection: AsyncConnection, messages: Sequence[Message]) -> None:
        """Books each result before the position moves past it."""
        for message in messages:
            try:
                result = decode_result(message.data)
            except Unreadable as error:
                # Only a table writes here. Its match stays open for the director; the others go on.
                log.critical(
                    "unreadable result",
                    event_type="result_unreadable",
                    subject=message.subject,
                    why=str(error),
                )
                continue
            if result.tournament_id:
                await self._book(result)
            else:
                ended = update(tables).where(tables.c.match_id == result.match_id).values(state=ENDED)
                await connection.execute(ended)

    async def forget(self, connection: AsyncConnection) -> None:
        """Nothing: what was booked stands in the tournaments' log."""

    async def _book(self, result: Result) -> None:
        state = self._hall.stored.get(result.tournament_id)
        if state is None:
            log.error("result of no tournament", event_type="result_strange", match_id=result.match_id)
            return
        pod = state.pod(result.round, result.pod)
        for seat, told in enumerate(result.seats):
            if pod is not None and never_came(told) and seat < len(pod.entrants):
                entrant_id = pod.entrants[seat]
                no_show = BookNoShow(round=result.round, pod=result.pod, entrant_id=entrant_id)
                await self._submit(result, f"no-show-{result.match_id}-{seat}", no_show)
        booking = BookResult(
            round=result.round,
            pod=result.pod,
            match_id=result.match_id,
            revision=result.revision,
            termination=result.termination,
            places=tuple(seat.place for seat in result.seats if seat.place),
            totals=tuple(seat.total for seat in result.seats),
        )
        await self._submit(result, f"result-{result.match_id}-{result.revision}", booking)

    async def _submit(self, result: Result, command_id: str, command: TournamentCommand) -> None:
        act = lobby_act(command, command_id, self._clock.now_ms())
        try:
            await self._hall.submit(result.tournament_id, act)
        except Rejected as rejected:
            if rejected.code is RejectionCode.UNAVAILABLE:
                raise
            if rejected.code not in _BOOKED:
                log.error(
                    "result refused", event_type="result_strange", match_id=result.match_id, why=str(rejected)
                )


def never_came(seat: SeatResult) -> bool:
    """A person's seat in which its holder made no move at all."""
    away = seat.controller is Controller.COMPUTER and not seat.opened_as_computer
    return away and not seat.own_moves and bool(seat.computer_moves)
