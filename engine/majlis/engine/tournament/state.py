"""What a tournament's history folds to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.tournament import (
    Entrant,
    Pod,
    PodStatus,
    Standing,
    TournamentCommand,
    TournamentSetup,
    TournamentStage,
)

POD_SIZES: Final = range(2, 13)
"""How many entrants one match of a tournament may have."""
ROUNDS_MAX: Final = 100
ENTRANTS_MAX: Final = 2_500
"""So that the final standings fit into one entry of the log, whatever the names."""
REMEMBERED: Final = 32
"""Command ids kept of each director and player, for the friendly answer to a retry."""
DEFAULT_BYE_PERCENT: Final = 50


class Act(Struct, frozen=True, kw_only=True):
    """Somebody's command, with the time (Unix ms) at which it was received."""

    actor_kind: ActorKind
    actor_id: str
    command_id: str
    command: TournamentCommand
    received_at_ms: int


class EntrantState(Struct, frozen=True):
    """An entrant and whether it is still to be paired."""

    entrant: Entrant
    withdrawn: bool = False


class PodState(Struct, frozen=True):
    """A pod and how it was decided: places and scores by seat, empty while it is open."""

    pod: Pod
    status: PodStatus = PodStatus.OPEN
    places: tuple[int, ...] = ()
    scores: tuple[int, ...] = ()
    totals: tuple[int, ...] = ()
    revision: int = 0
    """The match's result that is booked or overruled: only a higher one changes anything."""
    forfeited: tuple[str, ...] = ()
    no_shows: tuple[str, ...] = ()

    @property
    def entrants(self) -> tuple[str, ...]:
        return self.pod.entrant_ids

    @property
    def decided(self) -> bool:
        return self.status is not PodStatus.OPEN

    @property
    def played(self) -> bool:
        """Whether its places say who was ahead of whom."""
        return self.decided and self.status is not PodStatus.VOID


class RoundState(Struct, frozen=True):
    """One round: its pods in order (pod 1 first), who had a bye, and whether every pod is decided."""

    pods: tuple[PodState, ...]
    byes: tuple[str, ...] = ()
    finished: bool = False


class Remembered(Struct, frozen=True):
    """A command id that was accepted, the entry it stands in, and a hash of the command."""

    command_id: str
    entry: int
    command_hash: bytes


class TournamentState(Struct, frozen=True, kw_only=True):
    """A tournament. `rounds[n - 1]` is round n; entrants stand in order of registration."""

    tournament_id: str
    setup: TournamentSetup
    stage: TournamentStage = TournamentStage.REGISTRATION
    paused: bool = False
    entrants: Mapping[str, EntrantState] = {}
    rounds: tuple[RoundState, ...] = ()
    final_standings: tuple[Standing, ...] = ()
    created_at_ms: int = 0
    started_at_ms: int = 0
    ended_at_ms: int = 0
    number: int = 0
    """Entries so far."""
    head_hash: bytes = bytes(32)
    """SHA-256 of the last stored entry."""
    last_ms: int = 0
    recent: Mapping[str, tuple[Remembered, ...]] = {}
    """Per actor, oldest first."""

    @property
    def round(self) -> int:
        """The number of the last round that was paired; 0 before the first."""
        return len(self.rounds)

    @property
    def active(self) -> list[Entrant]:
        """The entrants that are to be paired, in order of registration."""
        return [one.entrant for one in self.entrants.values() if not one.withdrawn]

    @property
    def min_pod_size(self) -> int:
        """The smallest pod that may be paired."""
        return self.setup.min_pod_size or self.setup.pod_size

    @property
    def over(self) -> bool:
        """Whether nothing is left to be played."""
        return self.stage in (TournamentStage.FINISHED, TournamentStage.ABORTED)

    def pod(self, round_number: int, pod_number: int) -> PodState | None:
        """The pod, or None where there is no such one."""
        if 1 <= round_number <= len(self.rounds):
            pods = self.rounds[round_number - 1].pods
            if 1 <= pod_number <= len(pods):
                return pods[pod_number - 1]
        return None
