"""The process manager: opens the matches of each round, starts the next round, carries the director's acts to tables.

It keeps no state that matters. Whatever it was doing when the process died it does again: opening a match twice is
opening it once, pairing a round twice is refused by the tournament itself, and a director's command has an id made
from what it is.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable
from typing import Final

import structlog

from majlis.chassis.clock import Clock
from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act, PodState, TournamentState
from majlis.engine.vocabulary.entry import ActorKind, Command
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    ComputerLevel,
    Controller,
    OpenMatch,
    Pause,
    Resume,
    SeatSetup,
    SubstituteComputer,
)
from majlis.engine.vocabulary.tournament import PairRound, PodStatus, TournamentStage

from .hall import Hall
from .instances import PASSING, TableInstances

log = structlog.get_logger(__name__)

AT_ONCE: Final = 16
LOOK_AGAIN_S: Final = 0.5


def lobby_act(command: object, command_id: str, now_ms: int) -> Act:
    """A command of the lobby itself."""
    return Act(
        actor_kind=ActorKind.LOBBY,
        actor_id="lobby",
        command_id=command_id,
        command=command,  # type: ignore[arg-type]  # the caller gives a TournamentCommand
        received_at_ms=now_ms,
    )


def setup_of(state: TournamentState, round_number: int, pod: PodState) -> OpenMatch:
    """The match of a pod: entrants sit in the order in which they were paired."""
    setup = state.setup
    return OpenMatch(
        game=setup.game,
        rules_version=setup.rules_version,
        options=setup.options,
        seats=tuple(_seat(state, entrant_id) for entrant_id in pod.entrants),
        tournament_id=state.tournament_id,
        round=round_number,
        pod=pod.pod.pod,
        seating_timeout_ms=setup.seating_timeout_ms,
        thinking_percent=setup.thinking_percent,
    )


def _seat(state: TournamentState, entrant_id: str) -> SeatSetup:
    entrant = state.entrants[entrant_id].entrant
    player_id = entrant.player_ids[0] if entrant.player_ids else entrant_id
    return SeatSetup(
        player_id=player_id, controller=entrant.controller, level=entrant.level or ComputerLevel.CLUB
    )


class Manager:
    """Brings every tournament forward. `wake` says that something has changed."""

    def __init__(self, hall: Hall, instances: TableInstances, shards: int, clock: Clock) -> None:
        self._hall = hall
        self._instances = instances
        self._shards = shards
        self._clock = clock
        self._wake = asyncio.Event()
        self._busy: set[str] = set()
        self._settled: dict[str, TournamentState] = {}
        """The state for which everything was done."""
        self._done: set[tuple[str, str]] = set()
        """(match id, what): acts on matches that are known to have been carried out."""
        self._slots = asyncio.Semaphore(AT_ONCE)

    def wake(self, _tournament_id: str = "") -> None:
        self._wake.set()

    async def run(self) -> None:
        """Works for as long as the process lives: on each tournament by itself, so none waits for another's tables."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                for tournament_id, state in self._hall.stored.items():
                    if tournament_id not in self._busy and self._settled.get(tournament_id) is not state:
                        self._busy.add(tournament_id)
                        group.create_task(self._bring_forward(tournament_id))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await self._wake.wait()

    async def _bring_forward(self, tournament_id: str) -> None:
        """`advance`, which is tried again where it fails."""
        state = self._hall.get(tournament_id)
        try:
            await self.advance(tournament_id)
            self._settled[tournament_id] = state
        except Rejected as rejected:
            log.info(
                "tournament not brought forward",
                event_type="tournament_retry",
                tournament_id=tournament_id,
                why=str(rejected),
            )
            await self._clock.sleep(LOOK_AGAIN_S)
        self._busy.discard(tournament_id)
        self._wake.set()

    async def advance(self, tournament_id: str) -> None:
        """Does everything that is to be done for one tournament now. Raises Rejected."""
        state = self._hall.get(tournament_id)
        if state.stage is TournamentStage.BETWEEN_ROUNDS and not state.paused:
            await self._pair(state)
            state = self._hall.get(tournament_id)
        await _all(self._overrule(pod) for one in state.rounds for pod in one.pods)
        if state.stage is TournamentStage.ABORTED:
            await self._for_open_pods(state, "abort", Abort(reason="the tournament was aborted"))
        elif state.stage is TournamentStage.PLAYING:
            await self._play(state)

    async def _overrule(self, pod: PodState) -> None:
        """Ends a match whose pod the director has decided; most have ended by themselves, and say so."""
        match_id = pod.pod.match_id
        if pod.status is PodStatus.ADJUDICATED:
            command = Adjudicate(places=pod.places, reason="the director has decided the pod")
            await self._direct(match_id, "adjudicate", command)
        elif pod.status is PodStatus.FORFEITED:
            await self._direct(match_id, "abort", Abort(reason="the pod was forfeited"))

    async def _pair(self, state: TournamentState) -> None:
        number = state.round + 1
        command = PairRound(round=number, shards=self._shards)
        await self._hall.submit(
            state.tournament_id, lobby_act(command, f"pair-{number}", self._clock.now_ms())
        )

    async def _play(self, state: TournamentState) -> None:
        entry, halted_round = self._hall.last_halt(state.tournament_id)
        if state.paused:
            await self._for_open_pods(state, f"pause-{entry}", Pause(reason="the tournament is paused"))
            return
        await _all(self._open(state, pod) for pod in _open_pods(state))
        if halted_round == state.round:
            await self._for_open_pods(state, f"resume-{entry}", Resume(reason="the tournament goes on"))
        await _all(
            self._substitute(state, pod, seat)
            for pod in _open_pods(state)
            for seat, entrant_id in enumerate(pod.entrants)
            if state.entrants[entrant_id].withdrawn or entrant_id in pod.forfeited
        )

    async def _open(self, state: TournamentState, pod: PodState) -> None:
        match_id = pod.pod.match_id
        if (match_id, "open") not in self._done:
            async with self._slots:
                await self._instances.open_match(match_id, setup_of(state, state.round, pod))
            self._done.add((match_id, "open"))

    async def _substitute(self, state: TournamentState, pod: PodState, seat: int) -> None:
        entrant = state.entrants[pod.entrants[seat]].entrant
        if entrant.controller is Controller.PERSON:
            command = SubstituteComputer(seat=seat, reason="the entrant has left the tournament")
            await self._direct(pod.pod.match_id, f"substitute-{seat}", command)

    async def _for_open_pods(self, state: TournamentState, what: str, command: Command) -> None:
        await _all(self._direct(pod.pod.match_id, what, command) for pod in _open_pods(state))

    async def _direct(self, match_id: str, what: str, command: Command) -> None:
        """Gives a director's command once. That the match is in that state already, or has ended, is as good."""
        if (match_id, what) in self._done:
            return
        async with self._slots:
            try:
                await self._instances.direct(match_id, what, command, "lobby")
            except Rejected as rejected:
                if rejected.code in PASSING:
                    raise
                log.info("a match refused", event_type="direct_refused", match_id=match_id, why=str(rejected))
        self._done.add((match_id, what))


def _open_pods(state: TournamentState) -> list[PodState]:
    return [pod for pod in state.rounds[-1].pods if not pod.decided] if state.rounds else []


async def _all(work: Iterable[Awaitable[None]]) -> None:
    """Waits for all of it, then raises the first refusal: one table that is away does not keep the others."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
