"""Publishes the results of finished matches: at least once, applied once, because the log takes each only once."""

from __future__ import annotations

import asyncio
from typing import Final

import nats.errors
import structlog
from nats.js import JetStreamContext
from nats.js.errors import APIError
from nats.js.errors import Error as JetStreamError

from majlis.chassis.clock import Clock
from majlis.engine import match
from majlis.engine.vocabulary.wire import encode_result

from .live import LiveMatch

log = structlog.get_logger(__name__)

_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})


class ResultPublisher:
    """A queue of finished matches. What is lost with the process is published by whoever takes the shard over."""

    def __init__(self, js: JetStreamContext, clock: Clock) -> None:
        self._js = js
        self._clock = clock
        self._queue: asyncio.Queue[LiveMatch] = asyncio.Queue()

    def publish(self, live: LiveMatch) -> None:
        self._queue.put_nowait(live)

    async def run(self) -> None:
        """Publishes one after the other, each until the log has it."""
        while True:
            live = await self._queue.get()
            while not live.published:
                try:
                    await self._publish(live)
                    live.published = True
                except (TimeoutError, nats.errors.Error, JetStreamError, OSError) as error:
                    log.info(
                        "result not published yet",
                        event_type="result_retry",
                        match_id=live.id,
                        why=repr(error),
                    )
                    await self._clock.sleep(0.5)

    async def _publish(self, live: LiveMatch) -> None:
        assert live.stored is not None
        result = match.result(live.stored)
        subject = f"result.{result.game}.{result.match_id}.{result.revision}"
        headers = {"Nats-Expected-Last-Subject-Sequence": "0", "Nats-Msg-Id": subject}
        try:
            await self._js.publish(subject, encode_result(result), headers=headers)
        except APIError as error:
            # Already there, from an earlier attempt or a former owner: the same bytes, since they come from the log.
            if error.err_code not in _WRONG_LAST_SEQUENCE:
                raise
