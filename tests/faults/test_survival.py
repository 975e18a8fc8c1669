"""kill -9 of every process of the platform during a tournament costs no accepted move and no result."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import grpc.aio

from majlis.chassis import broker
from majlis.chassis.broker import JOURNAL, RESULTS
from majlis.chassis.feed import open_feed
from majlis.engine.ratings import fold
from majlis.engine.redecide import verify_history
from majlis.engine.vocabulary.result import Result
from majlis.engine.vocabulary.wire import decode_batch, decode_entry, decode_result
from majlis.v1 import rating_pb2
from majlis.v1.rating_pb2_grpc import RatingStub
from tests.support.cli import Cli, platform

VICTIMS = ("table", "computer", "lobby", "rating", "archive", "nats")
ENTRANTS, ROUNDS = 12, 4
PODS = ENTRANTS // 4 * ROUNDS
LONGEST_S = 240.0


def play(cli: Cli, tournament: str) -> None:
    """A tournament of computers that wait for nothing."""
    cli("tournament", "create", "Survival", "--id", tournament, "--rounds", str(ROUNDS), "--thinking", "0")
    cli("tournament", "register", tournament, "--computers", str(ENTRANTS), "--level", "novice")
    cli("tournament", "start", tournament)


def decided(cli: Cli, tournament: str) -> tuple[int, bool]:
    """How many pods are decided, and whether the tournament has ended."""
    told = cli.json("tournament", "show", tournament)
    return int(told["pods_decided"]), told["stage"] == "finished"


def kill_each_in_turn(cli: Cli, tournament: str) -> list[str]:
    """Kills a part after another, each as soon as play has gone on since the last; returns who was killed in play."""
    killed: list[str] = []
    seen, deadline = -1, time.monotonic() + LONGEST_S
    while True:
        assert time.monotonic() < deadline, f"the tournament does not end (killed: {killed})"
        try:
            pods, ended = decided(cli, tournament)
        except AssertionError:  # the lobby is away for a moment
            time.sleep(0.2)
            continue
        if ended:
            return killed
        if pods > seen and len(killed) < len(VICTIMS):
            seen = pods
            os.kill(cli.pid(VICTIMS[len(killed)]), signal.SIGKILL)
            killed.append(VICTIMS[len(killed)])
        time.sleep(0.2)


async def stored(cli: Cli, stream: str) -> list[bytes]:
    """Everything a stream of the log holds."""
    client = await broker.connect(cli.broker_urls("archive"), "archive-test")
    try:
        last = (await client.jetstream().stream_info(stream)).state.last_seq
        feed = await open_feed(client, stream, 0, "survival")
        found: list[bytes] = []
        while len(found) < last:
            found += [message.data for message in await feed.read(1.0)]
        return found
    finally:
        await client.close()


def histories(batches: list[bytes]) -> dict[str, list[bytes]]:
    """The matches in the log; every batch follows its predecessor."""
    found: dict[str, list[bytes]] = {}
    numbers: dict[str, int] = {}
    for data in batches:
        batch = decode_batch(data)
        assert batch.number == numbers.get(batch.shard, 0) + 1
        numbers[batch.shard] = batch.number
        for entry in batch.entries:
            found.setdefault(decode_entry(entry).match_id, []).append(entry)
    return found


async def ladder(cli: Cli) -> dict[str, int]:
    """The ladder as the rating service shows it."""
    address = next(part["grpc"] for part in cli.running()["services"] if part["name"] == "rating")
    async with grpc.aio.insecure_channel(address) as channel:
        asked = rating_pb2.GetLadderRequest(game="sounding", limit=1000)
        told = await RatingStub(channel).GetLadder(asked, wait_for_ready=True, timeout=20)
    return {player.player_id: player.rating for player in told.players}


def until_ladder(cli: Cli, expected: dict[str, int]) -> None:
    """The rating service may have been killed a moment ago: it catches up."""
    deadline = time.monotonic() + 30
    while (shown := asyncio.run(ladder(cli))) != expected:
        assert time.monotonic() < deadline, (shown, expected)
        time.sleep(0.2)


def test_kill_9_of_each_service_in_turn_costs_no_move_and_no_result(tmp_path: Path) -> None:
    with platform(tmp_path / "data") as cli:
        play(cli, "survival")
        killed = kill_each_in_turn(cli, "survival")
        assert killed == list(VICTIMS), "the tournament must be long enough for every part to be killed in it"

        matches = histories(asyncio.run(stored(cli, JOURNAL)))
        assert len(matches) == PODS, "one match for each pod"
        verdicts = {match_id: verify_history(entries) for match_id, entries in matches.items()}
        assert {match_id: verdict.fault for match_id, verdict in verdicts.items() if not verdict.ok} == {}

        results = [decode_result(data) for data in asyncio.run(stored(cli, RESULTS))]
        assert sorted(result.match_id for result in results) == sorted(matches), "each result once"
        assert standings_of(results) == shown_standings(cli)

        verified = cli.json("verify", "survival")
        entries = sum(map(len, matches.values()))
        assert (verified["verified"], verified["matches"], verified["entries"]) == (True, PODS, entries)
        expected = {player: rated.rating for player, rated in fold(results)["sounding"].items()}
        until_ladder(cli, expected)


def standings_of(results: list[Result]) -> dict[str, int]:
    """Half points by player, counted from the results alone: two for each opponent left behind, one for an equal."""
    score: dict[str, int] = {}
    for result in results:
        for seat in result.seats:
            others = [other.place for other in result.seats if other is not seat]
            gained = sum(2 * (seat.place < place) + (seat.place == place) for place in others)
            score[seat.player_id] = score.get(seat.player_id, 0) + gained
    return score


def shown_standings(cli: Cli) -> dict[str, int]:
    told: list[dict[str, Any]] = cli.json("tournament", "standings", "survival")
    return {line["entrant_id"]: line["score"] for line in told}
