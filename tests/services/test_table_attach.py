"""An attach waits until what was decided for its match is stored: what may happen meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from majlis.chassis.journal.memory_store import Fault
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import table_pb2
from tests.support.table import MATCH
from tests.support.table_edge import Edged, Stream, edge


async def open_and_hold(edged: Edged) -> Callable[[], None]:
    """A match with a command under way that the log does not take until what is returned is called."""
    await edged.table.open()
    await edged.table.seat_everybody()
    edged.table.store.fault = lambda subject, data: Fault.LOSE_REQUEST
    edged.table.host.submit(MATCH, edged.table.random_act(random.Random(2)), lambda answer: None)

    def release() -> None:
        edged.table.store.fault = lambda subject, data: None

    return release


def attach(edged: Edged, seat: int) -> table_pb2.Attach:
    return table_pb2.Attach(route=1, match_id=MATCH, seat_token=edged.seat_token(seat))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_route_is_attached_once_however_often_it_is_asked_for() -> None:
    async with edge() as edged:
        release = await open_and_hold(edged)
        stream = Stream(edged)
        await stream.send(attach=[attach(edged, 0), attach(edged, 1)])
        await stream.read()
        assert RejectionCode(stream.attached[1].rejected.code) is RejectionCode.MALFORMED
        release()
        await stream.read()
        assert stream.attached[1].seat == 0
        assert [watcher.seat for watcher in edged.table.live.watchers] == [0]


async def test_a_route_that_was_detached_meanwhile_is_not_attached() -> None:
    async with edge() as edged:
        release = await open_and_hold(edged)
        stream = Stream(edged)
        await stream.send(attach=[attach(edged, 0)])
        await stream.send(detach=[1], attach=[attach(edged, 1)])
        await asyncio.sleep(0.1)
        release()
        await stream.read()
        assert stream.attached[1].seat == 1
        assert [watcher.seat for watcher in edged.table.live.watchers] == [1]


async def test_a_stream_that_ended_meanwhile_watches_nothing() -> None:
    async with edge() as edged:
        release = await open_and_hold(edged)
        stream = Stream(edged)
        await stream.send(attach=[attach(edged, 0)])
        await asyncio.sleep(0.1)
        stream.call.cancel()
        await asyncio.sleep(0.1)
        release()
        live = edged.table.live
        await until(lambda: live.stored is live.decided)
        await asyncio.sleep(0.05)
        assert live.watchers == []
