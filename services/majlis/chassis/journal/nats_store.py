"""The journal's store on NATS JetStream, over a connection that never reconnects by itself.

nats-py sends what it buffered after a reconnect, so an append that was reported as unknown could still be written
much later. Here a lost client is thrown away together with its buffer, and the next call makes a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api
from nats.js.errors import APIError, NotFoundError
from nats.js.errors import Error as JetStreamError

from .store import Stored, Unknown, WrongLastSequence

Connect = Callable[[], Awaitable[Client]]
"""Makes a client with `allow_reconnect=False`."""

_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
_APPEND_TIMEOUT_S: Final = 2.0
_READ_TIMEOUT_S: Final = 3.0
_PAGE: Final = 256
_LOST = (nats.errors.Error, JetStreamError, OSError, EOFError, asyncio.TimeoutError)


class NatsStore:
    """One stream of the broker as a Store."""

    def __init__(self, stream: str, connect: Connect) -> None:
        self.stream = stream
        self._connect = connect
        self._client: Client | None = None
        self._connecting = asyncio.Lock()

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        js = await self._jetstream()
        headers = {
            "Nats-Expected-Stream": self.stream,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Msg-Id": message_id,
        }
        try:
            return (await js.publish(subject, data, timeout=_APPEND_TIMEOUT_S, headers=headers)).seq
        except APIError as error:
            if error.err_code in _WRONG_LAST_SEQUENCE:
                raise WrongLastSequence(f"{subject}: {error.description}") from error
            raise Unknown(f"{subject}: {error}") from error
        except _LOST as error:
            raise Unknown(f"{subject}: {error!r}") from error

    async def head(self, subject: str) -> Stored | None:
        js = await self._jetstream()
        try:
            # Not a direct get: those may be answered by a replica that lags behind.
            found = await js.get_last_msg(self.stream, subject)
        except NotFoundError:
            return None
        except _LOST as error:
            raise Unknown(f"{subject}: {error!r}") from error
        assert found.seq is not None and found.time is not None
        return Stored(found.seq, found.data or b"", int(found.time.timestamp() * 1000))

    async def scan(self, subject: str, after: int, upto: int) -> AsyncIterator[Stored]:
        if upto <= after:
            return
        config = api.ConsumerConfig(
            filter_subject=subject, deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=after + 1
        )
        async for message in self._consume(config):
            stored = _stored(message)
            if stored.sequence > upto:
                return
            yield stored
            if stored.sequence == upto:
                return

    async def last_each(self, subjects: str) -> list[tuple[str, Stored]]:
        config = api.ConsumerConfig(filter_subject=subjects, deliver_policy=api.DeliverPolicy.LAST_PER_SUBJECT)
        return [(message.subject, _stored(message)) async for message in self._consume(config)]

    async def close(self) -> None:
        """Lets the connection go; what was in flight is unknown to its callers."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _consume(self, config: api.ConsumerConfig) -> AsyncIterator[Msg]:
        """Everything a short-lived consumer has to give now. Raises Unknown when it stops giving."""
        js = await self._jetstream()
        config.ack_policy = api.AckPolicy.NONE
        config.mem_storage, config.num_replicas, config.inactive_threshold = True, 1, 30.0
        try:
            info = await js.add_consumer(self.stream, config)
            if not info.num_pending:
                return
            subscription = await js.pull_subscribe_bind(info.name, self.stream)
            try:
                pending = info.num_pending
                while pending:
                    for message in await subscription.fetch(_PAGE, timeout=_READ_TIMEOUT_S):
                        yield message
                        pending = message.metadata.num_pending
            finally:
                await self._discard(subscription, info.name)
        except _LOST as error:
            raise Unknown(f"reading {self.stream}: {error!r}") from error

    async def _discard(self, subscription: JetStreamContext.PullSubscription, consumer: str) -> None:
        """The server would forget the consumer by itself, but ten thousand recoveries a day should not pile up."""
        if self._client is None or self._client.is_closed:
            return
        await subscription.unsubscribe()
        await self._client.jetstream(timeout=_READ_TIMEOUT_S).delete_consumer(self.stream, consumer)

    async def _jetstream(self) -> JetStreamContext:
        async with self._connecting:
            if self._client is None or self._client.is_closed:
                try:
                    self._client = await self._connect()
                except _LOST as error:
                    raise Unknown(f"no connection to the broker: {error!r}") from error
            return self._client.jetstream(timeout=_READ_TIMEOUT_S)


def _stored(message: Msg) -> Stored:
    meta = message.metadata
    return Stored(meta.sequence.stream, message.data, int(meta.timestamp.timestamp() * 1000))
