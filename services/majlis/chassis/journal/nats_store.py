"""The journal's store on NATS JetStream, over a connection that never reconnects by itself.

nats-py sends what it buffered after a reconnect, so an append that was reported as unknown could still be written
much later. Here a client that is lost or does not answer is thrown away, and the next call makes a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext, api
from nats.js.errors import APIError, NoStreamResponseError, ServiceUnavailableError

from .nats_link import LOST, Connect, Link
from .store import Stored, TooLarge, Unknown, WrongLastSequence

_WRONG_LAST_SEQUENCE: Final = frozenset({10071, 10164})
_NO_MESSAGE: Final = 10037
_APPEND_TIMEOUT_S: Final = 2.0
_READ_TIMEOUT_S: Final = 3.0
_PAGE: Final = 256
_UNTIL_KNOWN_S: Final = (0.005, 0.02, 0.1)
_CONSUMER_IDLE_S: Final = 30.0
"""The server forgets a reading consumer that nobody has asked for so long."""


class NatsStore:
    """One stream of the broker as a Store; `replicas` of it are kept."""

    def __init__(self, stream: str, connect: Connect, replicas: int = 1) -> None:
        self.stream = stream
        # A stream flushes one message after the other: one is under way in each replica, and one on its way there.
        self.turns = asyncio.Semaphore(replicas + 1)
        self._connect = connect
        self._link: Link | None = None
        self._linking = asyncio.Lock()
        self._parting: set[asyncio.Task[None]] = set()

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        link = await self._linked()
        headers = {
            "Nats-Expected-Stream": self.stream,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Msg-Id": message_id,
        }
        try:
            async with link.answer(_APPEND_TIMEOUT_S) as js:
                return (await js.publish(subject, data, headers=headers)).seq
        except nats.errors.MaxPayloadError as error:
            raise TooLarge(f"{subject}: a message of {len(data)} bytes") from error
        except APIError as error:
            if error.err_code in _WRONG_LAST_SEQUENCE:
                raise WrongLastSequence(f"{subject}: {error.description}") from error
            raise Unknown(f"{subject}: {error}") from error
        except LOST as error:
            raise self._lost(link, error) from error

    async def head(self, subject: str) -> Stored | None:
        link = await self._linked()
        try:
            async with link.answer(_READ_TIMEOUT_S) as js:
                # Not a direct get: those may be answered by a replica that lags behind.
                found = await js.get_last_msg(self.stream, subject)
        except APIError as error:
            if error.err_code == _NO_MESSAGE:
                return None
            raise Unknown(f"{subject}: {error}") from error
        except LOST as error:
            raise self._lost(link, error) from error
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
        if self._link is not None:
            self._part(self._link)
        await asyncio.gather(*self._parting)

    async def _consume(self, config: api.ConsumerConfig) -> AsyncGenerator[Msg, None]:
        """What a short-lived consumer has to give, without gaps. Raises Unknown when it stops giving."""
        link = await self._linked()
        config.ack_policy = api.AckPolicy.NONE
        config.mem_storage, config.num_replicas, config.inactive_threshold = True, 1, _CONSUMER_IDLE_S
        try:
            async with link.answer(_READ_TIMEOUT_S) as js:
                info = await js.add_consumer(self.stream, config)
            subscription = await js.pull_subscribe_bind(info.name, self.stream)
            try:
                given, pending = 0, info.num_pending or 0
                while pending:
                    page = await _fetch(subscription, pending)
                    if not page:
                        raise Unknown(f"reading {self.stream}: the consumer is gone")
                    for message in page:
                        given, pending = given + 1, message.metadata.num_pending
                        if message.metadata.sequence.consumer != given:
                            raise Unknown(f"reading {self.stream}: a message was dropped on the way")
                        yield message
            finally:
                if link.usable:
                    await subscription.unsubscribe()
        except APIError as error:
            raise Unknown(f"reading {self.stream}: {error}") from error
        except LOST as error:
            raise self._lost(link, error) from error

    async def _linked(self) -> Link:
        async with self._linking:
            if self._link is None or not self._link.usable:
                try:
                    self._link = Link(await self._connect())
                except LOST as error:
                    raise Unknown(f"no connection to the broker: {error!r}") from error
            return self._link

    def _lost(self, link: Link, error: Exception) -> Unknown:
        """A client that was not answered may be connected to nobody without knowing: it is not used again."""
        if not isinstance(error, NoStreamResponseError):
            self._part(link)
        return Unknown(f"{self.stream}: {error!r}")

    def _part(self, link: Link) -> None:
        if self._link is link:
            self._link = None
        parting = link.abandon()
        self._parting.add(parting)
        parting.add_done_callback(self._parting.discard)


async def _fetch(subscription: JetStreamContext.PullSubscription, pending: int) -> list[Msg]:
    # A consumer that was just made on another node of a cluster may not be known on ours yet.
    for pause_s in _UNTIL_KNOWN_S:
        try:
            # Never more than there is: the server would wait for the rest until the time is over.
            return await subscription.fetch(min(_PAGE, pending), timeout=_READ_TIMEOUT_S)
        except ServiceUnavailableError:
            await asyncio.sleep(pause_s)
    raise Unknown("the consumer is gone")


def _stored(message: Msg) -> Stored:
    meta = message.metadata
    return Stored(meta.sequence.stream, message.data, int(meta.timestamp.timestamp() * 1000))
