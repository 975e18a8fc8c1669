"""Evidence that outlives the platform: signed records of matches, Merkle checkpoints over them, and archive files.

A signature is Ed25519 over `shuffle.frame(label, statement)`, where the statement is the deterministic serialisation of
RecordStatement or CheckpointStatement and the label says which ("majlis record 1", "majlis checkpoint 1"). A Merkle leaf is
a serialised MerkleLeaf (match id and history hash); leaves are sorted by match id; trees are those of RFC 6962.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from majlis.engine.decider import Rejected
from majlis.engine.merkle import merkle_proof, merkle_root, proves
from majlis.engine.redecide import Verdict, verify_history
from majlis.engine.salvage import broken_parts, salvage
from majlis.engine.shuffle import frame
from majlis.engine.signing import key_id, signature_fault, verify_checkpoint, write_checkpoint
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.match import MatchEnded
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.result import (
    ArchiveFile,
    MerkleCheckpoint,
    Record,
    RecordStatement,
)
from majlis.engine.vocabulary.wire import (
    decode_archive_file,
    decode_entry,
    decode_record,
    encode_archive_file,
    encode_record,
    encode_record_statement,
)

__all__ = [
    "ArchiveVerdict",
    "Verdict",
    "key_id",
    "merkle_proof",
    "merkle_root",
    "proves",
    "read_record",
    "verify_archive_file",
    "verify_checkpoint",
    "verify_history",
    "verify_record",
    "verifying_archive_file",
    "write_archive_file",
    "write_checkpoint",
    "write_record",
]

SCHEMA: Final = 1
"""Of records and archive files."""
_RECORDS: Final = 3
"""The field of ArchiveFile that holds the records."""
RECORD_BYTES_MAX: Final = 64 * 1024 * 1024
"""A record is not unpacked beyond this; a match of 700 decisions has some 200 KB."""


class ArchiveVerdict(Struct, frozen=True):
    """What verifying an archive file has found so far, or in the end."""

    ok: bool
    matches: int
    """Records found good."""
    entries: int
    of_matches: int = 0
    fault: str = ""
    fault_match_id: str = ""
    fault_entry: int = 0


# --- records -------------------------------------------------------------------------------------------------------


def write_record(entries: Sequence[bytes], key: Ed25519PrivateKey) -> bytes:
    """The signed, compressed record of a finished match. Verify the history first: a signature says that it is good.

    Raises ValueError when the last entry does not end the match.
    """
    last = decode_entry(entries[-1]) if entries else None
    ended = last.events[-1] if last is not None and last.events else None
    if last is None or not isinstance(ended, MatchEnded):
        raise ValueError("the history of a match that has not ended is no record")
    history_hash = sha256(entries[-1]).digest()
    statement = _record_statement(last.match_id, len(entries), history_hash, ended.position_hash)
    record = Record(
        schema=SCHEMA,
        match_id=last.match_id,
        game=_game_of(entries[0]),
        entries=tuple(entries),
        history_hash=history_hash,
        signature=key.sign(statement),
        key_id=key_id(key.public_key()),
    )
    return zlib.compress(encode_record(record), 6)


def _game_of(first: bytes) -> str:
    opened = decode_entry(first).events[0]
    return getattr(opened, "game", "")


def _record_statement(match_id: str, entries: int, history_hash: bytes, position_hash: bytes) -> bytes:
    statement = RecordStatement(
        match_id=match_id, entries=entries, history_hash=history_hash, position_hash=position_hash
    )
    return frame("majlis record 1", encode_record_statement(statement))


def read_record(compressed: bytes) -> Record:
    """The record, unpacked but not verified. Raises Rejected(CORRUPT_RECORD)."""
    inflater = zlib.decompressobj()
    try:
        unpacked = inflater.decompress(compressed, RECORD_BYTES_MAX)
    except zlib.error as error:
        raise _corrupt(f"the record cannot be unpacked: {error}") from error
    if inflater.unconsumed_tail:
        raise _corrupt(f"the record has more than {RECORD_BYTES_MAX} bytes unpacked")
    if not inflater.eof or inflater.unused_data:
        raise _corrupt("something follows the record" if inflater.eof else "the record is cut off")
    try:
        record = decode_record(unpacked)
    except Unreadable as error:
        raise _corrupt(f"this is no record: {error}") from error
    if record.schema != SCHEMA:
        raise _corrupt(f"the record is of schema {record.schema}: this program knows {SCHEMA}")
    return record


def _corrupt(detail: str) -> Rejected:
    return Rejected(RejectionCode.CORRUPT_RECORD, detail, "Fetch it again from the archive.")


def verify_record(compressed: bytes, public_key: Ed25519PublicKey) -> Verdict:
    """Unpacks, checks the signature and decides everything again. Never raises."""
    try:
        record = read_record(compressed)
    except Rejected as refusal:
        return _damaged(compressed, refusal.detail)
    verdict = verify_history(record.entries)
    if verdict.state is None:
        return Verdict(False, verdict.entries, verdict.fault, verdict.fault_entry, record.match_id)
    state, ended = verdict.state, verdict.state.ended
    faults = {
        "the match has not ended": ended is None,
        f"the entries are of match {state.match_id}": record.match_id != state.match_id,
        f"the entries are of the game {state.game}": record.game != state.game,
        "the history hash is not that of the last entry": record.history_hash != state.head_hash,
        f"the record is signed by key {record.key_id}, not by this one": record.key_id != key_id(public_key),
    }
    fault = next((text for text, is_so in faults.items() if is_so), "")
    if not fault and ended is not None:
        statement = _record_statement(state.match_id, state.number, state.head_hash, ended.position_hash)
        fault = signature_fault(public_key, record.signature, statement)
    if fault:
        return Verdict(False, verdict.entries, fault, match_id=record.match_id)
    return verdict


def _damaged(compressed: bytes, detail: str) -> Verdict:
    """The verdict on what cannot be unpacked whole: the first entry that is not as it must be, or is not there."""
    verdict = verify_history(salvage(compressed, RECORD_BYTES_MAX))
    if verdict.ok:
        return Verdict(False, verdict.entries, f"is damaged: {detail}", verdict.entries + 1, verdict.match_id)
    if verdict.fault_entry and verdict.match_id:
        return Verdict(
            False, verdict.entries, f"{verdict.fault} ({detail})", verdict.fault_entry, verdict.match_id
        )
    return Verdict(False, 0, detail)


# --- archive files -------------------------------------------------------------------------------------------------


def write_archive_file(records: Sequence[bytes], checkpoint: MerkleCheckpoint | None = None) -> bytes:
    """One file of compressed records, and the checkpoint over exactly these where there are several."""
    return encode_archive_file(ArchiveFile(schema=SCHEMA, checkpoint=checkpoint, records=tuple(records)))


def verify_archive_file(data: bytes, public_key: Ed25519PublicKey) -> ArchiveVerdict:
    """Verifies the file with nothing but the public key. Never raises."""
    return list(verifying_archive_file(data, public_key))[-1]


def verifying_archive_file(data: bytes, public_key: Ed25519PublicKey) -> Iterator[ArchiveVerdict]:
    """The same with a verdict after each record: the last one counts. Stops at the first fault."""
    try:
        file = decode_archive_file(data)
    except Unreadable as error:
        yield _first_damage(data, public_key, f"this is no archive file: {error}")
        return
    expected, fault = _expected(file, public_key)
    matches = entries = 0
    of_matches = len(file.records)
    if fault:
        yield ArchiveVerdict(False, 0, 0, of_matches, fault)
        return
    for compressed in file.records:
        verdict = verify_record(compressed, public_key)
        fault = verdict.fault
        if verdict.state is not None and expected is not None:
            fault = _leaf_fault(expected, verdict.match_id, verdict.state.head_hash)
        if fault:
            entries += verdict.entries
            name = verdict.match_id or f"record {matches + 1}"
            yield ArchiveVerdict(False, matches, entries, of_matches, fault, name, verdict.fault_entry)
            return
        matches, entries = matches + 1, entries + verdict.entries
        if matches < of_matches:
            yield ArchiveVerdict(True, matches, entries, of_matches)
    if expected:
        missing = min(expected)
        yield ArchiveVerdict(False, matches, entries, of_matches, "is missing in the file", missing)
        return
    yield ArchiveVerdict(True, matches, entries, of_matches)


def _first_damage(data: bytes, public_key: Ed25519PublicKey, detail: str) -> ArchiveVerdict:
    """The verdict on a file that is cut off or spoilt: the first record in it that is not as it must be."""
    records = broken_parts(data, _RECORDS)
    for number, compressed in enumerate(records, start=1):
        verdict = verify_record(compressed, public_key)
        if not verdict.ok:
            name = verdict.match_id or f"record {number}"
            fault = f"{verdict.fault}; {detail}"
            return ArchiveVerdict(
                False, number - 1, verdict.entries, len(records), fault, name, verdict.fault_entry
            )
    return ArchiveVerdict(False, len(records), 0, len(records), detail)


def _expected(file: ArchiveFile, public_key: Ed25519PublicKey) -> tuple[dict[str, bytes] | None, str]:
    """Match id -> history hash as the checkpoint has them, None without one; and what is wrong with the file."""
    if file.schema != SCHEMA:
        return None, f"this is no archive file of schema {SCHEMA}, but {file.schema}"
    if not file.records:
        return None, "the file holds no records"
    if file.checkpoint is None:
        return None, "" if len(
            file.records
        ) == 1 else "the file holds several records and no checkpoint over them"
    fault = verify_checkpoint(file.checkpoint, public_key)
    return {leaf.match_id: leaf.history_hash for leaf in file.checkpoint.leaves}, fault


def _leaf_fault(expected: dict[str, bytes], match_id: str, history_hash: bytes) -> str:
    """Takes the match off what is expected."""
    leaf = expected.pop(match_id, None)
    if leaf is None:
        return "is not in the checkpoint, or stands twice in the file"
    return "" if leaf == history_hash else "is another history than the checkpoint's"
