"""Merkle trees as in RFC 6962 §2.1: a leaf is SHA-256(0x00, data), a node SHA-256(0x01, left, right)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def leaf_hash(data: bytes) -> bytes:
    """The hash of one leaf."""
    return sha256(b"\x00" + data).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """The leaves of the left subtree: the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """The root over the leaves' data; of no leaves the hash of nothing."""
    if not leaves:
        return sha256(b"").digest()
    level = [leaf_hash(leaf) for leaf in leaves]
    while len(level) > 1:
        # Pairing from the left and carrying an odd one up gives the same tree as RFC 6962's splits.
        pairs = [_node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def merkle_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path of one leaf: what has to be hashed with it on the way to the root, from the bottom."""
    if not 0 <= index < len(leaves):
        raise ValueError(f"there is no leaf {index} among {len(leaves)}")
    if len(leaves) == 1:
        return ()
    left = _split(len(leaves))
    if index < left:
        return (*merkle_proof(leaves[:left], index), merkle_root(leaves[left:]))
    return (*merkle_proof(leaves[left:], index - left), merkle_root(leaves[:left]))


def proves(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the audit path shows that `leaf` is number `index` of the `size` leaves under `root`."""
    if not 0 <= index < size:
        return False
    path = list(proof)

    def climb(index: int, size: int) -> bytes | None:
        if size == 1:
            return leaf_hash(leaf)
        if not path:
            return None
        other, left = path.pop(), _split(size)
        below = climb(index, left) if index < left else climb(index - left, size - left)
        if below is None:
            return None
        return _node_hash(below, other) if index < left else _node_hash(other, below)

    return climb(index, size) == root and not path
