"""The places that load players hold: matches, their seats, and the commands under way."""

from __future__ import annotations

from collections import deque

from majlis.engine.match import SEATING
from majlis.loadtest.choices import Options
from majlis.loadtest.link import Link
from majlis.v1 import table_pb2, view_pb2


class Seat:
    """One seat, with the newest it was shown."""

    __slots__ = ("match", "number", "private", "route", "token", "version")

    def __init__(self, match: SeatedMatch, number: int, route: int, token: str) -> None:
        self.match = match
        self.number = number
        self.route = route
        self.token = token
        self.version = 0
        self.private = b""


class Sent:
    """A command on its way, until it is answered and every seat has seen what came of it."""

    __slots__ = ("accepted", "act", "began", "seat", "unseen")

    def __init__(self, seat: Seat, act: table_pb2.Act, began: float) -> None:
        self.seat = seat
        self.act = act
        self.began = began
        self.accepted = False
        self.unseen = {each.route for each in seat.match.seats}

    @property
    def sits_down(self) -> bool:
        return self.act.decision_id == SEATING

    def is_held_by(self, view: view_pb2.MatchView) -> bool:
        """Whether a view was made after this command."""
        if view.HasField("ended"):
            return True
        if self.sits_down:
            return view.started or self.seat.number not in view.waiting_for
        if view.decision_id == self.act.decision_id:
            return self.seat.number not in view.waiting_for
        return self.act.decision_id < view.decision_id != SEATING


class SeatedMatch:
    """A match with all its seats in our hands."""

    __slots__ = ("dues", "ended", "game", "id", "link", "options", "seats", "sent", "view")

    def __init__(self, match_id: str, game: str, options: Options) -> None:
        self.id = match_id
        self.game = game
        self.options = options
        self.seats: list[Seat] = []
        self.sent: list[Sent] = []
        self.view: view_pb2.MatchView | None = None
        self.link: Link | None = None
        self.ended = False
        self.dues: deque[float] = deque()
        """Open loop: when the next moves should have been made."""


def find(seat: Seat | None, command_id: str) -> Sent | None:
    """The command under way with that id."""
    for sent in seat.match.sent if seat is not None else ():
        if sent.act.command_id == command_id:
            return sent
    return None
