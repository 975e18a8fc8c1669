"""The command line against a whole running platform: a tournament from its announcement to its evidence."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from majlis.chassis.tokens import make_keys
from tests.support.cli import Cli, platform

ENTRANTS, ROUNDS, POD = 6, 2, 3
MATCHES = ENTRANTS // POD * ROUNDS
PATIENCE_S = 180.0


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with platform(tmp_path_factory.mktemp("platform") / "data") as cli:
        yield cli


@pytest.fixture(scope="module")
def played(cli: Cli) -> str:
    """A tournament of computers that has been played, and whose records are archived."""
    created = cli.json(
        "tournament", "create", "Friday night", "--rounds", str(ROUNDS), "--pod-size", str(POD), "--thinking", "0"
    )  # fmt: skip
    assert created == {"tournament": "friday-night"}
    entered = cli.json(
        "tournament", "register", "friday-night", "--computers", str(ENTRANTS), "--level", "novice"
    )
    assert len(entered["entrants"]) == ENTRANTS
    cli("tournament", "start", "friday-night")
    last = cli("tournament", "watch", "friday-night", "--json").stdout.splitlines()[-1]
    told = json.loads(last)
    assert (told["stage"], told["pods_decided"], told["pods_total"]) == ("finished", MATCHES, MATCHES)
    cli.until_verified("friday-night", MATCHES)
    return "friday-night"


def final(cli: Cli, tournament: str) -> dict[str, Any]:
    pod: dict[str, Any] = cli.json("tournament", "pairings", tournament)["pods"][0]
    return pod


def test_standings_are_complete_and_in_order(cli: Cli, played: str) -> None:
    lines = cli.json("tournament", "standings", played)
    assert [line["place"] for line in lines] == list(range(1, ENTRANTS + 1))
    assert [line["score"] for line in lines] == sorted((line["score"] for line in lines), reverse=True)
    assert all(line["played"] == ROUNDS for line in lines)
    # Two half points for each opponent left behind: every pod gives POD * (POD - 1).
    assert sum(line["score"] for line in lines) == MATCHES * POD * (POD - 1)
    assert "after round 2" in cli("tournament", "standings", played).stdout


def test_pairings_name_every_match_and_nobody_twice(cli: Cli, played: str) -> None:
    for number in (1, 2):
        told = cli.json("tournament", "pairings", played, "--round", str(number))
        seated = [entrant for pod in told["pods"] for entrant in pod["entrants"]]
        assert len(seated) == len(set(seated)) == ENTRANTS
        assert all(pod["status"] == "played" for pod in told["pods"])


def test_replay_verify_and_export_agree(cli: Cli, played: str, tmp_path: Path) -> None:
    match = final(cli, played)["match"]
    moves = cli.json("replay", match)["moves"]
    assert cli.json("verify", match)["entries"] == len(moves)
    whole = cli.json("verify", played)
    file = tmp_path / "friday.majlis"
    exported = cli.json("export", played, "-o", file)
    assert exported["bytes"] == file.stat().st_size
    offline = Cli(tmp_path).json("verify", file, "--public-key", exported["public_key"])
    assert (offline["matches"], offline["entries"]) == (whole["matches"], whole["entries"])
    assert Cli(tmp_path).json("replay", file, "--match", match)["moves"] == moves
    cli("tournament", "export", played, "-o", tmp_path / "again.majlis")
    assert cli.json("verify", tmp_path / "again.majlis")["verified"]


def test_every_seat_of_every_match_is_rated_and_a_rebuild_changes_nothing(cli: Cli, played: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    ladder: list[dict[str, Any]] = []
    while sum(row["matches"] for row in ladder) < MATCHES * POD:
        ladder = cli.json("rating", "top")
        assert time.monotonic() < deadline, "the results are not rated"
        time.sleep(0.2)
    assert cli.json("rating", "rebuild") == {"results": MATCHES}
    again = cli.json("rating", "top")
    assert [(row["player"], row["mu"]) for row in again] == [(row["player"], row["mu"]) for row in ladder]
    (own,) = cli.json("rating", "show", ladder[0]["player"])
    assert own["rating"] == ladder[0]["rating"]


def test_a_table_is_opened_listed_and_watched(cli: Cli) -> None:
    opened = cli.json("table", "open", "sounding", "--seats", "3", "--computers", "2", "--thinking", "0")
    assert opened["seat_token"]
    (listed,) = [row for row in cli.json("table", "list", "--live") if row["match"] == opened["match"]]
    assert listed["waiting_for"] == [opened["seat"]]
    with subprocess.Popen(
        cli.command("table", "watch", opened["match"], "--json"),
        env=cli.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        seen = json.loads(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
    assert seen["view"]["waiting_for"] == [opened["seat"]]
    assert "seat_token" not in json.dumps(seen)


def test_every_shard_has_an_owner(cli: Cli) -> None:
    shards = cli.json("table", "shards")
    assert [shard["shard"] for shard in shards] == [str(number) for number in range(8)]
    assert all(shard["owner"] and not shard["stalled"] for shard in shards)


def test_a_person_enters_withdraws_and_the_director_pauses(cli: Cli) -> None:
    cli("tournament", "create", "Saturday", "--id", "saturday", "--rounds", "1")
    entered = cli.json("tournament", "register", "saturday", "--name", "Ann")
    assert entered["player_token"]
    cli("tournament", "register", "saturday", "--computers", "7")
    cli("tournament", "withdraw", "saturday", entered["entrants"][0], "--reason", "ill")
    cli("tournament", "start", "saturday")
    cli("tournament", "pause", "saturday", "--reason", "fire alarm")
    assert cli.json("tournament", "show", "saturday")["paused"] is True
    cli("tournament", "resume", "saturday", "--reason", "false alarm")
    assert cli.json("tournament", "show", "saturday")["paused"] is False
    cli("tournament", "abort", "saturday", "--reason", "it is late")
    assert {row["tournament"]: row["stage"] for row in cli.json("tournament", "list")}[
        "saturday"
    ] == "aborted"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("tournament", "show", "nope"), "UNKNOWN_TOURNAMENT"),
        (("tournament", "create", "Chess", "--game", "chess"), "UNKNOWN_GAME"),
        (("tournament", "create", "Odd", "--option", "no_such=1"), "BAD_OPTION"),
        (("tournament", "create", "Friday night", "--id", "friday-night"), "TOURNAMENT_EXISTS"),
        (("tournament", "register", "friday-night", "--computers", "1"), "WRONG_STAGE"),
        (("tournament", "start", "friday-night"), "WRONG_STAGE"),
        (("table", "open", "chess"), "UNKNOWN_GAME"),
        (("table", "open", "sounding", "--seats", "32"), "BAD_SEATS"),
        (("table", "watch", "3-abcdefgh"), "UNKNOWN_MATCH"),
        (("replay", "3-abcdefgh"), "UNKNOWN_RECORD"),
    ],
)
def test_a_refusal_ends_with_1_and_its_code(
    cli: Cli, played: str, arguments: tuple[str, ...], code: str
) -> None:
    error = cli.json(*arguments, code=1)["error"]
    assert error["code"] == code
    assert error["detail"]
    assert error["remedy"]
    assert f"[{code}]" in cli(*arguments, code=1).stderr


def test_a_key_of_another_platform_is_refused(cli: Cli, tmp_path: Path) -> None:
    make_keys(tmp_path / "keys")
    stranger = Cli(tmp_path, cli.settings)
    error = stranger.json("tournament", "create", "Mine", code=1)["error"]
    assert error["code"] == "UNAUTHENTICATED"


def test_doctor_finds_everything_in_order(cli: Cli) -> None:
    told = cli.json("doctor")
    assert told["fail"] == 0
    checks = {finding["check"]: finding["level"] for finding in told["findings"]}
    parts = ("platform", "broker", "stream JOURNAL", "table", "lobby", "rating", "computer", "archive")
    assert {name: checks[name] for name in parts} == dict.fromkeys(parts, "ok")
