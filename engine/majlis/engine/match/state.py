"""What every match is at one moment, whatever the game: who sits where, what is open until when, what was accepted."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from majlis.engine.vocabulary.entry import ActorKind, Command, Observed
from majlis.engine.vocabulary.match import ComputerLevel, Controller, DecisionOpened, MatchEnded, MatchOpened

SEATING: Final = 0xFFFFFFFF
"""The id of the decision by which persons take their seats. Games count theirs from 1."""
SEATING_TIMEOUT_MS: Final = 120_000
"""How long persons have when the opening does not say."""
MISSED_LIMIT: Final = 3
"""RULES §6.2: so many consecutive own decisions missed, and the computer takes the seat."""
NO_HASH: Final = bytes(32)
"""`prev_hash` of a match's first entry."""

ABSENT: Final = "absent"
SUBSTITUTED: Final = "substituted"
RESIGNED: Final = "resigned"
"""Why the computer plays a person's seat: reasons of SeatTakenOver."""


class Act(Struct, frozen=True, gc=False):
    """A command with who gives it and what the table observed: an entry in the making."""

    actor_kind: ActorKind
    actor_seat: int | None
    actor_id: str
    command_id: str
    decision_id: int
    command: Command
    observed: Observed


class Facts(Struct, frozen=True, array_like=True, gc=False):
    """What the first entry says, once and for all."""

    match_id: str
    rules_version: int
    options: Any
    """The complete options, as the game's struct."""
    opened: MatchOpened


class Seat(Struct, frozen=True, array_like=True, gc=False):
    """One seat: who plays it now, and how much of it its holder has played."""

    controller: Controller
    level: ComputerLevel
    holder: Controller
    """Who it was opened for."""
    taken: bool = False
    away: str = ""
    """Why the computer plays a person's seat; empty otherwise."""
    returning: bool = False
    """The holder is back and plays again from the next deal on."""
    missed: int = 0
    """Consecutive own decisions that the clock made."""
    own_moves: int = 0
    computer_moves: int = 0
    """Moves made in the holder's place, by the computer or the clock."""
    entropy: bytes = b""
    """What it adds to the shuffle; empty again once the match has started."""


class MatchState(Struct, frozen=True, array_like=True, gc=False):
    """One match after `number` entries."""

    facts: Facts
    seats: tuple[Seat, ...]
    number: int = 0
    head_hash: bytes = NO_HASH
    """SHA-256 of the last stored entry."""
    last_ms: int = 0
    """Time of the last entry: time within a match never goes backwards."""
    started_at_ms: int = 0
    """0 while seats are being taken."""
    decision: DecisionOpened | None = None
    """The last decision opened, with the instant its deadline has been moved to; None when the match has ended."""
    paused_at_ms: int | None = None
    resigned: tuple[int, ...] = ()
    """Seats in the order in which they resigned."""
    recent: tuple[bytes, ...] = ()
    """By seat, and one more for everybody else: the last accepted command ids (`recent.py`)."""
    game_state: Any = None
    """None until the match has started."""
    ended: MatchEnded | None = None

    @property
    def match_id(self) -> str:
        return self.facts.match_id

    @property
    def game(self) -> str:
        """The game's key."""
        return self.facts.opened.game

    @property
    def rules_version(self) -> int:
        return self.facts.rules_version

    @property
    def options(self) -> Any:
        return self.facts.options

    @property
    def started(self) -> bool:
        return self.started_at_ms != 0

    @property
    def paused(self) -> bool:
        return self.paused_at_ms is not None
