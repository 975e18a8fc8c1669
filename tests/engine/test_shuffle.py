"""Chance can be checked by anybody: vectors, unbiased draws, independent labels (DESIGN §6 "Fairness", RULES §5.1)."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.engine.shuffle import Chance, Stream, combine_entropy, commitment, frame

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors" / "shuffle.json").read_text())
DECK = bytes(range(150))


# --- a second implementation, straight from the description in shuffle.py -------------------------------------------


def plain_frame(*parts: bytes) -> bytes:
    out = b""
    for part in parts:
        out += len(part).to_bytes(4, "big") + part
    return out


class PlainStream:
    """Words one at a time, no buffers."""

    def __init__(
        self, seed: bytes, entropy: bytes, context: str, deal: int, purpose: str, number: int
    ) -> None:
        texts = [context, str(deal), purpose, str(number)]
        label = plain_frame(b"majlis draw 1", entropy, *[text.encode() for text in texts])
        self.key = hmac.new(seed, label, hashlib.sha256).digest()
        self.used = 0

    def word(self) -> int:
        block = hmac.new(self.key, (self.used // 8).to_bytes(8, "big"), hashlib.sha256).digest()
        at = self.used % 8 * 4
        self.used += 1
        return int.from_bytes(block[at : at + 4], "big")

    def below(self, n: int) -> int:
        while True:
            word = self.word()
            if word < 2**32 // n * n:
                return word % n

    def shuffle(self, cards: bytes) -> bytes:
        order = list(cards)
        for i in reversed(range(1, len(order))):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return bytes(order)


def test_vectors_of_the_commitment() -> None:
    for vector in VECTORS["commitments"]:
        seed = bytes.fromhex(vector["server_seed"])
        expected = hashlib.sha256(plain_frame(b"majlis commitment 1", seed)).digest()
        assert commitment(seed) == expected == bytes.fromhex(vector["commitment"])


def test_vectors_of_the_entropy() -> None:
    for vector in VECTORS["entropies"]:
        seats = [bytes.fromhex(seat) for seat in vector["seats"]]
        expected = hashlib.sha256(plain_frame(b"majlis entropy 1", *seats)).digest() if any(seats) else b""
        assert combine_entropy(seats) == expected == bytes.fromhex(vector["combined"])


@pytest.mark.parametrize("vector", VECTORS["draws"], ids=lambda vector: vector["purpose"])
def test_vectors_of_the_draws(vector: dict[str, Any]) -> None:
    seed, entropy = bytes.fromhex(vector["server_seed"]), bytes.fromhex(vector["player_entropy"])
    label = (vector["deal"], vector["purpose"], vector["number"])
    ours = Chance(seed, entropy, vector["context"]).stream(*label)
    plain = PlainStream(seed, entropy, vector["context"], *label)
    if "below" in vector:
        expected = [plain.below(n) for n in vector["below"]]
        assert [ours.below(n) for n in vector["below"]] == expected == vector["drawn"]
    else:
        cards = bytes.fromhex(vector["cards"])
        assert ours.shuffle(cards) == plain.shuffle(cards) == bytes.fromhex(vector["order"])


def test_the_vectors_cover_a_rejected_word() -> None:
    """Of the numbers below 2^31 + 1 nearly half the words are rejected: the vectors must show one."""
    vector = next(vector for vector in VECTORS["draws"] if 2**31 + 1 in vector.get("below", []))
    plain = PlainStream(
        bytes.fromhex(vector["server_seed"]), b"", vector["context"], vector["deal"], vector["purpose"], 0
    )
    for n in vector["below"]:
        plain.below(n)
    assert plain.used > len(vector["below"])


@given(st.binary(max_size=200), st.lists(st.integers(1, 2**32), max_size=40))
def test_both_implementations_agree_in_any_mixture_of_draws(cards: bytes, limits: list[int]) -> None:
    ours = Chance(bytes(32), b"x", "0-m").stream(3, "mixture", 9)
    plain = PlainStream(bytes(32), b"x", "0-m", 3, "mixture", 9)
    for n in limits:
        assert ours.below(n) == plain.below(n)
    assert ours.shuffle(cards) == plain.shuffle(cards)
    assert ours.below(7) == plain.below(7)


# --- properties ----------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=5), max_size=4), st.lists(st.binary(max_size=5), max_size=4))
def test_different_parts_are_framed_differently(one: list[bytes], other: list[bytes]) -> None:
    assert (frame(*one) == frame(*other)) == (one == other)


def test_every_part_of_the_label_gives_another_stream() -> None:
    base: dict[str, Any] = {"server_seed": bytes(32), "player_entropy": b"", "context": "0-m"}
    label: tuple[Any, ...] = (1, "deal", 0)
    orders = {
        Chance(**base).stream(*label).shuffle(DECK),
        Chance(**base | {"server_seed": b"\1" * 32}).stream(*label).shuffle(DECK),
        Chance(**base | {"player_entropy": b"x"}).stream(*label).shuffle(DECK),
        Chance(**base | {"context": "0-n"}).stream(*label).shuffle(DECK),
        Chance(**base).stream(2, "deal", 0).shuffle(DECK),
        Chance(**base).stream(1, "reshuffle", 0).shuffle(DECK),
        Chance(**base).stream(1, "deal", 1).shuffle(DECK),
    }
    assert len(orders) == 7


def test_one_draw_never_shifts_another() -> None:
    chance = Chance(bytes(32), b"", "0-m")
    alone = chance.stream(2, "deal").shuffle(DECK)
    chance.stream(1, "reshuffle").shuffle(DECK)
    assert chance.stream(2, "deal").shuffle(DECK) == alone


@given(st.binary(max_size=255))
def test_a_shuffle_keeps_the_cards(cards: bytes) -> None:
    assert Counter(Stream(bytes(32)).shuffle(cards)) == Counter(cards)


def test_shuffling_items_is_shuffling_their_places() -> None:
    places = Stream(bytes(32)).shuffle(bytes(range(40)))
    assert Stream(bytes(32)).shuffled([str(i) for i in range(40)]) == [str(i) for i in places]


@pytest.mark.parametrize("n", [0, -1, 2**32 + 1])
def test_a_number_below_nothing_cannot_be_drawn(n: int) -> None:
    with pytest.raises(ValueError, match="cannot draw"):
        Stream(bytes(32)).below(n)


def chi_square(counts: Counter[int], cells: int) -> float:
    expected = counts.total() / cells
    return sum((counts[cell] - expected) ** 2 for cell in range(cells)) / expected


def test_numbers_are_spread_evenly() -> None:
    """Chi-square with 12 degrees of freedom: 99.9 % of fair generators stay below 32.9. The seed is fixed."""
    stream = Stream(hashlib.sha256(b"chi").digest())
    assert chi_square(Counter(stream.below(13) for _ in range(20_000)), 13) < 32.9


def test_every_order_of_four_cards_is_as_likely() -> None:
    """23 degrees of freedom: 99.9 % below 49.7."""
    stream = Stream(hashlib.sha256(b"orders").digest())
    orders = Counter(int.from_bytes(stream.shuffle(b"\0\1\2\3"), "big") for _ in range(12_000))
    assert len(orders) == 24
    cells = Counter(dict(enumerate(orders.values())))
    assert chi_square(cells, 24) < 49.7


def test_a_choice_is_one_of_the_items() -> None:
    stream = Stream(bytes(32))
    assert {stream.choose("abc") for _ in range(60)} == set("abc")
