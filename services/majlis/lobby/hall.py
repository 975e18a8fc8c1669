"""All tournaments, decided over the journal: the same shard code that carries the matches, on a stream of its own.

`decided` states run ahead of the log, `stored` states are what it has acknowledged; only those are shown or acted on.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Final

import structlog

from majlis.chassis.journal.shard import Shard
from majlis.chassis.journal.store import TooLarge
from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act, Step, TournamentState, accepted_before, apply, transact
from majlis.engine.vocabulary.entry import Batch
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.tournament import (
    PairRound,
    TournamentEntry,
    TournamentPaused,
    TournamentResumed,
)
from majlis.engine.vocabulary.wire import decode_tournament_entry

log = structlog.get_logger(__name__)

SHARD: Final = "t0"
SUBJECT: Final = "journal.tournament.0"
LEASE_KEY: Final = "tournament.0"


class Hall:
    """The tournaments of this platform. As a `Folder` it rebuilds them; then it decides for them."""

    def __init__(self) -> None:
        self.stored: dict[str, TournamentState] = {}
        self.shard: Shard | None = None
        self.on_change: Callable[[str], None] = lambda tournament_id: None
        self._decided: dict[str, TournamentState] = {}
        self._matches: dict[str, tuple[str, int, int]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._halts: dict[str, tuple[int, int]] = {}

    # --- recovery ---------------------------------------------------------------------------------------------------

    async def begin(self) -> int:
        """Everything is folded from the first entry: tournaments are few and short."""
        self.stored, self._decided, self._matches, self._halts = {}, {}, {}, {}
        return 0

    def fold(self, sequence: int, batch: Batch) -> None:
        for stored in batch.entries:
            entry = decode_tournament_entry(stored)
            state = apply(self.stored.get(entry.tournament_id), entry, hashlib.sha256(stored).digest())
            if state is not None:
                self._keep(state, entry)
        self._decided = dict(self.stored)

    def _keep(self, state: TournamentState, entry: TournamentEntry) -> None:
        if any(isinstance(event, TournamentPaused | TournamentResumed) for event in entry.events):
            self._halts[state.tournament_id] = (entry.number, state.round)
        before = self.stored.get(state.tournament_id)
        self.stored[state.tournament_id] = state
        if before is None or before.round != state.round:
            for pod in state.rounds[-1].pods if state.rounds else ():
                self._matches[pod.pod.match_id] = (state.tournament_id, state.round, pod.pod.pod)

    # --- decisions --------------------------------------------------------------------------------------------------

    async def submit(self, tournament_id: str, act: Act) -> int:
        """Decides a command; returns its entry's number once it is stored. Raises Rejected, also only then."""
        shard = self._owned()
        try:
            number = accepted_before(self._decided.get(tournament_id), act)
            step = await self._transact(tournament_id, act) if number is None else None
        except Rejected:
            await self._all_stored(shard)
            raise
        if step is None:
            await self._all_stored(shard)
            return number or 0
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def then(ok: bool) -> None:
            if ok:
                self._keep(step.state, step.entry)
                self._tell(tournament_id)
            if not done.done():
                done.set_result(ok)

        try:
            shard.append(step.stored, then)
        except TooLarge as error:
            raise Rejected(
                RejectionCode.TOO_LARGE, f"the entry does not fit into the log: {error}", "send less at once"
            ) from error
        self._decided[tournament_id] = step.state
        if not await done:
            raise _lost()
        return step.state.number

    async def _transact(self, tournament_id: str, act: Act) -> Step:
        """Decides on the newest state. Pairing takes its time, so it is done beside the loop, and again where the
        tournament has changed meanwhile."""
        while True:
            state = self._decided.get(tournament_id)
            if not isinstance(act.command, PairRound):
                return transact(state, act, tournament_id)
            step = await asyncio.to_thread(transact, state, act, tournament_id)
            if self._decided.get(tournament_id) is state:
                return step

    def _owned(self) -> Shard:
        if self.shard is None or self.shard.lost:
            raise _lost()
        return self.shard

    async def settle(self) -> None:
        """Returns when everything decided so far is stored. Raises Rejected(UNAVAILABLE)."""
        await self._all_stored(self._owned())

    async def _all_stored(self, shard: Shard) -> None:
        """A refusal rests on what was decided before it: it is not told before that is stored."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        shard.when_stored(lambda ok: None if done.done() else done.set_result(ok))
        if not await done:
            raise _lost()

    # --- what is stored ---------------------------------------------------------------------------------------------

    def get(self, tournament_id: str) -> TournamentState:
        """Raises Rejected(UNKNOWN_TOURNAMENT)."""
        state = self.stored.get(tournament_id)
        if state is None:
            raise Rejected(
                RejectionCode.UNKNOWN_TOURNAMENT,
                f"there is no tournament {tournament_id[:80]!r}",
                "`majlis tournament list` shows them",
            )
        return state

    def place_of(self, match_id: str) -> tuple[str, int, int] | None:
        """Tournament, round and pod of a tournament's match."""
        return self._matches.get(match_id)

    def last_halt(self, tournament_id: str) -> tuple[int, int]:
        """Entry and round in which it was last paused or resumed; (0, 0) where it never was."""
        return self._halts.get(tournament_id, (0, 0))

    def newest(self, tournament_id: str) -> TournamentState | None:
        """As it was decided last, stored or not: to decide on, never to be shown."""
        return self._decided.get(tournament_id)

    async def changed(self, tournament_id: str) -> None:
        """Returns after the tournament's next change."""
        await self._changed.setdefault(tournament_id, asyncio.Event()).wait()

    def _tell(self, tournament_id: str) -> None:
        event = self._changed.pop(tournament_id, None)
        if event is not None:
            event.set()
        self.on_change(tournament_id)


def _lost() -> Rejected:
    return Rejected(
        RejectionCode.UNAVAILABLE,
        "this lobby does not own the tournaments any more",
        "send the same command id again in a moment",
    )
