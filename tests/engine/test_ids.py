"""Match ids say their shard and are made of what the match is (DESIGN §6)."""

from __future__ import annotations

from collections import Counter

import pytest

from majlis.engine.ids import match_id, shard_of
from tests.support.matches import refused


def test_the_same_pod_has_the_same_match_and_another_one_another() -> None:
    assert match_id(8, "cup", 1, 2) == match_id(8, "cup", 1, 2)
    assert (
        len({match_id(8, "cup", r, p) for r in range(20) for p in range(20)} | {match_id(8, "cup1", 2)})
        == 401
    )


def test_the_id_of_a_pod_never_changes() -> None:
    assert match_id(8, "cup", 1, 2) == "7-gr7flseqo6cjzcvw"


def test_the_shard_stands_in_the_id_and_all_shards_are_used() -> None:
    shards = Counter(shard_of(match_id(8, "cup", pod)) for pod in range(400))
    assert set(shards) == set("01234567")
    assert min(shards.values()) > 25


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "3-",
        "-abcd",
        "03-abcdefgh",
        "x-abcdefgh",
        "3-ABCDEFGH",
        "3-abc",
        "3-abcd.efgh",
        "3-abcd\n",
        "٣-abcd",
    ],
)
def test_what_is_no_id_is_an_unknown_match(text: str) -> None:
    with refused("UNKNOWN_MATCH"):
        shard_of(text)
