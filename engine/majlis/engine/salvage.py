"""What can still be read of damaged evidence: everything up to where it breaks off.

A record is a compressed message. Unpacked in small steps it gives everything before the damage, or, where only its
checksum is wrong, everything: so that a verifier can name the first bad entry instead of shrugging at the whole.
"""

from __future__ import annotations

import zlib
from typing import Final

_STEP: Final = 32
_ENTRIES: Final = 4
"""The field of Record that holds the entries."""
_LENGTH_DELIMITED: Final = 2


def salvage(compressed: bytes, limit: int) -> list[bytes]:
    """The entries that come out before the damage; at most `limit` bytes are unpacked."""
    return _parts(_unpack(compressed, limit), _ENTRIES)[0]


def broken_parts(message: bytes, field: int) -> list[bytes]:
    """What a field of a spoilt or cut-off message holds, the part that is cut off included."""
    whole, cut_off = _parts(message, field)
    return [*whole, cut_off] if cut_off else whole


def _unpack(compressed: bytes, limit: int) -> bytes:
    inflater = zlib.decompressobj()
    unpacked = bytearray()
    for start in range(0, len(compressed), _STEP):
        try:
            unpacked += inflater.decompress(compressed[start : start + _STEP], limit - len(unpacked))
        except zlib.error:
            break
        if len(unpacked) >= limit:
            break
    return bytes(unpacked)


def _parts(message: bytes, field: int) -> tuple[list[bytes], bytes]:
    """The whole values of a length-delimited field, and the beginning of the one that is cut off."""
    found: list[bytes] = []
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at)
        if tag & 7 != _LENGTH_DELIMITED:
            continue  # a number: read already
        if at + value > len(message):
            return found, message[at:] if tag >> 3 == field else b""
        if tag >> 3 == field:
            found.append(message[at : at + value])
        at += value
    return found, b""


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number at this place, and the place after it; a number that is cut off reads as what is there."""
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80 or shift > 63:
            break
    return value, at
