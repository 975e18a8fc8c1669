"""The messages of a stream from a sequence on: in order, in batches, and never one left out unnoticed.

Behind a feed stands a short-lived consumer of the broker that acknowledges nothing: the reader keeps its own position
and opens another feed from there whenever this one is lost. The broker forgets the consumer of a feed that is not read
for a minute.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from typing import Final

from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

BATCH: Final = 256
BATCH_BYTES: Final = 8 * 1024 * 1024
_FORGOTTEN_AFTER_S: Final = 60.0
_GRACE_S: Final = 2.0
"""How much later than its end a request may be answered before the consumer is taken for lost."""
_NOTHING: Final = ("404", "408")


class Message(Struct, frozen=True):
    """One stored message; `pending` is how many the stream held after it when it was sent."""

    sequence: int
    subject: str
    data: bytes
    at_ms: int
    pending: int = 0


class FeedLost(Exception):
    """The consumer is gone or silent (a restarted broker, a lost connection): open another from where you stand."""


class Feed:
    """Made by `open_feed`. One reader at a time."""

    def __init__(self, client: Client, name: str, stream: str, first: int, last: int) -> None:
        self.first = first
        """The oldest sequence the stream held when the feed was opened, or the next one if it held none."""
        self.last = last
        """The newest sequence the stream had given out then."""
        self._client = client
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}"
        self._inbox = client.new_inbox()
        self._arrived: deque[Msg] = deque()
        self._wake = asyncio.Event()
        self._requests = 0
        self._delivered = 0

    async def subscribe(self) -> None:
        self._subscription = await self._client.subscribe(f"{self._inbox}.*", cb=self._on_message)

    async def close(self) -> None:
        await self._subscription.unsubscribe()

    async def read(self, wait_s: float) -> list[Message]:
        """All that is there, at most a batch; waits up to `wait_s` for the first one. Raises FeedLost."""
        request = {
            "batch": BATCH,
            "max_bytes": BATCH_BYTES,
            "expires": int(wait_s * 1e9),
            "no_wait": True,  # with an expiry: wait for the first message only
        }
        self._requests += 1
        inbox = f"{self._inbox}.{self._requests}"
        await self._client.publish(self._next, json.dumps(request).encode(), inbox)
        try:
            async with asyncio.timeout(wait_s + _GRACE_S):
                return await self._gather(inbox)
        except TimeoutError:
            raise FeedLost("no answer to a request for messages") from None

    async def _gather(self, inbox: str) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < BATCH:
            if not self._arrived:
                self._wake.clear()
                await self._wake.wait()
                continue
            arrived = self._arrived.popleft()
            status = arrived.headers.get("Status") if arrived.headers and not arrived.data else None
            if status is None:
                messages.append(self._receive(arrived))
            elif arrived.subject != inbox:
                continue  # the end of an earlier request, whose batch was full already
            elif status in _NOTHING or messages:
                break
            else:
                raise FeedLost(f"status {status}")
        return messages

    def _receive(self, arrived: Msg) -> Message:
        """A delivery that got lost on the way shows in the consumer's own count; it is no gap in the stream."""
        told = arrived.metadata
        if told.sequence.consumer != self._delivered + 1:
            raise FeedLost(f"delivery {told.sequence.consumer} came after {self._delivered}")
        self._delivered += 1
        at_ms = int(told.timestamp.timestamp() * 1000)
        return Message(told.sequence.stream, arrived.subject, arrived.data, at_ms, told.num_pending)

    async def _on_message(self, message: Msg) -> None:
        self._arrived.append(message)
        self._wake.set()


async def open_feed(client: Client, stream: str, after: int, name: str) -> Feed:
    """The stream's messages with a sequence above `after`. Raises the broker client's errors."""
    js = client.jetstream()
    consumer = ConsumerConfig(
        name=f"{name}-{secrets.token_hex(4)}",
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=after + 1,
        ack_policy=AckPolicy.NONE,
        inactive_threshold=_FORGOTTEN_AFTER_S,
        mem_storage=True,
        num_replicas=1,
    )
    state = (await js.stream_info(stream)).state
    made = await js.add_consumer(stream, consumer)
    feed = Feed(client, made.name, stream, state.first_seq, state.last_seq)
    await feed.subscribe()
    return feed
