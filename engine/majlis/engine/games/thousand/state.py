"""What a match of Thousand is at one moment. Sets of cards are numbers (see `cards`); seats run to the left."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from majlis.engine.games.thousand.options import Options
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.thousand import ThousandDealScored, ThousandPhase, ThousandRedealGranted

NOT_STARTED: Final = ThousandPhase.NOT_STARTED
REDEAL: Final = ThousandPhase.REDEAL
AUCTION: Final = ThousandPhase.AUCTION
GIVE_LEFT: Final = ThousandPhase.GIVE_LEFT
GIVE_RIGHT: Final = ThousandPhase.GIVE_RIGHT
CONTRACT: Final = ThousandPhase.CONTRACT
TRICK: Final = ThousandPhase.TRICK
OVER: Final = ThousandPhase.OVER

SEATS: Final = 3
HAND: Final = 7
"""Cards dealt to a seat; the three that are left are the talon."""
LEFT: Final = (1, 2, 0)
"""The seat to the left of each: who comes next (THO-O14)."""
OPENING_BID: Final = 100
"""THO-7."""
NOBODY: Final = (0, 0, 0)

UNANSWERED: Final = 0
DECLINED: Final = 1
REQUESTED: Final = 2
"""A seat's answer in the redeal phase."""


class Frame(Struct, frozen=True, gc=False):
    """What changes a few times in a deal at most."""

    options: Options
    chance: Chance
    deal: int = 0
    redeals: int = 0  # how often this deal has been dealt anew
    dealer: int = 0
    scores: tuple[int, int, int] = NOBODY
    attempts: tuple[int, int, int] = NOBODY  # deals in a row on the barrel (only under barrel_attempts)
    sheet: bytes = b""  # a line for each deal scored (see `scoring`)
    last: ThousandDealScored | None = None
    shown: ThousandRedealGranted | None = None  # why this deal has been dealt anew
    answers: tuple[int, int, int] = NOBODY
    bids: tuple[int, int, int] = NOBODY  # the last one of each seat; 0 = none
    passed: int = 0  # bit s = seat s has passed
    declarer: int | None = None
    bid: int = 0  # the one that stands
    contract: int = 0
    shown_talon: int = 0
    given: tuple[int, ...] = ()  # cards: to the left, to the right


class State(Struct, frozen=True, gc=False):
    """A position. `turn` is None while all may answer at once, and where nobody has anything to do."""

    frame: Frame
    phase: ThousandPhase = NOT_STARTED
    decision_id: int = 0
    turn: int | None = None
    hands: tuple[int, int, int] = NOBODY
    talon: int = 0  # until it is taken
    leader: int = 0
    trick: bytes = b""  # as played
    trump: int = -1
    tricks: int = 0  # finished
    won: tuple[int, int, int] = NOBODY  # cards taken in tricks
    declared: bytes = b""  # marriages in the order of declaration: seat * 4 + suit
    last_trick: bytes = b""
    last_leader: int = 0


def put(seats: tuple[int, int, int], seat: int, value: int) -> tuple[int, int, int]:
    """The three with one exchanged."""
    first, second, third = seats
    if seat == 0:
        return (value, second, third)
    return (first, value, third) if seat == 1 else (first, second, value)


def declarer_of(frame: Frame) -> int:
    """The declarer, where there must be one."""
    assert frame.declarer is not None, "an auction always has a declarer (THO-11)"
    return frame.declarer
