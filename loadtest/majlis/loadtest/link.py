"""One Play stream to one table instance: many matches and seats, one frame a loop tick each way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import grpc.aio

from majlis.chassis.service import open_channel
from majlis.v1 import table_pb2
from majlis.v1.table_pb2_grpc import TableStub

FRAME_BYTES: Final = 56 * 1024
"""Frames stay below the server's limit of 64 KiB."""
AGAIN_S: Final = 0.1


class Link:
    """A connection that comes back by itself: `opened` is called for each new stream, `broken` for each lost one.

    What was queued when a stream broke is gone: whoever uses the link attaches again and repeats what is unanswered.
    """

    def __init__(
        self,
        address: str,
        deliver: Callable[[Link, table_pb2.PlayDown], None],
        opened: Callable[[], None],
        broken: Callable[[], None],
    ) -> None:
        self.address = address
        self.open = False
        self._deliver = deliver
        self._opened = opened
        self._broken = broken
        self._queue: list[table_pb2.Attach | table_pb2.Act] = []
        self._pongs: list[table_pb2.Pong] = []
        self._detach: list[int] = []
        self._wake = asyncio.Event()
        self._stream: Any = None

    def send(self, message: table_pb2.Attach | table_pb2.Act) -> None:
        """Puts a message into the next frame; lost when the link is not open."""
        if self.open:
            self._queue.append(message)
            self._wake.set()

    def detach(self, route: int) -> None:
        if self.open:
            self._detach.append(route)
            self._wake.set()

    def cut(self) -> None:
        """Breaks the stream as a network would: nobody is told goodbye."""
        if self._stream is not None:
            self._stream.cancel()

    async def run(self) -> None:
        """Keeps a stream open until cancelled."""
        async with open_channel(self.address) as channel:
            while True:
                with contextlib.suppress(grpc.aio.AioRpcError, grpc.aio.UsageError):
                    await self._serve(TableStub(channel).Play())
                await asyncio.sleep(AGAIN_S)

    async def _serve(self, stream: Any) -> None:
        """One stream from its first to its last frame."""
        self._stream = stream
        writer: asyncio.Task[None] | None = None
        try:
            await stream.wait_for_connection()
            self.open = True
            writer = asyncio.create_task(self._write(stream))
            self._opened()
            while (frame := await stream.read()) is not grpc.aio.EOF:
                for ping in frame.pings:
                    self._pongs.append(table_pb2.Pong(id=ping.id))
                    self._wake.set()
                self._deliver(self, frame)
        except asyncio.CancelledError:
            # `cut` cancels the call, which looks the same from inside as being cancelled ourselves.
            if not stream.cancelled() or _being_cancelled():
                raise
        finally:
            self.open, self._stream = False, None
            self._queue.clear()
            self._pongs.clear()
            self._detach.clear()
            stream.cancel()
            if writer is not None:
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)
                self._broken()

    async def _write(self, stream: Any) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            # The rest of this tick belongs into the same frame.
            await asyncio.sleep(0)
            while (frame := self._frame()) is not None:
                await stream.write(frame)

    def _frame(self) -> table_pb2.PlayUp | None:
        if not (self._queue or self._pongs or self._detach):
            return None
        frame = table_pb2.PlayUp(pong=self._pongs, detach=self._detach)
        self._pongs, self._detach = [], []
        size = count = 0
        for message in self._queue:
            size += message.ByteSize() + 4
            if size > FRAME_BYTES:
                break
            count += 1
            (frame.act if isinstance(message, table_pb2.Act) else frame.attach).append(message)  # type: ignore[arg-type]
        del self._queue[:count]
        return frame


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
