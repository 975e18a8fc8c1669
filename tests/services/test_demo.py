"""`majlis demo`: one command plays a tournament, tells what came of it, and leaves evidence that can be checked."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from majlis.chassis.settings import load
from majlis.cli.demo import report
from tests.support.cli import Cli, own_ports


@pytest.mark.slow
def test_the_demo_ends_by_itself_with_everything_verified(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data", own_ports())
    told = cli.json("demo", "--exit")
    assert (told["game"], told["entrants"], told["rounds"], told["matches"]) == ("sounding", 24, 5, 30)
    assert told["audit"] == {"matches": 30, "entries": told["entries"], "verified": True}
    assert told["moves_per_s"] > 0
    assert [line["place"] for line in told["standings"]] == list(range(1, 25))
    assert len(told["ratings"]) == 24
    assert sum(row["matches"] for row in told["ratings"]) == 30 * 4
    # Nothing runs any more, and what it printed still works.
    assert not (cli.data_dir / "running.json").exists()
    assert cli("down").code == 0
    replay, verify = (shlex.split(told[name])[1:] for name in ("replay", "verify"))
    assert "the match ends" in cli(*replay).stdout
    assert "verified: 30 matches" in cli(*verify).stdout


def facts(**audit: Any) -> dict[str, Any]:
    standing = {
        "place": 1,
        "name": "Expert 1",
        "points": "13½",
        "opponents_points": "120",
        "lot": 3,
        "played": 5,
    }
    return {
        "standings": [standing],
        "ratings": [{"rank": 1, "name": "Expert 1", "rating": 1478, "mu": 35.3, "sigma": 7.8, "matches": 5}],
        "matches": 30,
        "seconds": 75.0,
        "moves_per_s": 187.0,
        "audit": {"matches": 30, "entries": 14026, "verified": True} | audit,
        "final_match": "5-abcd",
        "file": "data/demo.majlis",
        "services": [{"name": "lobby", "grpc": "127.0.0.1:7470", "metrics": "http://127.0.0.1:7490/metrics"}],
    }


def said(capsys: pytest.CaptureFixture[str], told: dict[str, Any], *, serving: bool) -> str:
    report.tell(told, load({"data_dir": "data"}, {}), serving=serving, as_json=False)
    return capsys.readouterr().out


def test_while_it_serves_it_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, facts(), serving=True)
    assert "audit: 30 matches, 14026 entries, all verified" in text
    assert "majlis replay 5-abcd --data-dir data" in text
    assert "gRPC 127.0.0.1:7470" in text
    assert "http://127.0.0.1:7490/metrics" in text
    assert "13½" in text


def test_when_it_ends_it_says_how_to_replay_without_a_platform(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, facts(), serving=False)
    assert "majlis replay data/demo.majlis --match 5-abcd" in text
    assert "majlis verify data/demo.majlis --data-dir data" in text
    assert "gRPC 127.0.0.1:7470" in text, "also then it is said where everything was"


def test_a_failed_audit_is_said_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, facts(verified=False, fault="5-abcd: the signature is not good"), serving=False)
    assert "NOT verified: 5-abcd: the signature is not good" in text
    assert "all verified" not in text
