"""What goes out on one Play stream: the newest view of each match, and every answer, one frame at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

import grpc.aio

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.rejections import to_proto
from majlis.engine.decider import Rejected
from majlis.v1 import table_pb2

from . import views
from .answers import Answer
from .live import LiveMatch

FRAME_BYTES: Final = 60 * 1024
"""A frame stays below gRPC's limit of 64 KiB; what does not fit goes into the next one."""
MAX_WAITING: Final = 8192
"""Commands of one connection that may be unanswered; beyond, no more is read until answers have gone out."""
MAX_HAPPENED: Final = 64
_OVERHEAD_BYTES: Final = 48
"""What a message in a frame takes besides its contents, at most."""
MAX_PINGS: Final = 8

Context = grpc.aio.ServicerContext[Any, Any]


class Route:
    """One place a connection holds at one match."""

    __slots__ = ("connection", "live", "number", "player_id", "seat")

    def __init__(
        self, connection: Connection, number: int, live: LiveMatch, seat: int, player_id: str
    ) -> None:
        self.connection = connection
        self.number = number
        self.live = live
        self.seat = seat
        self.player_id = player_id

    def show(self, shown: views.Shown) -> None:
        """Queues a change for the next frame."""
        self.connection.queue_update(self, shown)

    def lost(self, moved: Rejected) -> None:
        """The match has gone to another instance: the client attaches there."""
        self.detach()
        self.connection.moved[self.number] = self.live.id
        refuse(self.connection, self.number, moved)

    def detach(self) -> None:
        self.connection.routes.pop(self.number, None)
        if self in self.live.watchers:
            self.live.watchers.remove(self)


class Pending:
    """What is to be sent of one match: the newest view, and what happened since the last frame (no more than a slow
    reader may leave lying here)."""

    __slots__ = ("happened", "routes", "shown")

    def __init__(self) -> None:
        self.shown: views.Shown | None = None
        self.happened: list[bytes] = []
        self.routes: dict[int, tuple[views.Seen, tuple[bytes, ...]]] = {}

    def take(self, route: Route, shown: views.Shown) -> None:
        if shown is not self.shown:
            self.shown = shown
            self.happened.extend(shown.happened)
            del self.happened[:-MAX_HAPPENED]
        seen = shown.seen[route.seat]
        before = self.routes.get(route.number)
        told = (*before[1], *seen.told)[-MAX_HAPPENED:] if before is not None else seen.told
        self.routes[route.number] = (seen, told)

    def write(self, update: table_pb2.Update) -> int:
        """Fills a message that stands in a frame already; returns about how many bytes it takes."""
        shown = self.shown
        assert shown is not None
        update.match_id, update.public = shown.match_id, shown.public
        update.happened.extend(self.happened)
        size = len(shown.public) + sum(map(len, self.happened)) + _OVERHEAD_BYTES
        for number, (seen, told) in self.routes.items():
            route = update.routes.add()
            route.route, route.view_version, route.private = number, seen.version, seen.private
            route.happened.extend(told)
            size += len(seen.private) + sum(map(len, told)) + _OVERHEAD_BYTES
        return size


class Connection:
    """What is to be sent to one client: the newest view of each match, and every answer."""

    def __init__(self, clock: Clock) -> None:
        self.routes: dict[int, Route] = {}
        self.attaching: dict[int, table_pb2.Attach] = {}
        """Asked for, and answered when what was decided for the match is stored."""
        self.moved: dict[int, str] = {}
        """Routes whose match has gone to another instance -> match id, until they are attached again."""
        self.waiting = 0
        self.draining = False
        self._clock = clock
        self._updates: dict[str, Pending] = {}
        self._answers: deque[tuple[int, str, Answer]] = deque()
        self._attached: deque[table_pb2.Attached] = deque()
        self._pings: dict[int, float] = {}  # number -> when sent, of those not answered yet
        self._ping_number = 0
        self._ping_due: list[table_pb2.Ping] = []
        self._wake = asyncio.Event()
        self._room = asyncio.Event()

    # --- filled by the host -----------------------------------------------------------------------------------------

    def queue_update(self, route: Route, shown: views.Shown) -> None:
        pending = self._updates.get(shown.match_id)
        if pending is None:
            pending = self._updates[shown.match_id] = Pending()
        pending.take(route, shown)
        self._wake.set()

    def answer(self, route: int, command_id: str, answer: Answer) -> None:
        self._answers.append((route, command_id, answer))
        self._wake.set()

    def attached(self, message: table_pb2.Attached) -> None:
        self._attached.append(message)
        self._wake.set()

    def drain(self) -> None:
        """Tells the client that this instance is going away."""
        self.draining = True
        self._wake.set()

    def ping(self) -> None:
        self._ping_number += 1
        self._pings[self._ping_number] = self._clock.monotonic()
        self._pings.pop(self._ping_number - MAX_PINGS, None)
        self._ping_due = [table_pb2.Ping(id=self._ping_number)]
        self._wake.set()

    def pong(self, number: int) -> None:
        sent = self._pings.pop(number, None)
        if sent is not None:
            metrics.SEAT_RTT.observe(self._clock.monotonic() - sent)

    # --- frames -----------------------------------------------------------------------------------------------------

    async def room(self) -> None:
        """Returns when few enough commands are unanswered."""
        while self.waiting > MAX_WAITING:
            self._room.clear()
            await self._room.wait()

    async def write_frames(self, context: Context) -> None:
        """Writes what is queued, one frame at a time: while one is being written, newer views replace older ones."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            # The rest of this tick belongs into the same frame.
            await asyncio.sleep(0)
            while (frame := self._frame()) is not None:
                await context.write(frame)

    def _frame(self) -> table_pb2.PlayDown | None:
        if not (self._updates or self._answers or self._attached or self._ping_due or self.draining):
            return None
        frame = table_pb2.PlayDown(now_ms=self._clock.now_ms(), draining=self.draining, pings=self._ping_due)
        self._ping_due = []
        self.draining = False
        # Messages are filled where they stand in the frame: made apart and copied they cost three times as much.
        size = 0
        while self._attached and size < FRAME_BYTES:
            frame.attached.append(self._attached.popleft())
            size += frame.attached[-1].ByteSize()
        while self._answers and size < FRAME_BYTES:
            size += _write_answer(frame.answers.add(), *self._answers.popleft())
        for match_id in list(self._updates) if size < FRAME_BYTES else ():
            size += self._updates.pop(match_id).write(frame.updates.add())
            if size > FRAME_BYTES:
                break
        self.waiting -= len(frame.answers)
        self._room.set()
        return frame


def _write_answer(message: table_pb2.Answer, route: int, command_id: str, answer: Answer) -> int:
    message.route, message.command_id = route, command_id
    if answer.rejected is not None:
        message.rejected.CopyFrom(to_proto(answer.rejected))
        return message.ByteSize()
    message.accepted.entry = answer.entry
    if answer.duplicate:
        message.accepted.duplicate = True
    return len(command_id) + _OVERHEAD_BYTES


def refuse(connection: Connection, route: int, rejected: Rejected) -> None:
    """Answers an attach that failed."""
    connection.attached(table_pb2.Attached(route=route, rejected=to_proto(rejected)))
