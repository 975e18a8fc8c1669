"""The Play stream: one connection, any number of seats, at most one frame a loop tick in each direction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import grpc.aio

from majlis.chassis.clock import Clock
from majlis.engine.decider import SPECTATOR, Rejected
from majlis.engine.match import Act
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind, Command
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import read_command
from majlis.v1 import entry_pb2, table_pb2

from . import views
from .answers import Answer, moved
from .connection import Connection, Context, Route, refuse
from .host import TableHost
from .live import LiveMatch

MAX_ROUTES: Final = 20_000
PING_EVERY_S: Final = 2.0


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
            connection.attaching.clear()
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
            connection.attaching.pop(number, None)
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
            if route is None and number in connection.moved:
                raise moved(connection.moved[number])
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
                or message.route in connection.attaching
                or len(connection.routes) + len(connection.attaching) >= MAX_ROUTES
            ):
                raise Rejected(
                    RejectionCode.MALFORMED,
                    f"route {message.route} cannot be attached: it is 0, in use, or one too many",
                    "number the routes of a stream 1, 2, 3 …",
                )
            connection.attaching[message.route] = message
            self._host.when_stored(
                message.match_id, lambda live: self._attach_stored(connection, message, live)
            )
        except Rejected as rejected:
            if connection.attaching.get(message.route) is message:
                del connection.attaching[message.route]
            refuse(connection, message.route, rejected)

    def _attach_stored(
        self, connection: Connection, message: table_pb2.Attach, live: LiveMatch | None
    ) -> None:
        if connection.attaching.get(message.route) is not message:
            return  # detached again, or the stream has ended
        del connection.attaching[message.route]
        if live is None:
            refuse(connection, message.route, moved(message.match_id))
            return
        try:
            seat, player_id = self._seat_of(message.seat_token, live)
        except Rejected as rejected:
            refuse(connection, message.route, rejected)
            return
        route = Route(connection, message.route, live, seat, player_id)
        connection.routes[message.route] = route
        connection.moved.pop(message.route, None)
        live.watchers.append(route)
        told = table_pb2.Attached(route=message.route, info=views.info(live))
        if seat != SPECTATOR:
            told.seat = seat
        connection.attached(told)
        assert live.stored is not None
        if views.version(live.stored, seat) > message.have_view_version:
            route.show(views.show(live, [seat]))
