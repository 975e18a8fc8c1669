"""One member of the queue group: answers requests one after the other, and bad ones not at all.

A table that gets no reply makes the fallback at the deadline, so silence is always safe; a reply is never guessed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from majlis.chassis import broker, metrics
from majlis.computer.answer import answer, read_request
from majlis.engine.decider import Rejected
from majlis.engine.registry import GAMES

log = structlog.get_logger()

SUBJECT: Final = "computer.*"
QUEUE: Final = "computers"
# Beyond this many waiting requests the oldest would be answered after its deadline anyhow.
WAITING_LIMIT: Final = 4096


class Worker:
    """Serves `computer.<game>`. `start` and `drain` are the service's steps."""

    def __init__(self, urls: Sequence[str], name: str) -> None:
        self._urls = urls
        self._name = name
        self._client: Client | None = None

    async def start(self) -> None:
        """Connects, however long the broker takes to come up, and joins the queue group."""
        self._client = await broker.connect(self._urls, self._name)
        await self._client.subscribe(SUBJECT, queue=QUEUE, cb=self._serve, pending_msgs_limit=WAITING_LIMIT)
        await self._client.flush()
        log.info("taking requests", games=sorted(GAMES))

    async def drain(self) -> None:
        """Takes no more requests, answers those taken, and closes the connection."""
        if self._client is not None:
            await self._client.drain()

    async def _serve(self, message: Msg) -> None:
        reply = self._reply(message.data)
        if reply is not None and message.reply:
            await message.respond(reply)

    def _reply(self, stored: bytes) -> bytes | None:
        try:
            request = read_request(stored)
            began = time.perf_counter()
            reply = answer(request)
        except Rejected as rejected:
            metrics.COMPUTER_BAD_REQUESTS.labels(rejected.code.name).inc()
            log.warning("request not answered", code=rejected.code.name, detail=rejected.detail)
            return None
        except Exception:
            metrics.COMPUTER_BAD_REQUESTS.labels("FAULT").inc()
            log.exception("a computer player failed", bytes=len(stored))
            return None
        metrics.COMPUTER_DECISION.labels(request.game).observe(time.perf_counter() - began)
        return reply
