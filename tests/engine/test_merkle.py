"""Merkle trees are those of RFC 6962, and checkpoints over them are signed (DESIGN §6)."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from majlis.engine.evidence import (
    verify_checkpoint,
    write_checkpoint,
)
from majlis.engine.merkle import merkle_proof, merkle_root, proves
from tests.support.records import KEY, PUBLIC

# RFC 6962's test vectors as published with certificate-transparency (merkle_tree_test): inputs and roots.
RFC_INPUTS = [
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
]  # fmt: skip
RFC_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def test_roots_are_those_of_rfc_6962() -> None:
    leaves = [bytes.fromhex(text) for text in RFC_INPUTS]
    assert merkle_root([]) == sha256(b"").digest()
    assert [merkle_root(leaves[:size]).hex() for size in range(1, 9)] == RFC_ROOTS


@given(st.lists(st.binary(max_size=4), min_size=1, max_size=20, unique=True), st.data())
def test_a_proof_shows_its_leaf_and_no_other(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, root = merkle_proof(leaves, index), merkle_root(leaves)
    assert proves(leaves[index], index, len(leaves), proof, root)
    for other in range(len(leaves)):
        assert proves(leaves[other], index, len(leaves), proof, root) == (other == index)
    assert not proves(leaves[index], index, len(leaves), (*proof, bytes(32)), root)
    assert not proves(leaves[index], len(leaves), len(leaves), proof, root)
    if proof:
        assert not proves(leaves[index], index, len(leaves), proof[:-1], root)


def test_there_is_no_proof_of_what_is_no_leaf() -> None:
    with pytest.raises(ValueError, match="no leaf 1"):
        merkle_proof([b"a"], 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": "tournament/other"}, "signature is not good"),
        ({"root": bytes(32)}, "root"),
        ({"signature": bytes(64)}, "signature is not good"),
        ({"key_id": "f" * 16}, "signed by key ffff"),
        ({"leaves": ()}, "root"),
    ],
)
def test_a_changed_checkpoint_is_found(change: dict[str, object], words: str) -> None:
    good = write_checkpoint("tournament/cup", {"0-b": bytes(32), "0-a": b"\1" * 32}, KEY)
    assert [leaf.match_id for leaf in good.leaves] == ["0-a", "0-b"]
    assert verify_checkpoint(good, PUBLIC) == ""
    assert words in verify_checkpoint(replace(good, **change), PUBLIC)
    assert "not in order" in verify_checkpoint(replace(good, leaves=good.leaves[::-1]), PUBLIC)
