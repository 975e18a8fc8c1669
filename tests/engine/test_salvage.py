"""Damaged evidence: the first bad entry is named wherever anything can still be read."""

from __future__ import annotations

import pytest

from majlis.engine.evidence import RECORD_BYTES_MAX, read_record, verify_archive_file, verify_record
from majlis.engine.salvage import salvage
from tests.engine.test_evidence import archive
from tests.support.records import PUBLIC, record


def test_everything_is_salvaged_from_a_record_that_is_whole() -> None:
    compressed = record()
    assert tuple(salvage(compressed, RECORD_BYTES_MAX)) == read_record(compressed).entries


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_record_that_is_cut_off_is_good_up_to_the_entry_that_is_missing(share: float) -> None:
    compressed = record()
    entries = read_record(compressed).entries
    verdict = verify_record(compressed[: int(len(compressed) * share)], PUBLIC)
    assert not verdict.ok
    assert 1 <= verdict.fault_entry <= len(entries)
    assert verdict.fault_entry == verdict.entries + 1
    assert verdict.match_id == read_record(compressed).match_id
    assert "cut off" in verdict.fault


def test_no_flipped_bit_of_a_record_goes_unnoticed_and_most_name_an_entry() -> None:
    compressed = record()
    named = 0
    places = range(2, len(compressed), max(1, len(compressed) // 60))
    for place in places:
        spoilt = bytearray(compressed)
        spoilt[place] ^= 1 << place % 8
        verdict = verify_record(bytes(spoilt), PUBLIC)
        assert not verdict.ok
        named += verdict.fault_entry > 0
    assert named > len(places) / 2


def test_a_file_that_is_cut_off_names_the_match_and_entry_where_it_ends() -> None:
    whole = archive()
    verdict = verify_archive_file(whole[: len(whole) * 4 // 5], PUBLIC)
    assert not verdict.ok
    assert verdict.fault_match_id
    assert verdict.fault_entry > 1


@pytest.mark.parametrize(
    "data", [b"", b"\x1a", b"\xff" * 40, b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"]
)
def test_what_was_never_a_record_gives_nothing(data: bytes) -> None:
    assert salvage(data, RECORD_BYTES_MAX) == []
    assert not verify_archive_file(data, PUBLIC).ok
