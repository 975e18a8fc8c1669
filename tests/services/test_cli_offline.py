"""Commands that need no platform: rules, scenarios, records in files; and how every command ends."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.tokens import load_private_key, make_keys
from majlis.engine.evidence import read_record, write_archive_file, write_checkpoint, write_record
from tests.support.cli import ROOT, Cli
from tests.support.matches import COMPUTER, PERSON, played

SCENARIOS = ROOT / "tests/engine/sounding"


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the archive's keys, the archive file of two matches, and that of one."""
    directory = tmp_path_factory.mktemp("archive")
    make_keys(directory / "keys")
    key = load_private_key(directory / "keys/archive.key")
    records = [
        write_record(
            played(COMPUTER, COMPUTER, PERSON, rng_seed=name, match_id=f"0-match{name}aaa").stored, key
        )
        for name in "12"
    ]
    opened = [read_record(record) for record in records]
    checkpoint = write_checkpoint("tournament/t", {each.match_id: each.history_hash for each in opened}, key)
    (directory / "two.majlis").write_bytes(write_archive_file(records, checkpoint))
    (directory / "one.majlis").write_bytes(write_archive_file(records[:1]))
    return directory


@pytest.fixture
def cli(archive: Path) -> Cli:
    return Cli(archive)


# --- exit codes ------------------------------------------------------------------------------------------------------


def test_help_documents_the_exit_codes(cli: Cli) -> None:
    said = " ".join(cli("--help").stdout.split())
    for text in ("0 fine", "1 the answer is no", "2 wrong usage", "3 the platform cannot be reached"):
        assert text in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("tournament", "nonsense"),
        ("replay",),
        ("--set", "nonsense", "config", "show"),
        ("config", "show", "--set", "shards=none"),
        ("scenario", "run", "missing.yaml"),
        ("replay", "missing.majlis"),
        ("verify", "missing.majlis"),
        ("tournament", "adjudicate", "t", "1", "1", "--places", "first", "--reason", "why"),
        ("table", "open", "sounding", "--option", "turn_ms"),
    ],
)
def test_wrong_usage_ends_with_2(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments, code=2).stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("table", "list"),
        ("table", "open", "sounding"),
        ("tournament", "list"),
        ("tournament", "start", "t"),
        ("tournament", "watch", "t"),
        ("rating", "top"),
        ("replay", "3-abcdefgh"),
        ("verify", "3-abcdefgh"),
        ("export", "3-abcdefgh", "-o", "nowhere.majlis"),
    ],
)
def test_a_platform_that_cannot_be_reached_ends_with_3(cli: Cli, arguments: tuple[str, ...]) -> None:
    unused = dict.fromkeys(("ports__table", "ports__lobby", "ports__rating", "ports__archive"), 1)
    elsewhere = Cli(
        cli.data_dir,
        {**unused, "ports__lobby": 1, "ports__rating": 2, "ports__archive": 3, "ports__table": 4},
    )
    said = elsewhere.json(*arguments, code=3)["error"]
    assert "does not answer" in said["detail"]
    assert "majlis up" in said["remedy"]


def test_shared_options_may_stand_anywhere(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    for arguments in (
        ("--set", "shards=3", "config", "show", "shards"),
        ("config", "show", "shards", "--set=shards=3"),
    ):
        assert cli.json(*arguments)[0]["value"] == "3"


def test_config_show_names_each_source_and_hides_passwords(tmp_path: Path) -> None:
    (tmp_path / "majlis.toml").write_text('[sql]\nlobby = "postgresql+asyncpg://me:hidden@host/db"\n')
    cli = Cli(tmp_path, {"shards": 4})
    told = {row["name"]: row for row in cli.json("config", "show", "--set", "ports.lobby=8123")}
    assert told["sql.lobby"]["source"] == f"file {tmp_path / 'majlis.toml'}"
    assert told["sql.lobby"]["value"] == "postgresql+asyncpg://me:********@host/db"
    assert told["shards"]["source"] == "environment"
    assert (told["ports.lobby"]["value"], told["ports.lobby"]["source"]) == ("8123", "flag")
    assert told["ports.table"]["source"] == "default"
    assert "hidden" not in cli("config", "show").stdout


# --- games -----------------------------------------------------------------------------------------------------------


def test_scenarios_that_hold_end_with_0(cli: Cli) -> None:
    told = cli.json("scenario", "run", SCENARIOS / "SND-T05.yaml", SCENARIOS / "SND-T06.yaml")
    assert told["failed"] == 0
    assert told["run"] == len(told["scenarios"]) >= 2
    assert "all hold" in cli("scenario", "run", SCENARIOS / "SND-T05.yaml").stdout


def test_a_scenario_that_does_not_hold_ends_with_1_and_says_why(cli: Cli, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        (SCENARIOS / "SND-T05.yaml").read_text().replace("[1, 9, 5, 5, 5]", "[1, 5, 5, 5, 9]", 1)
    )
    told = cli.json("scenario", "run", wrong, code=1)
    assert told["failed"] == 1
    assert told["scenarios"][0]["problems"]
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "broken.yaml").write_text("id: [")
    for name in ("empty.yaml", "broken.yaml"):
        cli("scenario", "run", tmp_path / name, code=1)


def test_rules_are_printed_with_all_options(cli: Cli) -> None:
    told = cli.json("rules", "sounding")
    assert told["options"]["initial_flips"] == "simultaneous"
    assert told["text"]
    assert "initial_flips" in cli("rules", "sounding").stdout
    assert "no game 'chess'" in cli("rules", "chess", code=1).stderr


# --- records ---------------------------------------------------------------------------------------------------------


def test_replay_tells_every_move_in_words(cli: Cli, archive: Path) -> None:
    said = cli("replay", archive / "one.majlis").stdout
    assert "a new deal; the discard pile opens with" in said
    assert "draws" in said
    assert "the match ends (played out)" in said
    told = cli.json("replay", archive / "one.majlis")
    assert [move["entry"] for move in told["moves"]] == list(range(1, len(told["moves"]) + 1))
    assert told["moves"][0]["command"] == "open_match"


def drawn(moves: list[dict[str, Any]]) -> set[str]:
    return {line for move in moves for line in move["happened"] if " draws " in line}


def test_replay_shows_a_seat_only_what_it_saw(cli: Cli, archive: Path) -> None:
    everything, own, spectator = (
        drawn(cli.json("replay", archive / "one.majlis", *viewer)["moves"])
        for viewer in ((), ("--seat", "1"), ("--spectator",))
    )
    assert all(line.endswith("draws a card") for line in spectator)
    assert not any(line.endswith("draws a card") for line in everything)
    assert all(("seat 1" in line) != line.endswith("draws a card") for line in own)
    assert {line for line in own if "seat 1" in line} <= everything


def test_replay_can_begin_anywhere_with_the_position(cli: Cli, archive: Path) -> None:
    said = cli("replay", archive / "one.majlis", "--from", "20").stdout.splitlines()
    assert any(line.startswith("seat 0") for line in said)
    assert not any(line.split()[:1] == ["19"] for line in said)
    for bad in (("--from", "100000"), ("--seat", "9"), ("--seat", "1", "--spectator")):
        cli("replay", archive / "one.majlis", *bad, code=2)


def test_replay_of_a_file_with_several_matches_asks_which(cli: Cli, archive: Path) -> None:
    assert "--match" in cli("replay", archive / "two.majlis", code=2).stderr
    assert cli.json("replay", archive / "two.majlis", "--match", "0-match2aaa")["match"] == "0-match2aaa"


def test_a_good_archive_is_verified_with_nothing_but_the_public_key(archive: Path, tmp_path: Path) -> None:
    stranger = Cli(tmp_path)
    key = archive / "keys/archive.pub"
    told = stranger.json("verify", archive / "two.majlis", "--public-key", key)
    assert told["verified"]
    assert told["matches"] == 2
    raw = load_private_key(archive / "keys/archive.key").public_key().public_bytes_raw().hex()
    assert stranger.json("verify", archive / "two.majlis", "--public-key", raw) == told
    assert Cli(archive).json("verify", archive / "two.majlis") == told  # the data directory's own key
    stranger("verify", archive / "two.majlis", code=2)  # no key at all
    stranger("verify", archive / "two.majlis", "--public-key", archive / "two.majlis", code=2)


def test_a_damaged_archive_ends_with_1_and_names_the_first_bad_entry(
    cli: Cli, archive: Path, tmp_path: Path
) -> None:
    good = (archive / "two.majlis").read_bytes()
    rng = random.Random(1)
    damaged = {"cut": good[: len(good) // 2], "empty": b"", "text": b"no archive"}
    for number in range(3):
        flipped = bytearray(good)
        flipped[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
        damaged[f"flipped-{number}"] = bytes(flipped)
    for name, data in damaged.items():
        path = tmp_path / f"{name}.majlis"
        path.write_bytes(data)
        told = cli.json("verify", path, code=1)
        assert not told["verified"], name
        assert told["fault"], name


def test_a_history_that_somebody_rewrote_is_told_by_match_and_entry(
    cli: Cli, archive: Path, tmp_path: Path
) -> None:
    """With the archive's key in hand the signature is good again: deciding everything again is not."""
    match = played(COMPUTER, COMPUTER, rng_seed="3", match_id="0-match3aaa")
    other = played(COMPUTER, COMPUTER, rng_seed="4", match_id="0-match3aaa")
    forged = [*match.stored[:10], *other.stored[10:]]
    key: Ed25519PrivateKey = load_private_key(archive / "keys/archive.key")
    path = tmp_path / "forged.majlis"
    path.write_bytes(write_archive_file([write_record(forged, key)]))
    told = cli.json("verify", path, code=1)
    assert (told["fault_match"], told["fault_entry"]) == ("0-match3aaa", 11)
    assert "match 0-match3aaa, entry 11" in cli("verify", path, code=1).stdout


def test_the_installed_command_prints_data_on_stdout_and_ends_with_the_codes(archive: Path) -> None:
    majlis = Path(sys.executable).with_name("majlis")
    env = Cli(archive).environment
    good = subprocess.run(
        [majlis, "verify", archive / "two.majlis", "--json"], env=env, capture_output=True, check=False
    )
    assert good.returncode == 0
    assert json.loads(good.stdout)["verified"] is True
    assert good.stderr == b""
    bad = subprocess.run(
        [majlis, "verify", archive / "missing.majlis"], env=env, capture_output=True, check=False
    )
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert b"missing.majlis cannot be read" in bad.stderr
