"""A match as a table would host it, without the table: gives commands, keeps the entries, moves the clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import pytest

from majlis.engine import history, match
from majlis.engine.decider import Rejected
from majlis.engine.history import Step
from majlis.engine.match import SEATING, Act, MatchState
from majlis.engine.vocabulary.entry import ActorKind, Command, Event, Observed
from majlis.engine.vocabulary.match import (
    ComputerLevel,
    Controller,
    MatchEnded,
    OpenMatch,
    Option,
    SeatSetup,
    TakeSeat,
)
from majlis.engine.vocabulary.rejection import RejectionCode

START_MS = 1_700_000_000_000
PERSON, COMPUTER = Controller.PERSON, Controller.COMPUTER

Choose = Callable[[MatchState, int], Command]


def seed(name: str) -> bytes:
    """A server seed for a test."""
    return sha256(name.encode()).digest()


def opening(*seats: Controller, game: str = "sounding", **fields: Any) -> OpenMatch:
    """The command that opens a match between these seats; `options` as a mapping."""
    options = fields.pop("options", {})
    setup: dict[str, Any] = {
        "game": game,
        "seats": tuple(
            SeatSetup(player_id=f"player-{index}", controller=controller, level=ComputerLevel.NOVICE)
            for index, controller in enumerate(seats)
        ),
        "options": tuple(Option(name=name, value=value) for name, value in options.items()),
        "server_seed": seed("match"),
    }
    return OpenMatch(**(setup | fields))


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[Rejected]]:
    """The code inside must be refused with this code, with words on what happened and what to do."""
    with pytest.raises(Rejected) as caught:
        yield caught
    assert caught.value.code is RejectionCode[code], caught.value
    assert caught.value.detail
    assert caught.value.remedy


class Played:
    """One match and all its entries."""

    def __init__(self, command: OpenMatch, match_id: str = "0-testmatch") -> None:
        self.match_id = match_id
        self.steps: list[Step] = []
        self.now_ms = START_MS
        self._commands = 0
        self.lobby(command)

    @classmethod
    def of(cls, *seats: Controller, match_id: str = "0-testmatch", **fields: Any) -> Played:
        """Opened between these seats; see `opening`."""
        return cls(opening(*seats, **fields), match_id)

    @property
    def state(self) -> MatchState:
        return self.steps[-1].state

    @property
    def stored(self) -> list[bytes]:
        return [step.stored for step in self.steps]

    @property
    def events(self) -> tuple[Event, ...]:
        """Of the last entry."""
        return self.steps[-1].entry.events

    @property
    def log(self) -> tuple[Event, ...]:
        """The events of all entries."""
        return tuple(event for step in self.steps for event in step.entry.events)

    @property
    def ended(self) -> MatchEnded:
        assert self.state.ended is not None
        return self.state.ended

    @property
    def decision_id(self) -> int:
        return self.state.decision.decision_id if self.state.decision is not None else 0

    @property
    def due_ms(self) -> int:
        assert self.state.decision is not None
        return self.state.decision.due_ms

    @property
    def waiting_for(self) -> tuple[int, ...]:
        return match.waiting_for(self.state)

    def act_of(self, kind: ActorKind, command: Command, **fields: Any) -> Act:
        """An act at the present time, with an id of its own and, for seats, the open decision."""
        self._commands += 1
        usual = {
            "seat": None,
            "command_id": f"c{self._commands}",
            "decision_id": 0,
            "actor_id": kind.name.lower(),
        }
        given = usual | fields
        return Act(
            kind,
            given["seat"],
            given["actor_id"],
            given["command_id"],
            given["decision_id"],
            command,
            Observed(received_at_ms=self.now_ms),
        )

    def give(self, act: Act) -> Step:
        """One command through the transact loop; a refusal changes nothing."""
        state = self.steps[-1].state if self.steps else None
        step = history.transact(state, act, self.match_id)
        self.steps.append(step)
        return step

    def seat(self, seat: int | None, command: Command, **fields: Any) -> Step:
        """The holder's command, for the open decision unless another is named."""
        return self.give(
            self.act_of(ActorKind.SEAT, command, **{"seat": seat, "decision_id": self.decision_id} | fields)
        )

    def computer(self, seat: int, command: Command, **fields: Any) -> Step:
        """The computer's command in the seat's place."""
        return self.give(
            self.act_of(
                ActorKind.COMPUTER, command, **{"seat": seat, "decision_id": self.decision_id} | fields
            )
        )

    def move(self, seat: int, command: Command, **fields: Any) -> Step:
        """The command of whoever controls the seat."""
        is_person = self.state.seats[seat].controller is PERSON
        return (self.seat if is_person else self.computer)(seat, command, **fields)

    def lobby(self, command: Command, **fields: Any) -> Step:
        return self.give(self.act_of(ActorKind.LOBBY, command, **fields))

    def director(self, command: Command, **fields: Any) -> Step:
        return self.give(self.act_of(ActorKind.DIRECTOR, command, **fields))

    def platform(self, command: Command, **fields: Any) -> Step:
        return self.give(self.act_of(ActorKind.PLATFORM, command, **fields))

    def clock(self, **fields: Any) -> Step:
        """The open decision's deadline, with the fallback for every silent seat."""
        command = fields.pop("command", None) or match.moves_for_silent(self.state, {})
        return self.give(self.act_of(ActorKind.CLOCK, command, **{"decision_id": self.decision_id} | fields))

    def expire(self) -> Step:
        """Lets the open decision's time pass."""
        self.now_ms = self.due_ms
        return self.clock()

    def sit(self, *seats: int) -> None:
        """These seats, or all that are waited for, are taken."""
        for seat in seats or self.waiting_for:
            self.seat(seat, TakeSeat(), decision_id=SEATING)

    def legal(self, seat: int) -> list[Command]:
        return list(match.game_of(self.state).legal(self.state.game_state, seat))

    def play_one(self, choose: Choose | None = None) -> Step:
        """The first seat waited for moves, by whoever controls it: its fallback, or what is chosen."""
        seat = self.waiting_for[0]
        chosen = choose or (lambda state, seat: match.game_of(state).fallback(state.game_state, seat))
        return self.move(seat, chosen(self.state, seat))

    def play_out(self, rng: random.Random, step_ms: int = 1000) -> Played:
        """Random legal moves to the end."""
        while self.state.ended is None:
            self.now_ms += step_ms
            self.play_one(lambda _state, seat: rng.choice(self.legal(seat)))
        return self


def played(*seats: Controller, rng_seed: str = "1", **fields: Any) -> Played:
    """A match played to its end by random legal moves."""
    it = Played.of(*seats, server_seed=seed(rng_seed), **fields)
    if it.waiting_for and not it.state.started:
        it.sit()
    return it.play_out(random.Random(rng_seed))


def names(events: Sequence[Event]) -> list[str]:
    """The types of the events."""
    return [type(event).__name__ for event in events]
