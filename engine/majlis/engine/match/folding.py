"""Folding many entries at once: what `evolve.apply` does one by one, without a state for each entry in between.

Most entries are a move whose events are the game's, and open the next decision: these touch the game's state and a few
counters. Any other entry is applied as it stands. Whatever is remembered of a seat's last commands is made at the end.
"""

from __future__ import annotations

from collections import deque
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.match.evolve import MATCH_EVENTS, apply
from majlis.engine.match.flow import game_of
from majlis.engine.match.recent import KEPT, remember_stored
from majlis.engine.match.state import MatchState, Seat
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import Controller, DecisionOpened
from majlis.engine.vocabulary.wire import EntryFrame, decode_entry, encode_event, frame_entry, open_event

_SEAT: Final = int(ActorKind.SEAT)
_COMPUTER: Final = int(ActorKind.COMPUTER)
_DECISION: Final = encode_event(DecisionOpened(decision_id=1))[:1]
"""What the bytes of a DecisionOpened begin with."""


class Folding:
    """A match in the course of being folded: `add` each stored entry, then take the `state`."""

    def __init__(self, state: MatchState | None) -> None:
        self._state = state
        self._last: tuple[EntryFrame, bytes] | None = None  # the last entry not in the state yet
        self._begin()

    def _begin(self) -> None:
        state = self._state
        started = state is not None and state.game_state is not None
        self._evolve = game_of(state).evolve if state is not None and started else None
        self._game_state: Any = state.game_state if state is not None else None
        self._decision = b""
        seats = len(state.seats) if state is not None else 0
        self._moves = [[0, 0] for _ in range(seats)]  # by seat: made by its holder, by the computer for it
        self._commands: list[deque[EntryFrame]] = [deque(maxlen=KEPT) for _ in range(seats)]

    @property
    def state(self) -> MatchState | None:
        """The match after all entries added."""
        if self._last is not None and self._state is not None:
            self._state = self._gathered(self._state, *self._last)
            self._last = None
            self._begin()
        return self._state

    def add(self, stored: bytes) -> None:
        """One stored entry. Raises Unreadable."""
        frame = frame_entry(stored)
        kind, evolve = frame.actor_kind, self._evolve
        if evolve is None or kind not in (_COMPUTER, _SEAT):
            self._apply(stored)
            return
        game_state, decision = self._game_state, self._decision
        for event in frame.events:
            if event[:1] == _DECISION:
                decision = event
                continue
            opened = open_event(event)
            if type(opened) in MATCH_EVENTS:
                self._apply(stored)
                return
            game_state = evolve(game_state, opened)
        self._game_state, self._decision, self._last = game_state, decision, (frame, stored)
        self._moves[frame.actor_seat][kind == _COMPUTER] += 1
        if kind == _SEAT:
            self._commands[frame.actor_seat].append(frame)

    def _apply(self, stored: bytes) -> None:
        self._state = apply(self.state, decode_entry(stored), sha256(stored).digest())
        self._begin()

    def _gathered(self, state: MatchState, frame: EntryFrame, stored: bytes) -> MatchState:
        decision = open_event(self._decision) if self._decision else state.decision
        recent = list(state.recent)
        for seat, commands in enumerate(self._commands):
            for one in commands:
                recent[seat] = remember_stored(
                    recent[seat], one.command_id, one.number, one.decision_id, one.command
                )
        return replace(
            state,
            seats=tuple(_moved(seat, *moves) for seat, moves in zip(state.seats, self._moves, strict=True)),
            number=frame.number,
            head_hash=sha256(stored).digest(),
            last_ms=frame.observed.received_at_ms,
            decision=decision,
            recent=tuple(recent),
            game_state=self._game_state,
        )


def _moved(seat: Seat, by_holder: int, by_computer: int) -> Seat:
    if not by_holder and not by_computer:
        return seat
    if seat.holder is not Controller.PERSON:
        by_holder, by_computer = by_holder + by_computer, 0
    return replace(
        seat,
        missed=0,
        own_moves=seat.own_moves + by_holder,
        computer_moves=seat.computer_moves + by_computer,
    )
