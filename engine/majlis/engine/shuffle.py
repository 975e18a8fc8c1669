"""Chance that anybody can check: labelled streams of a committed seed, and unbiased draws from them.

The whole construction, for whoever writes a checker (vectors: tests/engine/vectors/shuffle.json):

* `frame(a, b, …)` = each part's length as 4 bytes, big-endian, then the part; text is UTF-8, numbers are decimal text.
* commitment = SHA-256(frame("majlis commitment 1", server seed)); it is public before anybody is seated.
* player entropy = SHA-256(frame("majlis entropy 1", seat 0's bytes, seat 1's bytes, …)), or nothing when nobody gave any.
* key of a draw = HMAC-SHA-256(server seed, frame("majlis draw 1", player entropy, context, deal, purpose, number)).
* its stream = HMAC-SHA-256(key, 0), HMAC-SHA-256(key, 1), … with the counter as 8 bytes, big-endian, read as
  unsigned words of 4 bytes, big-endian.
* a number below n: the next word that is less than the largest multiple of n up to 2^32, modulo n.
* a shuffle of k cards: for i = k-1 down to 1, exchange the cards at i and at a number below i+1 (Fisher–Yates).

Every draw of a match has its own label (deal, purpose, number), so no draw shifts another (RULES §5.1).
"""

from __future__ import annotations

import hmac
from collections.abc import MutableSequence, Sequence
from hashlib import sha256
from struct import unpack
from typing import Final, TypeVar

from msgspec import Struct

SEED_BYTES: Final = 32
"""Length of a server seed."""
ENTROPY_BYTES_MAX: Final = 64
"""What one seat may add at most."""

_WORDS: Final = 1 << 32
_BLOCK_WORDS: Final = 8

T = TypeVar("T")


def frame(*parts: bytes | str | int) -> bytes:
    """The parts so that no two lists of parts give the same bytes."""
    framed = []
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        framed += [len(raw).to_bytes(4, "big"), raw]
    return b"".join(framed)


def commitment(server_seed: bytes) -> bytes:
    """What is published of the seed before anybody is seated: 32 bytes."""
    return sha256(frame("majlis commitment 1", server_seed)).digest()


def combine_entropy(seats: Sequence[bytes]) -> bytes:
    """What the seats added, in seat order, as one value of 32 bytes; empty when nobody added any."""
    return sha256(frame("majlis entropy 1", *seats)).digest() if any(seats) else b""


class Stream:
    """One draw's words, in order. Use it for that draw only."""

    __slots__ = ("_counter", "_key", "_words")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        self._words: list[int] = []  # the unread ones, the next one last

    def _read(self, words: int) -> None:
        """Makes at least that many words readable."""
        first = self._counter
        self._counter = first + max(1, (words - len(self._words) + _BLOCK_WORDS - 1) // _BLOCK_WORDS)
        blocks = [hmac.digest(self._key, i.to_bytes(8, "big"), "sha256") for i in range(first, self._counter)]
        fresh = unpack(f">{_BLOCK_WORDS * len(blocks)}I", b"".join(blocks))
        self._words = [*fresh[::-1], *self._words]

    def below(self, n: int) -> int:
        """An unbiased number from 0 to n-1, for n from 1 to 2^32."""
        if not 1 <= n <= _WORDS:
            raise ValueError(f"cannot draw a number below {n}")
        limit = _WORDS - _WORDS % n
        while True:
            if not self._words:
                self._read(1)
            word = self._words.pop()
            if word < limit:
                return word % n

    def choose(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the others."""
        return items[self.below(len(items))]

    def shuffle(self, cards: bytes) -> bytes:
        """The cards in an order of which each is as likely as the others, one byte a card."""
        order = bytearray(cards)
        self._exchange(order)
        return bytes(order)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The same for items of any kind."""
        order = list(items)
        self._exchange(order)
        return order

    def _exchange(self, order: MutableSequence[T]) -> None:
        self._read(len(order))
        words = self._words
        for n in range(len(order), 1, -1):
            # As in `below`, without a call for each card: a word at or over the limit is left, and `below` goes on.
            word = words.pop() if words else _WORDS
            if word < _WORDS - _WORDS % n:
                j = word % n
            else:
                j, words = self.below(n), self._words
            order[n - 1], order[j] = order[j], order[n - 1]


class Chance(Struct, frozen=True):
    """Where a match's chance comes from: the secret seed, what the seats added, and the deal context.

    The context is the match id; in duplicate events it is (event, round, board), without player entropy.
    """

    server_seed: bytes
    player_entropy: bytes
    context: str

    def stream(self, deal: int, purpose: str, number: int = 0) -> Stream:
        """The stream of one draw: the `number`th of that purpose in that deal."""
        label = frame("majlis draw 1", self.player_entropy, self.context, deal, purpose, number)
        return Stream(hmac.digest(self.server_seed, label, "sha256"))
