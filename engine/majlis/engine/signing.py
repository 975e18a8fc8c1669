"""Signatures of the archive, and signed Merkle checkpoints over the histories of a scope (see `evidence`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from majlis.engine.merkle import merkle_root
from majlis.engine.shuffle import frame
from majlis.engine.vocabulary.result import CheckpointStatement, MerkleCheckpoint, MerkleLeaf
from majlis.engine.vocabulary.wire import encode_checkpoint_statement, encode_merkle_leaf


def key_id(public_key: Ed25519PublicKey) -> str:
    """The name of a key: the first 16 hex digits of its SHA-256."""
    return sha256(public_key.public_bytes_raw()).hexdigest()[:16]


def signature_fault(public_key: Ed25519PublicKey, signature: bytes, statement: bytes) -> str:
    """What is wrong with a signature; empty when it is good."""
    try:
        public_key.verify(signature, statement)
    except InvalidSignature:
        return "the signature is not good"
    return ""


def write_checkpoint(scope: str, histories: Mapping[str, bytes], key: Ed25519PrivateKey) -> MerkleCheckpoint:
    """The signed Merkle root over the matches of a scope. `histories`: match id -> history hash."""
    leaves = tuple(
        MerkleLeaf(match_id=match_id, history_hash=histories[match_id]) for match_id in sorted(histories)
    )
    root = _root(leaves)
    signature = key.sign(_checkpoint_statement(scope, len(leaves), root))
    return MerkleCheckpoint(
        scope=scope, leaves=leaves, root=root, signature=signature, key_id=key_id(key.public_key())
    )


def _root(leaves: Sequence[MerkleLeaf]) -> bytes:
    return merkle_root([encode_merkle_leaf(leaf) for leaf in leaves])


def _checkpoint_statement(scope: str, leaves: int, root: bytes) -> bytes:
    statement = CheckpointStatement(scope=scope, leaves=leaves, root=root)
    return frame("majlis checkpoint 1", encode_checkpoint_statement(statement))


def verify_checkpoint(checkpoint: MerkleCheckpoint, public_key: Ed25519PublicKey) -> str:
    """What is wrong with the checkpoint; empty when it is good."""
    ids = [leaf.match_id for leaf in checkpoint.leaves]
    if ids != sorted(set(ids)):
        return "the checkpoint's matches are not in order"
    if _root(checkpoint.leaves) != checkpoint.root:
        return "the checkpoint's root is not that of its leaves"
    if checkpoint.key_id != key_id(public_key):
        return f"the checkpoint is signed by key {checkpoint.key_id}, not by this one"
    statement = _checkpoint_statement(checkpoint.scope, len(checkpoint.leaves), checkpoint.root)
    fault = signature_fault(public_key, checkpoint.signature, statement)
    return f"{fault} (of the checkpoint)" if fault else ""
