"""The shape of a computer player: it receives what its seat may see, never a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView


class Computer(Protocol):
    """Chooses moves for one game, from the view of a seat alone."""

    def choose(
        self,
        public: MatchView,
        private: SeatPrivateView,
        history: Sequence[Happening],
        options: Any,
        level: ComputerLevel,
        key: bytes,
    ) -> tuple[Command, int]:
        """The move, and how long a person would have thought about it (`thinking_ms`).

        `history`: the deal's public happenings, oldest first. `options`: the match's, as the game's struct. `key`: the
        only source of chance (derived from match, seat and decision), so that the same request gives the same answer.
        """
