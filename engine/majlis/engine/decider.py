"""The shape of a game: pure decisions over immutable state.

Every game folder reads in the same order: state, events folded into it (`evolve`), decisions (`decide`), what is
legal, what may be seen. Nothing here or below reads a clock, draws a random number or does I/O: what a decision
needs from outside comes as `Observed`, and chance comes from the match's committed seed (`shuffle.Chance`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from msgspec import Struct

from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.rejection import RejectionCode

SPECTATOR: Final = -1
"""The viewer that holds no seat."""

State = TypeVar("State")


class Rejected(Exception):
    """An expected refusal: a stable code, what happened, and what to do. Leaves no trace in the log."""

    def __init__(self, code: RejectionCode, detail: str, remedy: str) -> None:
        super().__init__(f"{code.name}: {detail}")
        self.code = code
        self.detail = detail
        self.remedy = remedy


class Outcome(Struct, frozen=True):
    """An ending is a value: why it ended, the place of each seat (1 = first, equal places shared) and its points."""

    termination: Termination
    places: tuple[int, ...]
    totals: tuple[int, ...]


class Deadline(Struct, frozen=True):
    """The open decision: its id, the seats it waits for now, what it is about, and until when.

    `timeout_ms` counts from the entry that opened the decision (match.py makes the absolute instant of it, kept in
    the log by `DecisionOpened`); a game that computes the instant itself (steal windows) gives `due_ms` instead.
    `optional`: it is an offer, so that to let it pass is no missed decision (RULES §6.2).
    """

    decision_id: int
    seats: tuple[int, ...]
    what_for: str
    timeout_ms: int | None = None
    due_ms: int | None = None
    optional: bool = False


class Setup(Struct, frozen=True):
    """What a game starts from: number of seats, the complete options of its rules version, and its chance."""

    seats: int
    options: Any
    chance: Chance


class Emitter(list[Event], Generic[State]):
    """The events of one decision, each folded as it is emitted: the next step sees its effect in `state`."""

    __slots__ = ("_evolve", "state")

    def __init__(self, evolve: Callable[[State, Event], State], state: State) -> None:
        super().__init__()
        self._evolve = evolve
        self.state = state

    def __call__(self, event: Event) -> None:
        self.append(event)
        self.state = self._evolve(self.state, event)


class Game(Protocol[State]):
    """One game. `view` has no default: nothing secret may pass through it."""

    key: str
    """Stored name, e.g. "sounding"."""
    rules_versions: Mapping[int, Any]
    """Rules version -> frozen options struct with that version's defaults. The highest is the newest."""
    state_schema: int
    """Raised by hand when the shape of State changes: older checkpoints are then folded again."""
    state_type: type[Any]
    """The msgspec struct of State, for checkpoints."""

    def check_setup(self, seats: int, options: Any) -> None:
        """Raises Rejected(BAD_SEATS or BAD_OPTION) where the game cannot be played so."""

    def initial(self, setup: Setup) -> State: ...

    def start(self, state: State) -> Emitter[State]:
        """What happens by itself when everybody is seated: the first deal."""

    def decide(self, state: State, seat: int, command: Command, observed: Observed) -> Emitter[State]:
        """The events the command causes, and the state they lead to; raises Rejected and nothing else, whatever the
        command holds. The caller has checked decision id and seat."""

    def evolve(self, state: State, event: Event) -> State:
        """Total and silent: never raises on an old log; events of other kinds leave the state as it is."""

    def legal(self, state: State, seat: int) -> Iterable[Command]:
        """Every command `decide` would accept from this seat now; none when the decision does not wait for it.

        Where those are too many to list, iteration gives what a sensible player would choose from, and `in` answers for all.
        """

    def view(self, state: State, viewer: int) -> Any:
        """SPECTATOR: the public view struct. A seat: what that seat alone sees on top (its private view struct)."""

    def happening(self, event: Event, viewer: int) -> Any:
        """What the viewer may be told of an event: SPECTATOR gives the public happening or None; a seat gives what
        that seat alone is told instead of it, or None where the public one says all."""

    def deadline(self, state: State) -> Deadline | None: ...

    def fallback(self, state: State, seat: int) -> Command:
        """The move made for a silent seat: always legal."""

    def outcome(self, state: State) -> Outcome | None: ...

    def deal(self, state: State) -> int:
        """The number of the present deal: 1, 2, 3 … (0 before the first)."""

    def position(self, state: State) -> str:
        """The canonical text of the whole position, secrets included: what the position hash is made of."""

    def conserved(self, state: State) -> bool:
        """Whether no card has appeared or vanished (RULES §5)."""
