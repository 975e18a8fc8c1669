"""The journal's store on NATS JetStream, over a connection that never reconnects by itself.

nats-py sends what it buffered after a reconnect, so an append that was reported as unknown could still be written
much later. Here a client that is lost or does not answer is thrown away, and the next call makes a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import api
from nats.js.errors import APIError, NoStreamResponseError

from .store import Stored, TooLarge, Unknown, WrongLastSequence

log = structlog.get_logger(__name__)

Connect = Callable[[], Awaitable[Client]]
"""Makes a client with `allow_reconnect=False`."""

_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
_NO_MESSAGE: Final = 10037
_APPEND_TIMEOUT_S: Final = 2.0
_READ_TIMEOUT_S: Final = 3.0
_CLOSE_TIMEOUT_S: Final = 2.0
_PAGE: Final = 256
_CONSUMER_IDLE_S: Final = 30.0
"""The server forgets a reading consumer that nobody has asked for so long."""
_LOST: Final = (nats.errors.Error, OSError, EOFError, TimeoutError)


class NatsStore:
    """One stream of the broker as a Store."""

    def __init__(self, stream: str, connect: Connect) -> None:
        self.stream = stream
        self._connect = connect
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._parting: set[asyncio.Task[None]] = set()

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        client = await self._connected()
        headers = {
            "Nats-Expected-Stream": self.stream,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Msg-Id": message_id,
        }
        try:
            # Not the client's own time-out: in Python 3.11 it can swallow a cancellation.
            async with asyncio.timeout(_APPEND_TIMEOUT_S):
                js = client.jetstream(timeout=None)
                return (await js.publish(subject, data, headers=headers)).seq
        except nats.errors.MaxPayloadError as error:
            raise TooLarge(f"{subject}: a message of {len(data)} bytes") from error
        except APIError as error:
            if error.err_code in _WRONG_LAST_SEQUENCE:
                raise WrongLastSequence(f"{subject}: {error.description}") from error
            raise Unknown(f"{subject}: {error}") from error
        except _LOST as error:
            raise self._lost(client, error) from error

    async def head(self, subject: str) -> Stored | None:
        client = await self._connected()
        try:
            # Not a direct get: those may be answered by a replica that lags behind.
            found = await client.jetstream(timeout=_READ_TIMEOUT_S).get_last_msg(self.stream, subject)
        except APIError as error:
            if error.err_code == _NO_MESSAGE:
                return None
            raise Unknown(f"{subject}: {error}") from error
        except _LOST as error:
            raise self._lost(client, error) from error
        assert found.seq is not None
        assert found.time is not None
        return Stored(found.seq, found.data or b"", int(found.time.timestamp() * 1000))

    async def scan(self, subject: str, after: int, upto: int) -> AsyncGenerator[Stored, None]:
        if upto <= after:
            return
        config = api.ConsumerConfig(
            filter_subject=subject,
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=after + 1,
        )
        async with aclosing(self._consume(config)) as messages:
            async for message in messages:
                stored = _stored(message)
                yield stored
                if stored.sequence >= upto:
                    return
        # The consumer may live on a replica that has not caught up with the leader yet.
        raise Unknown(f"{subject}: reading ended before {upto}")

    async def last_each(self, subjects: str) -> list[tuple[str, Stored]]:
        config = api.ConsumerConfig(
            filter_subject=subjects, deliver_policy=api.DeliverPolicy.LAST_PER_SUBJECT
        )
        async with aclosing(self._consume(config)) as messages:
            # A subject written meanwhile comes twice, the later one last.
            return list({message.subject: _stored(message) async for message in messages}.items())

    async def close(self) -> None:
        """Lets the connection go; what was in flight is unknown to its callers."""
        if self._client is not None:
            self._part(self._client)
        await asyncio.gather(*self._parting)

    async def _consume(self, config: api.ConsumerConfig) -> AsyncGenerator[Msg, None]:
        """What a short-lived consumer has to give, without gaps. Raises Unknown when it stops giving."""
        client = await self._connected()
        config.ack_policy = api.AckPolicy.NONE
        config.mem_storage, config.num_replicas, config.inactive_threshold = True, 1, _CONSUMER_IDLE_S
        try:
            js = client.jetstream(timeout=_READ_TIMEOUT_S)
            info = await js.add_consumer(self.stream, config)
            subscription = await js.pull_subscribe_bind(info.name, self.stream)
            try:
                given, pending = 0, info.num_pending or 0
                while pending:
                    # Never more than there is: the server would wait for the rest until the time is over.
                    page = await subscription.fetch(min(_PAGE, pending), timeout=_READ_TIMEOUT_S)
                    if not page:
                        raise Unknown(f"reading {self.stream}: the consumer is gone")
                    for message in page:
                        given, pending = given + 1, message.metadata.num_pending
                        if message.metadata.sequence.consumer != given:
                            raise Unknown(f"reading {self.stream}: a message was dropped on the way")
                        yield message
            finally:
                if not client.is_closed:
                    await subscription.unsubscribe()
        except APIError as error:
            raise Unknown(f"reading {self.stream}: {error}") from error
        except _LOST as error:
            raise self._lost(client, error) from error

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is None or self._client.is_closed:
                try:
                    self._client = await self._connect()
                except _LOST as error:
                    raise Unknown(f"no connection to the broker: {error!r}") from error
            return self._client

    def _lost(self, client: Client, error: Exception) -> Unknown:
        """A client that did not answer may be connected to nobody without knowing: it is not asked again."""
        if not isinstance(error, NoStreamResponseError):
            self._part(client)
        return Unknown(f"{self.stream}: {error!r}")

    def _part(self, client: Client) -> None:
        if self._client is client:
            self._client = None
        if not client.is_closed:
            task = asyncio.create_task(_close(client))
            self._parting.add(task)
            task.add_done_callback(self._parting.discard)


async def _close(client: Client) -> None:
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            await client.close()
    except _LOST as error:
        log.info("connection left open", event_type="broker_close_failed", error=repr(error))


def _stored(message: Msg) -> Stored:
    meta = message.metadata
    return Stored(meta.sequence.stream, message.data, int(meta.timestamp.timestamp() * 1000))
