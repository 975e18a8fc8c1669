"""Whoever holds a record or an archive file and the public key finds out whether anything was changed (DESIGN §6)."""

from __future__ import annotations

import zlib
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from majlis.engine import evidence
from majlis.engine.evidence import (
    key_id,
    read_record,
    verify_archive_file,
    verify_history,
    verify_record,
    verifying_archive_file,
    write_archive_file,
    write_checkpoint,
    write_record,
)
from majlis.engine.vocabulary.result import Record
from majlis.engine.vocabulary.wire import (
    decode_archive_file,
    encode_archive_file,
    encode_record,
)
from tests.support.matches import refused
from tests.support.records import KEY, OTHER_KEY, PUBLIC, decoded, history, rechained, record

# --- records -------------------------------------------------------------------------------------------------------


def test_a_record_is_verified_with_the_public_key() -> None:
    verdict = verify_record(record(), PUBLIC)
    assert (verdict.ok, verdict.entries, verdict.match_id) == (True, len(history()), "0-match1")
    unpacked = read_record(record())
    assert (unpacked.game, unpacked.key_id) == ("sounding", key_id(PUBLIC))
    assert unpacked.history_hash == sha256(history()[-1]).digest()
    assert len(record()) < sum(map(len, history()))


def test_a_changed_last_entry_is_found_by_its_ending_or_the_records_hash() -> None:
    entries = decoded()
    entries[-1] = replace(entries[-1], actor_id="somebody else")
    stored = rechained(entries)
    assert verify_history(stored).ok  # who acted cannot be derived: the signed hash covers it
    forged = replace(read_record(record()), entries=tuple(stored))
    assert verify_record(zlib.compress(encode_record(forged)), PUBLIC).fault


def test_only_a_finished_match_has_a_record() -> None:
    for entries in ((), history()[:-1]):
        with pytest.raises(ValueError, match="has not ended"):
            write_record(entries, KEY)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damage_to_a_record_is_found(data: st.DataObject) -> None:
    damaged = bytearray(record())
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    verdict = verify_record(bytes(damaged), PUBLIC)
    assert not verdict.ok
    assert verdict.fault


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"match_id": "0-other"}, "entries are of match 0-match1"),
        ({"game": "thousand"}, "entries are of the game sounding"),
        ({"history_hash": bytes(32)}, "history hash"),
        ({"signature": bytes(64)}, "signature is not good"),
        ({"signature": b""}, "signature is not good"),
        ({"key_id": "0" * 16}, "signed by key 0000"),
        ({"schema": 9}, "schema 9"),
        ({"entries": history()[:-1]}, "has not ended"),
        ({"entries": ()}, "no entries"),
    ],
)
def test_a_changed_record_is_found(change: dict[str, object], words: str) -> None:
    forged = replace(read_record(record()), **change)
    verdict = verify_record(zlib.compress(encode_record(forged)), PUBLIC)
    assert not verdict.ok
    assert words in verdict.fault


def test_a_record_signed_with_another_key_is_found() -> None:
    verdict = verify_record(write_record(history(), OTHER_KEY), PUBLIC)
    assert f"signed by key {key_id(OTHER_KEY.public_key())}" in verdict.fault


@pytest.mark.parametrize(
    ("compressed", "words"),
    [
        (b"", "cut off"),
        (b"no zlib", "cannot be unpacked"),
        (record()[:-10], "cut off"),
        (record() + b"more", "follows the record"),
        (zlib.compress(b"\xff\xff"), "no record"),
    ],
)
def test_what_is_no_record_is_corrupt(compressed: bytes, words: str) -> None:
    with refused("CORRUPT_RECORD"):
        read_record(compressed)
    assert words in verify_record(compressed, PUBLIC).fault


def test_a_record_is_not_unpacked_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "RECORD_BYTES_MAX", 100_000)
    bomb = zlib.compress(encode_record(Record(schema=1, game="x" * 10_000_000)))
    assert len(bomb) < 20_000
    assert verify_record(bomb, PUBLIC).fault


# --- archive files -------------------------------------------------------------------------------------------------


@cache
def archive() -> bytes:
    histories = {f"0-match{name}": sha256(history(name)[-1]).digest() for name in "12"}
    return write_archive_file([record("1"), record("2")], write_checkpoint("tournament/cup", histories, KEY))


def test_an_archive_file_is_verified_with_nothing_but_the_public_key() -> None:
    verdict = verify_archive_file(archive(), PUBLIC)
    entries = len(history("1")) + len(history("2"))
    assert (verdict.ok, verdict.matches, verdict.entries, verdict.of_matches) == (True, 2, entries, 2)
    progress = [(step.matches, step.ok) for step in verifying_archive_file(archive(), PUBLIC)]
    assert progress == [(1, True), (2, True)]


def test_a_single_record_needs_no_checkpoint() -> None:
    assert verify_archive_file(write_archive_file([record()]), PUBLIC).ok


def test_the_first_bad_entry_of_a_file_is_named() -> None:
    entries = decoded()
    *before, ended = entries[-1].events
    entries[-1] = replace(entries[-1], events=(*before, replace(ended, reason="bribed")))
    forged = write_record(rechained(entries), KEY)
    verdict = verify_archive_file(write_archive_file([forged]), PUBLIC)
    assert (verdict.fault_match_id, verdict.fault_entry) == ("0-match1", len(history()))
    assert "another reason" in verdict.fault


@pytest.mark.parametrize(
    ("records", "scope", "words", "culprit"),
    [
        ((), "12", "holds no records", ""),
        (("1", "2"), "", "no checkpoint over them", ""),
        (("1",), "12", "is missing in the file", "0-match2"),
        (("1", "2"), "1", "is not in the checkpoint", "0-match2"),
        (("1", "1"), "12", "stands twice", "0-match1"),
    ],
)
def test_a_file_must_hold_what_its_checkpoint_covers(
    records: tuple[str, ...], scope: str, words: str, culprit: str
) -> None:
    histories = {f"0-match{name}": sha256(history(name)[-1]).digest() for name in scope}
    checkpoint = write_checkpoint("tournament/cup", histories, KEY) if scope else None
    verdict = verify_archive_file(write_archive_file([record(name) for name in records], checkpoint), PUBLIC)
    assert not verdict.ok
    assert words in verdict.fault
    assert verdict.fault_match_id == culprit


def test_another_history_than_the_checkpoints_is_found() -> None:
    checkpoint = write_checkpoint("tournament/cup", {"0-match1": bytes(32)}, KEY)
    verdict = verify_archive_file(write_archive_file([record()], checkpoint), PUBLIC)
    assert "another history" in verdict.fault


@pytest.mark.parametrize("data", [b"", b"\xff", b"PK\3\4 something else", record()])
def test_another_file_is_no_archive_file(data: bytes) -> None:
    verdict = verify_archive_file(data, PUBLIC)
    assert not verdict.ok
    assert "no archive file" in verdict.fault


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damage_to_an_archive_file_is_found(data: st.DataObject) -> None:
    damaged = bytearray(archive())
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert not verify_archive_file(bytes(damaged), PUBLIC).ok


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_archive_file_is_found(part: float) -> None:
    assert not verify_archive_file(archive()[: int(len(archive()) * part)], PUBLIC).ok


def test_a_key_that_is_not_the_archives_verifies_nothing() -> None:
    verdict = verify_archive_file(archive(), OTHER_KEY.public_key())
    assert "signed by key" in verdict.fault
    file = decode_archive_file(archive())
    assert encode_archive_file(file) == archive()
