"""A connection to the broker that is never repaired: what is lost or does not answer is thrown away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import nats.errors
import structlog
from nats.aio.client import Client
from nats.js import JetStreamContext

log = structlog.get_logger(__name__)

Connect = Callable[[], Awaitable[Client]]
"""Makes a client with `allow_reconnect=False`."""

LOST: Final = (nats.errors.Error, OSError, EOFError, TimeoutError)
"""What a client raises when the broker cannot be reached or does not answer."""
_CLOSE_TIMEOUT_S: Final = 2.0


class Link:
    """One client, and who waits for an answer through it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._js = client.jetstream(timeout=None)
        self._waiting: set[asyncio.Timeout] = set()
        self._closing: asyncio.Task[None] | None = None
        self._sentry = asyncio.create_task(self._watch())

    @property
    def usable(self) -> bool:
        return self._closing is None and not self._client.is_closed

    @contextlib.asynccontextmanager
    async def answer(self, within_s: float) -> AsyncGenerator[JetStreamContext, None]:
        """Around a request: TimeoutError when it is not answered in time, at once when the connection is lost.

        nats-py lets a request of a closed client wait for its whole time-out, and its time-outs can swallow a
        cancellation in Python 3.11.
        """
        async with asyncio.timeout(within_s) as patience:
            self._waiting.add(patience)
            try:
                yield self._js
            finally:
                self._waiting.discard(patience)

    def abandon(self) -> asyncio.Task[None]:
        """Closes the client, however long that takes; nobody uses it any more."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        return self._closing

    async def _watch(self) -> None:
        """Ends all waiting when the client closes: that cuts short the wait for a message that never comes."""
        with contextlib.suppress(*LOST):
            silence = await self._client.subscribe(self._client.new_inbox())
            await silence.next_msg(timeout=None)
        for patience in self._waiting:
            if not patience.expired():
                patience.reschedule(0)

    async def _close(self) -> None:
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._client.close()
        except LOST as error:
            log.info("connection left open", event_type="broker_close_failed", error=repr(error))
        await self._sentry
