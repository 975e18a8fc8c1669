"""The parts of `vocabulary/wire.py` that are the same for every message; see `converters.py`."""

from __future__ import annotations

IMPORTS = """
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError

from ..unreadable import UnknownKind, Unreadable, UnspecifiedValue
"""

HELPERS = '''
_E = TypeVar("_E", bound=IntEnum)


class _Known(dict[int, _E]):
    """The numbers of an enum that are values; any other is refused."""

    def __init__(self, enum: type[_E]) -> None:
        super().__init__({int(value): value for value in enum if value != 0})
        self._name = enum.__name__

    def __missing__(self, number: int) -> _E:
        raise UnspecifiedValue(self._name, number)


# A union is nearly always the tag of its kind, a length below 128 and the kind's own bytes: no need to ask protobuf.
_LENGTHS: Final = [bytes([length]) for length in range(128)]
_LONG_TAG: Final = b"\\x80"
_SMALL_BYTES: Final = 16
_REMEMBERED: Final = 8192
"""How many small unions of one kind are remembered as struct, and as bytes."""
'''

ENCODE = """
def encode_{low}(s: {name}) -> bytes:
    m = {pb}()
    fill_{read}(m, s)
    return m.SerializeToString(deterministic=True)
"""

DECODE = """
def decode_{low}(stored: bytes) -> {name}:
    try:
        m = {pb}.FromString(stored)
    except DecodeError as error:
        raise Unreadable("{name}", str(error)) from error
    return read_{read}(m)
"""

DECODE_FRAME = """
{name}Frame = {pb}


def frame_{low}(stored: bytes) -> {name}Frame:
    try:
        return {name}Frame.FromString(stored)
    except DecodeError as error:
        raise Unreadable("{name}", str(error)) from error


def decode_{low}(stored: bytes) -> {name}:
    return read_{read}(frame_{low}(stored))
"""

UNION_CODEC = """
def encode_{low}(s: {name}) -> bytes:
    tag, encode = _ENCODE_{up}[type(s)]
    body = encode(s)
    if len(body) < 128:
        return tag + _LENGTHS[len(body)] + body
    m = {pb}()
    fill_{low}(m, s)
    return m.SerializeToString(deterministic=True)


def decode_{low}(stored: bytes) -> {name}:
    start = 3 if stored[:1] >= _LONG_TAG else 2
    decode = _DECODE_{up}.get(stored[: start - 1])
    if decode is not None and len(stored) >= start and len(stored) - start == stored[start - 1] < 128:
        return decode(stored[start:])
    try:
        m = {pb}.FromString(stored)
    except DecodeError as error:
        raise Unreadable("{name}", str(error)) from error
    return read_{low}(m)
"""

REMEMBERING = """
_open_small_{low} = lru_cache(_REMEMBERED)(decode_{low})
_seal_small_{low} = lru_cache(_REMEMBERED)(encode_{low})
_SEAL_{up}: dict[type, Callable[[Any], bytes]] = {{
    {sealers}
}}


def open_{low}(stored: bytes) -> {name}:
    return _open_small_{low}(stored) if len(stored) <= _SMALL_BYTES else decode_{low}(stored)


def seal_{low}(s: {name}) -> bytes:
    return _SEAL_{up}[type(s)](s)
"""
