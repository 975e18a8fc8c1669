"""What the benchmarks promise: their keys, and figures that fit together. Never how fast anything is."""

from __future__ import annotations

import random

import pytest
from hdrh.histogram import HdrHistogram

from majlis.engine.registry import GAMES
from majlis.loadtest.bench_engine import engine
from majlis.loadtest.bench_journal import journal
from majlis.loadtest.bench_path import path
from majlis.loadtest.measure import Latencies


def test_bench_engine_measures_every_game() -> None:
    told = engine(runs=2, seconds=0.05)
    assert told["machine"]["cores"] >= 1
    assert set(told["games"]) == set(GAMES)
    for figures in told["games"].values():
        assert {
            "decisions_per_s",
            "fold_entries_per_s",
            "view_us",
            "state_bytes",
            "decide_p99_us",
        } <= set(figures)
        spread = figures["spread"]["decisions_per_s"]
        assert spread["runs"] == 2
        assert spread["min"] <= figures["decisions_per_s"] <= spread["max"]


@pytest.mark.parametrize("rate", [None, 1.0])
def test_bench_path_plays_for_real_and_loses_nothing(rate: float | None) -> None:
    told = path(tables=6, rate=rate, seconds=2.0, warm_up_s=0.5, processes=2, shards=2)
    assert told["moves_per_s"] > 0
    assert 0 < told["all_seats_p50_ms"] <= told["all_seats_p99_ms"]
    assert set(told["cpu_us_per_move"]) == {"table", "broker", "edge", "players"}
    assert "table_rss_bytes_per_table" in told
    settled = told["settled"]
    assert settled["accepted"] > 0
    assert (settled["rejected"], settled["strange"], settled["unanswered"], settled["unseen"]) == (
        {},
        0,
        0,
        0,
    )


def test_latencies_are_those_of_hdr_histogram() -> None:
    rng = random.Random(5)
    ours, theirs, parts = Latencies(), HdrHistogram(1, 10**9, 3), [Latencies(), Latencies()]
    for number in range(5000):
        microseconds = round(rng.lognormvariate(8, 2)) + 1
        theirs.record_value(microseconds)
        parts[number % 2].add(microseconds / 1e6)
    for part in parts:
        ours.add_counts(part.counts)
    assert len(ours) == 5000
    for percentile in (1, 50, 90, 99, 99.9, 100):
        expected = theirs.get_value_at_percentile(percentile) / 1000
        assert ours.percentile_ms(percentile) == pytest.approx(expected, rel=0.001)
    assert Latencies().percentile_ms(50) is None


def test_bench_journal_measures_every_case_and_its_reference() -> None:
    told = journal(rate=300.0, seconds=0.4)
    assert [(case["shards"], case["nodes"]) for case in told["cases"]] == [(8, 1), (1, 1), (64, 1), (8, 3)]
    for case in told["cases"]:
        assert case["entries_per_s"] > 0
        assert case["bare_publish_per_s"] > 0
        assert case["batch_mean"] >= 1
        assert 0 < case["p50_ms"] <= case["p99_ms"]
    assert told["entry_bytes"] >= 140
    assert {key: told[key] for key in told["cases"][0]} == told["cases"][0]
