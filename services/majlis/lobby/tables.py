"""Casual tables: opened by a player, filled by others and by computers, then opened as a match."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final

import structlog
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from majlis.chassis.clock import Clock
from majlis.chassis.sql import insert_new, reading, writing
from majlis.engine import registry
from majlis.engine.decider import Rejected
from majlis.engine.ids import match_id, shard_of
from majlis.engine.vocabulary.match import ComputerLevel, Controller, OpenMatch, SeatSetup
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import decode_open_match, encode_open_match

from .instances import PASSING, TableInstances
from .paper import SEATS_MAX, try_opening
from .schema import ENDED, FULL, OPENED, WAITING, seats, tables

log = structlog.get_logger(__name__)

OPEN_PATIENCE_S: Final = 3.0
REQUEST_ID_MAX: Final = 64
_FREE: Final = ""


class Place(Struct, frozen=True):
    """A seat somebody has at a casual table."""

    match_id: str
    seat: int


class OpenTable(Struct, frozen=True):
    """A table that waits for players."""

    match_id: str
    game: str
    player_ids: tuple[str, ...]
    """By person's seat; empty where it is free."""
    seats: int


class CasualTables:
    """Keeps tables until they are matches. A table whose opening was cut short is opened by `run`."""

    def __init__(self, engine: AsyncEngine, instances: TableInstances, shards: int, clock: Clock) -> None:
        self._engine = engine
        self._instances = instances
        self._shards = shards
        self._clock = clock

    async def open(self, player_id: str, request_id: str, setup: OpenMatch) -> Place:
        """Opens a table and takes its first seat. The same request opens nothing new. Raises Rejected.

        `setup`: persons' seats without players come first, then the computers'.
        """
        if len(request_id) > REQUEST_ID_MAX:
            raise Rejected(
                RejectionCode.MALFORMED,
                f"a request id of {len(request_id)} characters",
                f"give at most {REQUEST_ID_MAX}",
            )
        try_opening(setup)
        made = match_id(self._shards, "table", player_id, request_id or secrets.token_hex(16))
        free = [n for n, seat in enumerate(setup.seats) if seat.controller is Controller.PERSON]
        row = {
            "match_id": made,
            "game": setup.game,
            "setup": encode_open_match(setup),
            "state": WAITING if len(free) > 1 else FULL,
            "created_at_ms": self._clock.now_ms(),
        }
        taken = [
            {"match_id": made, "seat": n, "player_id": player_id if n == free[0] else _FREE} for n in free
        ]
        async with writing(self._engine) as connection:
            await insert_new(connection, tables, [row])
            await insert_new(connection, seats, taken)
            found = (await connection.execute(select(tables).where(tables.c.match_id == made))).one()
        if found.setup != row["setup"]:
            raise Rejected(
                RejectionCode.DUPLICATE_COMMAND,
                f"request id {request_id[:64]!r} was used for another table",
                "give every new table a request id of its own",
            )
        if found.state == FULL:
            await self._open_soon(made)
        return Place(made, free[0])

    async def join(self, player_id: str, wanted: str) -> Place:
        """Takes a free seat, or gives the one the player has. Raises Rejected."""
        shard_of(wanted)
        async with writing(self._engine) as connection:
            # Who joins at the same time waits here, and then sees the seat taken.
            table = select(tables.c.match_id).where(tables.c.match_id == wanted)
            await connection.execute(table.with_for_update())
            mine = await self._seat_of(connection, wanted, player_id)
            if mine is not None:
                return Place(wanted, mine)
            free = await self._seat_of(connection, wanted, _FREE)
            if free is None:
                raise await self._no_seat(connection, wanted)
            place = (seats.c.match_id == wanted) & (seats.c.seat == free)
            await connection.execute(update(seats).where(place).values(player_id=player_id))
            full = await self._seat_of(connection, wanted, _FREE) is None
            if full:
                this = tables.c.match_id == wanted
                await connection.execute(update(tables).where(this).values(state=FULL))
        if full:
            await self._open_soon(wanted)
        return Place(wanted, free)

    async def seat_of(self, wanted: str, player_id: str) -> int | None:
        """The player's seat at a casual table. Raises Rejected(UNKNOWN_MATCH) where that is no match id."""
        shard_of(wanted)
        async with reading(self._engine) as connection:
            return await self._seat_of(connection, wanted, player_id)

    async def waiting(self, game: str, limit: int) -> list[OpenTable]:
        """Tables with free seats, newest first. Raises Rejected(UNKNOWN_GAME)."""
        query = select(tables).where(tables.c.state == WAITING)
        if game:
            registry.game(game)
            query = query.where(tables.c.game == game)
        async with reading(self._engine) as connection:
            rows = (
                await connection.execute(query.order_by(tables.c.created_at_ms.desc()).limit(limit))
            ).all()
            found = []
            for row in rows:
                players = await self._players(connection, row.match_id)
                seated = len(decode_open_match(row.setup).seats)
                found.append(OpenTable(row.match_id, row.game, tuple(players.values()), seated))
        return found

    async def run(self) -> None:
        """Opens what is full and not yet a match, for as long as the process lives."""
        while True:
            async with reading(self._engine) as connection:
                full = (
                    await connection.scalars(select(tables.c.match_id).where(tables.c.state == FULL))
                ).all()
            for wanted in full:
                try:
                    await self._open_match(wanted)
                except Rejected as rejected:
                    log.info("table not opened", event_type="table_retry", match_id=wanted, why=str(rejected))
            await self._clock.sleep(1.0)

    async def _open_soon(self, wanted: str) -> None:
        """Opens the match now if that can be; otherwise `run` goes on trying. Raises Rejected where it never can."""
        end = self._clock.monotonic() + OPEN_PATIENCE_S
        while True:
            try:
                await self._open_match(wanted)
                return
            except Rejected as rejected:
                if rejected.code not in PASSING or self._clock.monotonic() > end:
                    raise
            await asyncio.sleep(0.1)

    async def _open_match(self, wanted: str) -> None:
        async with reading(self._engine) as connection:
            stored = await connection.scalar(select(tables.c.setup).where(tables.c.match_id == wanted))
            players = await self._players(connection, wanted)
        if stored is None:
            return
        setup = decode_open_match(stored)
        filled = tuple(
            replace(seat, player_id=players[n]) if n in players else seat
            for n, seat in enumerate(setup.seats)
        )
        try:
            await self._instances.open_match(wanted, replace(setup, seats=filled))
        except Rejected as rejected:
            if rejected.code not in PASSING:
                await self._move_on(wanted, ENDED)
            raise
        await self._move_on(wanted, OPENED)

    async def _move_on(self, wanted: str, state: str) -> None:
        async with writing(self._engine) as connection:
            this = (tables.c.match_id == wanted) & (tables.c.state == FULL)
            await connection.execute(update(tables).where(this).values(state=state))

    async def _seat_of(self, connection: AsyncConnection, wanted: str, player_id: str) -> int | None:
        query = select(seats.c.seat).where(seats.c.match_id == wanted, seats.c.player_id == player_id)
        found: Any = await connection.scalar(query.order_by(seats.c.seat).limit(1))
        return None if found is None else int(found)

    async def _players(self, connection: AsyncConnection, wanted: str) -> dict[int, str]:
        query = (
            select(seats.c.seat, seats.c.player_id).where(seats.c.match_id == wanted).order_by(seats.c.seat)
        )
        return {int(row.seat): str(row.player_id) for row in await connection.execute(query)}

    async def _no_seat(self, connection: AsyncConnection, wanted: str) -> Rejected:
        state = await connection.scalar(select(tables.c.state).where(tables.c.match_id == wanted))
        if state is None:
            return Rejected(
                RejectionCode.UNKNOWN_MATCH,
                f"there is no table {wanted[:80]!r}",
                "`ListTables` shows tables with free seats",
            )
        return Rejected(
            RejectionCode.SEAT_TAKEN,
            f"table {wanted} has no free seat",
            "`ListTables` shows others that have",
        )


def casual_setup(
    game: str,
    seats_count: int,
    computers: int,
    level: ComputerLevel,
    **rest: Any,
) -> OpenMatch:
    """The setup of a casual table: persons first, then computers. Raises Rejected(BAD_SEATS)."""
    if not 0 <= computers < seats_count <= SEATS_MAX:
        raise Rejected(
            RejectionCode.BAD_SEATS,
            f"{computers} computers at a table of {seats_count}",
            f"leave at least one seat for yourself, and have at most {SEATS_MAX}",
        )
    persons = [SeatSetup(controller=Controller.PERSON, level=level)] * (seats_count - computers)
    filled = [SeatSetup(controller=Controller.COMPUTER, level=level)] * computers
    return OpenMatch(game=game, seats=(*persons, *filled), **rest)
