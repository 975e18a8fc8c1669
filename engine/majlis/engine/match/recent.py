"""The last accepted command ids of one actor, so that a retry is answered as the first time.

Sixteen bytes a command, oldest first: eight of the id's SHA-256, four of the entry's number, four of a checksum of
the command. Ids only have to be unique within one seat, so whoever made two collide would fool nobody else.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Final
from zlib import crc32

from msgspec.structs import replace

from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import OpenMatch
from majlis.engine.vocabulary.wire import seal_command

KEPT: Final = 32
"""How many commands of one actor are remembered; a retry of an older one meets a closed decision."""
_RECORD: Final = 16
_KEY: Final = 8


def remember(memory: bytes, command_id: str, number: int, decision_id: int, command: Command) -> bytes:
    """The memory with one more accepted command, and without the oldest when it is full."""
    return remember_stored(memory, command_id, number, decision_id, _known(command))


def remember_stored(memory: bytes, command_id: str, number: int, decision_id: int, command: bytes) -> bytes:
    """The same for a command as it is stored."""
    record = _key(command_id) + number.to_bytes(4, "big") + _checksum(decision_id, command)
    return memory[-_RECORD * (KEPT - 1) :] + record


def recall(memory: bytes, command_id: str, decision_id: int, command: Command) -> tuple[int, bool] | None:
    """The number of the entry this command id was accepted in, and whether it was the same command."""
    key = _key(command_id)
    at = memory.rfind(key)
    while at % _RECORD and at > 0:  # by chance the same bytes stand astride two fields
        at = memory.rfind(key, 0, at + _KEY - 1)
    if at < 0:
        return None
    number = int.from_bytes(memory[at + _KEY : at + _KEY + 4], "big")
    return number, memory.startswith(_checksum(decision_id, _known(command)), at + _KEY + 4)


@lru_cache(1024)
def _key(command_id: str) -> bytes:
    return sha256(command_id.encode()).digest()[:_KEY]


def _known(command: Command) -> bytes:
    # The table draws the seed and settles the rules version: a repeated opening is the same without them.
    if isinstance(command, OpenMatch):
        command = replace(command, server_seed=b"", rules_version=0)
    return seal_command(command)


def _checksum(decision_id: int, command: bytes) -> bytes:
    return crc32(command, decision_id & 0xFFFFFFFF).to_bytes(4, "big")
