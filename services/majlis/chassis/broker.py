"""The broker: how to connect to it, and the streams and buckets the platform keeps there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import nats
import nats.errors
import structlog
from nats.aio.client import Client
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError
from nats.js.kv import KeyValue

log = structlog.get_logger(__name__)

JOURNAL: Final = "JOURNAL"
TOURNAMENTS: Final = "TOURNAMENTS"
RESULTS: Final = "RESULTS"
RECORDS: Final = "RECORDS"
CHECKPOINTS: Final = "CHECKPOINTS"
SHARDS: Final = "SHARDS"
LEASE_TTL_S: Final = 15
"""A broker election takes 4-9 s: a shorter lease would lose every shard whenever a leader dies."""
_DUPLICATE_WINDOW_S: Final = 120
_READY_S: Final = 30.0
_RETRY_S: Final = 0.2

_LOGS: Final = {
    JOURNAL: "journal.match.>",
    TOURNAMENTS: "journal.tournament.>",
    RESULTS: "result.>",
    RECORDS: "record.>",
}


async def connect(urls: Sequence[str], name: str, *, reconnect: bool = True) -> Client:
    """A connection named for the broker's monitoring, with an inbox of its own below its user's.

    `name`: the broker's user, then whatever tells its connections apart (`table-0-journal`). `reconnect=False` is for the journal, whose buffered appends must never be flushed late.
    """

    async def on_error(error: Exception) -> None:
        # Permission denials show up only here, elsewhere as time-outs.
        log.warning("broker connection", event_type="broker_error", connection=name, error=repr(error))

    return await nats.connect(
        list(urls),
        name=name,
        allow_reconnect=reconnect,
        max_reconnect_attempts=-1 if reconnect else 1,
        reconnect_time_wait=0.2,
        connect_timeout=2,
        ping_interval=10,
        max_outstanding_pings=2,
        inbox_prefix=f"_INBOX.{'.'.join(name.split('-', 1))}",
        error_cb=on_error,
    )


async def ensure_streams(js: JetStreamContext, replicas: int) -> None:
    """Creates what is missing of the platform's streams and buckets; what exists is left as it is.

    Waits for the broker to serve JetStream (a cluster elects for some seconds); afterwards raises its error.
    """
    for name, subject in _LOGS.items():
        log_config = api.StreamConfig(
            name=name,
            subjects=[subject],
            retention=api.RetentionPolicy.LIMITS,
            discard=api.DiscardPolicy.NEW,
            storage=api.StorageType.FILE,
            num_replicas=replicas,
            duplicate_window=_DUPLICATE_WINDOW_S,
            deny_delete=True,
            deny_purge=True,
            allow_direct=True,
        )
        await _ensure(js, name, partial(js.add_stream, log_config))
    checkpoints = api.StreamConfig(
        name=CHECKPOINTS,
        subjects=["checkpoint.>"],
        max_msgs_per_subject=1,
        storage=api.StorageType.FILE,
        num_replicas=replicas,
        duplicate_window=_DUPLICATE_WINDOW_S,
        allow_direct=True,
    )
    await _ensure(js, CHECKPOINTS, partial(js.add_stream, checkpoints))
    shards = api.KeyValueConfig(
        bucket=SHARDS, ttl=LEASE_TTL_S, replicas=replicas, storage=api.StorageType.FILE
    )
    await _ensure(js, f"KV_{SHARDS}", partial(js.create_key_value, shards))


async def _ensure(js: JetStreamContext, stream: str, create: Callable[[], Awaitable[object]]) -> None:
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            try:
                await js.stream_info(stream)
            except NotFoundError:
                await create()
            return
        except nats.errors.Error as error:
            # Or another service has created it in this moment.
            if time.monotonic() > deadline:
                raise
            log.info("stream not ready", event_type="stream_not_ready", stream=stream, error=repr(error))
            await asyncio.sleep(_RETRY_S)


async def shards_bucket(js: JetStreamContext) -> KeyValue:
    """The bucket of leases: which instance owns which shard."""
    return await js.key_value(SHARDS)


async def match_shards(js: JetStreamContext, configured: int) -> list[str]:
    """The shards of matches: those new matches are spread over, and those that older matches were born in."""
    told = await js.stream_info(JOURNAL, subjects_filter="journal.match.>")
    born = {subject.rsplit(".", 1)[-1] for subject in told.state.subjects or {}}
    return sorted({*map(str, range(configured)), *born}, key=int)
