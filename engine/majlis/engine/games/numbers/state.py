"""What a match of Numbers is at one moment. Hands are bytes in rising order, piles bytes from bottom to top."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from majlis.engine.games.numbers.options import Options
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.numbers import NumbersDealScored, NumbersFault, NumbersPhase

NOT_STARTED: Final = NumbersPhase.NOT_STARTED
TURN: Final = NumbersPhase.TURN
DREW: Final = NumbersPhase.DREW
PLAYED: Final = NumbersPhase.PLAYED
AGAIN: Final = NumbersPhase.AGAIN
DREW_AGAIN: Final = NumbersPhase.DREW_AGAIN
CORRECTION: Final = NumbersPhase.CORRECTION
OVER: Final = NumbersPhase.OVER

SEATS_MIN: Final = 2
SEATS_MAX: Final = 12
HAND: Final = 7
PENALTY: Final = 3
NOTHING: Final = -1
"""No card was drawn in this turn; there is no number card on the ground."""


class Frame(Struct, frozen=True, gc=False):
    """What changes with a deal, or when a player is out."""

    options: Options
    chance: Chance
    seats: int
    deal: int = 0
    extra: bool = False
    redeals: int = 0
    recycled: int = 0  # how often in this deal
    dealer: int = 0
    players: tuple[int, ...] = ()  # seats in the order of play, the starter first
    out: tuple[int, ...] = ()  # seats in the order in which they got rid of their cards
    bonuses: tuple[int, ...] = ()
    aside: bytes = b""  # opening jokers (only under opening_joker = set_aside)
    totals: tuple[int, ...] = ()  # of the rounds, without extra ones
    standing: tuple[tuple[int, ...], ...] = ()  # seats by place, best first; set after the last round
    recent: tuple[int, ...] = ()  # points of each seat's last deal
    ranks: tuple[int, ...] = ()  # in it
    last: NumbersDealScored | None = None


class State(Struct, frozen=True, gc=False):
    """A position. `hands` stand by seat."""

    frame: Frame
    phase: NumbersPhase = NOT_STARTED
    decision_id: int = 0
    turn: int = 0
    hands: tuple[bytes, ...] = ()
    pile: bytes = b""
    ground: bytes = b""
    target: int = NOTHING  # the last number card on the ground
    rights: int = 0  # kinds that a bare joker on top allows; 0 where there is none
    drawn: int = NOTHING  # the card that the play must contain
    has_drawn: bool = False  # in this turn
    moved: bool = False  # a card has been put down or drawn in this turn
    idle: int = 0  # turns in a row in which nothing moved
    thrown: bytes = b""  # waits for a correction, as put down
    fault: NumbersFault = NumbersFault.UNSPECIFIED


def put(hands: tuple[bytes, ...], seat: int, hand: bytes) -> tuple[bytes, ...]:
    """The hands with one exchanged."""
    return (*hands[:seat], hand, *hands[seat + 1 :])


def team_of(frame: Frame, seat: int) -> int:
    """NUM-42: the team of a seat, from 0; members sit side by side. Everybody's own where there are none."""
    teams = frame.options.teams
    return seat // (frame.seats // teams) if teams else seat


def in_play(frame: Frame) -> list[int]:
    """Who still holds cards, in the order of play."""
    out = frame.out
    return [seat for seat in frame.players if seat not in out]


def next_player(frame: Frame, seat: int) -> int:
    """Who comes after this seat; those who are out are skipped (NUM-O24)."""
    players, out = frame.players, frame.out
    place = players.index(seat) if seat in players else 0
    for step in range(1, len(players) + 1):
        other = players[(place + step) % len(players)]
        if other not in out:
            return other
    return seat
