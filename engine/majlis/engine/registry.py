"""The games of this build: one line each."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from msgspec import Struct

from majlis.engine.computer import Computer
from majlis.engine.decider import Game, Rejected
from majlis.engine.games.numbers import Numbers
from majlis.engine.games.numbers import notation as numbers_notation
from majlis.engine.games.numbers.computer import NumbersComputer
from majlis.engine.games.sounding import Sounding
from majlis.engine.games.sounding import notation as sounding_notation
from majlis.engine.games.sounding.computer import SoundingComputer
from majlis.engine.games.thousand import Thousand
from majlis.engine.games.thousand import notation as thousand_notation
from majlis.engine.games.thousand.computer import ThousandComputer
from majlis.engine.vocabulary.match import Option
from majlis.engine.vocabulary.rejection import RejectionCode


class Registered(Struct, frozen=True):
    """A game, its computer player, and its notation (positions and commands as text, for scenarios)."""

    game: Game[Any]
    computer: Computer
    notation: ModuleType
    tournament_options: tuple[Option, ...] = ()
    """What tournaments play by where they do not say otherwise (RULES §6.3)."""


GAMES: Final[dict[str, Registered]] = {
    "numbers": Registered(Numbers(), NumbersComputer(), numbers_notation),
    "sounding": Registered(
        Sounding(), SoundingComputer(), sounding_notation, (Option(name="stall_limit", value="40"),)
    ),
    "thousand": Registered(Thousand(), ThousandComputer(), thousand_notation),
}


def registered(key: str) -> Registered:
    """The game stored under that key; raises Rejected(UNKNOWN_GAME)."""
    found = GAMES.get(key)
    if found is None:
        known = ", ".join(sorted(GAMES))
        raise Rejected(
            RejectionCode.UNKNOWN_GAME, f"there is no game {key[:40]!r} here", f"Choose one of: {known}."
        )
    return found


def game(key: str) -> Game[Any]:
    """The game stored under that key; raises Rejected(UNKNOWN_GAME)."""
    found = GAMES.get(key)
    return found.game if found is not None else registered(key).game
