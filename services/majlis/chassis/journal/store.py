"""What the journal needs of a log: a handful of calls with three possible answers to an append.

Stored, refused because the head has moved, or unknown. Nothing else matters to the protocol, and both stores
(`nats_store`, `memory_store`) pass the same contract suite.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

from msgspec import Struct


class Stored(Struct, frozen=True):
    """One message of the log: its sequence in the stream, its bytes, and the broker's time stamp."""

    sequence: int
    data: bytes
    at_ms: int


class WrongLastSequence(Exception):
    """The subject's head is not the expected one: this append was not stored by this attempt."""


class TooLarge(Exception):
    """The message exceeds what the log takes: it was not stored and never will be."""


class Unknown(Exception):
    """Whether the append was, or still will be, stored is not known: time-out, lost connection, no leader."""


class Store(Protocol):
    """An append-only log of subjects with optimistic appends."""

    turns: asyncio.Semaphore
    """Taken around an append where batches gather: while they wait here they grow, on the way they do not."""

    async def append(self, subject: str, data: bytes, message_id: str, expected: int) -> int:
        """Stores `data` if the subject's last sequence is `expected` (0: none); returns its sequence.

        Repeating an append with the same message id and bytes stores it once. Raises WrongLastSequence, Unknown or
        TooLarge.
        """

    async def head(self, subject: str) -> Stored | None:
        """The subject's last message, read from the leader. Raises Unknown."""

    def scan(self, subject: str, after: int, upto: int) -> AsyncGenerator[Stored, None]:
        """The subject's messages with after < sequence <= upto, in order, all of them or Unknown.

        `upto` is the sequence of one of them, as `head` gave it. Where it is not read to its end, close it.
        """

    async def last_each(self, subjects: str) -> list[tuple[str, Stored]]:
        """The last message of every subject that matches the wildcard. Raises Unknown."""
