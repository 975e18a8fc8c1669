"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from majlis.cli.exits import usage
from majlis.v1 import match_pb2


class Level(StrEnum):
    """How well a computer plays."""

    NOVICE = "novice"
    CLUB = "club"
    EXPERT = "expert"


LEVELS: Final = {
    Level.NOVICE: match_pb2.COMPUTER_LEVEL_NOVICE,
    Level.CLUB: match_pb2.COMPUTER_LEVEL_CLUB,
    Level.EXPERT: match_pb2.COMPUTER_LEVEL_EXPERT,
}


def parse_options(given: Sequence[str] | None) -> list[match_pb2.Option]:
    """NAME=VALUE pairs as the game's options; whether they exist is the lobby's to say."""
    options = []
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals:
            raise usage(f"{each!r} is not NAME=VALUE", "e.g. --option stall_limit=40")
        options.append(match_pb2.Option(name=name.strip(), value=value.strip()))
    return options
