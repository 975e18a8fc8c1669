"""A tournament being played in memory: what the tests of the decider drive."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest

from majlis.engine.decider import Rejected
from majlis.engine.tournament import Act, PodState, TournamentState, transact
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import ComputerLevel, Controller, Termination
from majlis.engine.vocabulary.rejection import RejectionCode as Code
from majlis.engine.vocabulary.tournament import (
    BookResult,
    CreateTournament,
    Entrant,
    NoShowPolicy,
    PairRound,
    RegisterEntrant,
    StartTournament,
    TournamentCommand,
    TournamentEvent,
    TournamentSetup,
)


def rng_seed(number: int) -> bytes:
    return hashlib.sha256(f"tournament {number}".encode()).digest()


def setup(
    *,
    pod_size: int = 4,
    rounds: int = 5,
    min_pod_size: int = 0,
    seed: int = 0,
    no_show: NoShowPolicy = NoShowPolicy.COMPUTER,
    max_entrants: int = 0,
    byes_score_percent: int = 0,
) -> TournamentSetup:
    return TournamentSetup(
        name="Winter cup",
        game="sounding",
        rounds=rounds,
        pod_size=pod_size,
        min_pod_size=min_pod_size,
        no_show=no_show,
        rng_seed=rng_seed(seed),
        max_entrants=max_entrants,
        byes_score_percent=byes_score_percent,
    )


def person(number: int) -> Entrant:
    name = f"e{number}"
    return Entrant(entrant_id=name, name=name.upper(), player_ids=(name,), controller=Controller.PERSON)


def computer(number: int) -> Entrant:
    name = f"e{number}"
    return Entrant(
        entrant_id=name,
        name=name.upper(),
        player_ids=(name,),
        controller=Controller.COMPUTER,
        level=ComputerLevel.CLUB,
    )


class Played:
    """`do` sends a command; `stored` is the log."""

    def __init__(self, tournament: TournamentSetup, entrants: int = 0, *, seed: int = 0) -> None:
        self.chance = random.Random(seed)
        self.state: TournamentState
        self.stored: list[bytes] = []
        self.now_ms = 1_000
        self._commands = 0
        self._begin(CreateTournament(setup=tournament))
        for number in range(entrants):
            self.do(RegisterEntrant(entrant=person(number)))
        if entrants:
            self.do(StartTournament())

    def _begin(self, command: TournamentCommand) -> None:
        step = transact(None, self.act(command, ActorKind.LOBBY), "cup")
        self.state, self.stored = step.state, [step.stored]

    def act(self, command: TournamentCommand, kind: ActorKind, actor_id: str = "somebody") -> Act:
        self._commands += 1
        return Act(
            actor_kind=kind,
            actor_id=actor_id,
            command_id=f"c{self._commands}",
            command=command,
            received_at_ms=self.now_ms,
        )

    def do(
        self, command: TournamentCommand, kind: ActorKind = ActorKind.LOBBY
    ) -> tuple[TournamentEvent, ...]:
        """The events it caused. Raises Rejected."""
        step = transact(self.state, self.act(command, kind), "cup")
        self.state = step.state
        self.stored.append(step.stored)
        return step.entry.events

    def pair(self) -> tuple[PodState, ...]:
        """Pairs the next round; its pods."""
        self.do(PairRound(round=self.state.round + 1, shards=8))
        return self.state.rounds[-1].pods

    def result(
        self, pod: int, places: Sequence[int], *, round_number: int = 0, revision: int = 1
    ) -> BookResult:
        """The command that books a pod of the present round."""
        number = round_number or self.state.round
        found = self.state.pod(number, pod)
        assert found is not None
        return BookResult(
            round=number,
            pod=pod,
            match_id=found.pod.match_id,
            revision=revision,
            termination=Termination.PLAYED_OUT if places else Termination.ABORTED,
            places=tuple(places),
        )

    def book(self, pod: int, places: Sequence[int], **more: int) -> tuple[TournamentEvent, ...]:
        return self.do(self.result(pod, places, **more))

    def book_all(self) -> None:
        """Random places, with ties, in every open pod of the present round."""
        for pod in self.state.rounds[-1].pods:
            if not pod.decided:
                self.book(pod.pod.pod, self.random_places(len(pod.entrants)))

    def random_places(self, seats: int) -> tuple[int, ...]:
        points = [self.chance.randrange(3 * seats) for _ in range(seats)]
        return tuple(1 + sum(other < own for other in points) for own in points)

    def play_round(self) -> None:
        self.pair()
        self.book_all()

    def pods(self) -> Iterable[PodState]:
        return (pod for one in self.state.rounds for pod in one.pods)


def meetings(played: Played) -> Counter[tuple[str, str]]:
    """How often each pair has sat together."""
    return Counter(pair for pod in played.pods() for pair in combinations(sorted(pod.entrants), 2))


def seat_counts(played: Played) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for pod in played.pods():
        for seat, entrant_id in enumerate(pod.entrants):
            counts.setdefault(entrant_id, [0] * played.state.setup.pod_size)[seat] += 1
    return counts


def refused(played: Played, command: Any, kind: ActorKind = ActorKind.LOBBY) -> Code:
    """The code; the log is as before."""
    before = played.state
    with pytest.raises(Rejected) as refusal:
        played.do(command, kind)
    assert played.state is before
    assert refusal.value.detail
    assert refusal.value.remedy
    return refusal.value.code


def kinds(events: Sequence[object]) -> list[type]:
    return [type(event) for event in events]
