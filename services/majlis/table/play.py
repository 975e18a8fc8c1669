"""The Play stream: one connection, any number of seats, at most one frame a loop tick in each direction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import grpc.aio
import structlog

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.rejections import to_proto
from majlis.engine.decider import SPECTATOR, Rejected
from majlis.engine.match import Act
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind, Command
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import read_command
from majlis.v1 import entry_pb2, table_pb2

from . import views
from .host import TableHost
from .live import Answer, LiveMatch

log = structlog.get_logger(__name__)

FRAME_BYTES: Final = 60 * 1024
"""A frame stays below gRPC's limit of 64 KiB; what does not fit goes into the next one."""
MAX_ROUTES: Final = 20_000
MAX_WAITING: Final = 8192
"""Commands of one connection that may be unanswered; beyond, no more is read until answers have gone out."""
MAX_HAPPENED: Final = 64
PING_EVERY_S: Final = 2.0
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
        refuse(self.connection, self.number, moved)

    def detach(self) -> None:
        self.connection.routes.pop(self.number, None)
        if self in self.live.watchers:
            self.live.watchers.remove(self)


class Connection:
    """What is to be sent to one client: the newest view of each match, and every answer."""

    def __init__(self, clock: Clock) -> None:
        self.routes: dict[int, Route] = {}
        self.waiting = 0
        self.draining = False
        self._clock = clock
        self._updates: dict[str, table_pb2.Update] = {}
        self._answers: list[table_pb2.Answer] = []
        self._attached: list[table_pb2.Attached] = []
        self._pings: dict[int, float] = {}  # number -> when sent, of those not answered yet
        self._ping_number = 0
        self._ping_due: list[table_pb2.Ping] = []
        self._wake = asyncio.Event()
        self._room = asyncio.Event()

    # --- filled by the host -----------------------------------------------------------------------------------------

    def queue_update(self, route: Route, shown: views.Shown) -> None:
        update = self._updates.get(shown.match_id)
        if update is None:
            update = self._updates[shown.match_id] = table_pb2.Update(match_id=shown.match_id)
        if update.public != shown.public:
            update.public = shown.public
            update.happened.extend(shown.happened)
            del update.happened[:-MAX_HAPPENED]
        mine = next((r for r in update.routes if r.route == route.number), None) or update.routes.add()
        mine.route = route.number
        mine.view_version = shown.versions[route.seat]
        mine.private = shown.private[route.seat]
        mine.happened.extend(shown.told.get(route.seat, ()))
        self._wake.set()

    def answer(self, route: int, command_id: str, answer: Answer) -> None:
        message = table_pb2.Answer(route=route, command_id=command_id)
        if answer.rejected is not None:
            message.rejected.CopyFrom(to_proto(answer.rejected))
        else:
            message.accepted.entry = answer.entry
            message.accepted.duplicate = answer.duplicate
        self._answers.append(message)
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
        size = self._take(self._attached, frame.attached, 0)
        size = self._take(self._answers, frame.answers, size)
        for match_id in list(self._updates):
            if size > FRAME_BYTES:
                self._wake.set()
                break
            update = self._updates.pop(match_id)
            size += update.ByteSize()
            frame.updates.append(update)
        self.waiting -= len(frame.answers)
        self._room.set()
        return frame

    def _take(self, queue: list[Any], into: Any, size: int) -> int:
        count = 0
        for message in queue:
            if size > FRAME_BYTES:
                self._wake.set()
                break
            size += message.ByteSize()
            count += 1
        into.extend(queue[:count])
        del queue[:count]
        return size


def command_of(message: entry_pb2.Command, command_id: str) -> Command:
    """The command a client sent. Raises Rejected(MALFORMED or TOO_LARGE)."""
    if not 1 <= len(command_id) <= 64:
        raise Rejected(
            RejectionCode.MALFORMED,
            f"the command id has {len(command_id)} characters",
            "give every command an id of its own, 1 to 64 characters long",
        )
    try:
        return read_command(message)
    except Unreadable as error:
        raise Rejected(
            RejectionCode.MALFORMED, str(error), "set exactly one command, and every field it needs"
        ) from error


class PlayStreams:
    """All Play streams of this instance."""

    def __init__(
        self, host: TableHost, seat_of: Callable[[str, LiveMatch], tuple[int, str]], clock: Clock
    ) -> None:
        self._host = host
        self._seat_of = seat_of
        self._clock = clock
        self._connections: set[Connection] = set()

    async def serve(self, context: Context) -> None:
        """Serves one stream until the client ends it."""
        connection = Connection(self._clock)
        self._connections.add(connection)
        writer = asyncio.create_task(connection.write_frames(context))
        try:
            while (up := await context.read()) is not grpc.aio.EOF:
                self._take(connection, up)
                await connection.room()
                if writer.done():
                    break
        finally:
            self._connections.discard(connection)
            for route in list(connection.routes.values()):
                route.detach()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def ping(self) -> None:
        """Measures every client's round trip for as long as the process lives."""
        while True:
            await self._clock.sleep(PING_EVERY_S)
            for connection in self._connections:
                connection.ping()

    def drain(self) -> None:
        """Tells every client that this instance is going away."""
        for connection in self._connections:
            connection.drain()

    def _take(self, connection: Connection, up: table_pb2.PlayUp) -> None:
        for number in up.detach:
            if number in connection.routes:
                connection.routes[number].detach()
        for attach in up.attach:
            self._attach(connection, attach)
        for act in up.act:
            self._act(connection, act)
        for pong in up.pong:
            connection.pong(pong.id)

    def _act(self, connection: Connection, message: table_pb2.Act) -> None:
        connection.waiting += 1
        number, command_id = message.route, message.command_id
        try:
            route = connection.routes.get(number)
            if route is None or route.seat == SPECTATOR:
                raise Rejected(
                    RejectionCode.NOT_SEATED,
                    f"route {number} of this stream holds no seat",
                    "attach it with a seat token first",
                )
            act = Act(
                actor_kind=ActorKind.SEAT,
                actor_seat=route.seat,
                actor_id=route.player_id,
                command_id=command_id,
                decision_id=message.decision_id,
                command=command_of(message.command, command_id),
                observed=self._host.observed(),
            )
        except Rejected as rejected:
            connection.answer(number, command_id[:64], Answer(rejected=rejected))
            return
        self._host.submit(route.live.id, act, lambda answer: connection.answer(number, command_id, answer))

    def _attach(self, connection: Connection, message: table_pb2.Attach) -> None:
        try:
            if (
                not message.route
                or message.route in connection.routes
                or len(connection.routes) >= MAX_ROUTES
            ):
                raise Rejected(
                    RejectionCode.MALFORMED,
                    f"route {message.route} cannot be attached: it is 0, in use, or one too many",
                    "number the routes of a stream 1, 2, 3 …",
                )
            self._host.when_stored(
                message.match_id, lambda live: self._attach_stored(connection, message, live)
            )
        except Rejected as rejected:
            refuse(connection, message.route, rejected)

    def _attach_stored(self, connection: Connection, message: table_pb2.Attach, live: LiveMatch) -> None:
        try:
            seat, player_id = self._seat_of(message.seat_token, live)
        except Rejected as rejected:
            refuse(connection, message.route, rejected)
            return
        route = Route(connection, message.route, live, seat, player_id)
        connection.routes[message.route] = route
        live.watchers.append(route)
        told = table_pb2.Attached(route=message.route, info=views.info(live))
        if seat != SPECTATOR:
            told.seat = seat
        connection.attached(told)
        assert live.stored is not None
        if views.version(live.stored, seat) > message.have_view_version:
            route.show(views.show(live, [seat]))


def refuse(connection: Connection, route: int, rejected: Rejected) -> None:
    """Answers an attach that failed."""
    connection.attached(table_pb2.Attached(route=route, rejected=to_proto(rejected)))
