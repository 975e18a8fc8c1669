"""Histories and records of finished matches, and the forger's tools."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from majlis.engine.evidence import write_record
from majlis.engine.vocabulary.entry import Entry
from majlis.engine.vocabulary.wire import decode_entry, encode_entry
from tests.support.matches import COMPUTER, PERSON, played

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = KEY.public_key()


@cache
def history(name: str = "1") -> tuple[bytes, ...]:
    """A finished match between a person and a computer."""
    return tuple(played(PERSON, COMPUTER, rng_seed=name, match_id=f"0-match{name}").stored)


@cache
def record(name: str = "1") -> bytes:
    """Its signed record."""
    return write_record(history(name), KEY)


def decoded(name: str = "1") -> list[Entry]:
    """Its entries, to be changed."""
    return [decode_entry(one) for one in history(name)]


def rechained(entries: list[Entry]) -> list[bytes]:
    """The forger's work: the changed entries, with all hashes made good again."""
    stored: list[bytes] = []
    for entry in entries:
        prev_hash = sha256(stored[-1]).digest() if stored else bytes(32)
        stored.append(encode_entry(replace(entry, prev_hash=prev_hash)))
    return stored
