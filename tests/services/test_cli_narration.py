"""Replays of every registered game are told in words, for every viewer, from the first entry to the last."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.engine.decider import Rejected
from majlis.engine.evidence import write_archive_file, write_record
from majlis.engine.registry import GAMES
from tests.support.cli import Cli
from tests.support.matches import COMPUTER, Played, seed


@cache
def played(game: str) -> Played:
    """A match of random legal moves, with the fewest seats the game allows."""
    for seats in range(2, 13):
        try:
            match = Played.of(
                *[COMPUTER] * seats, game=game, server_seed=seed("narration"), match_id="0-narrated"
            )
        except Rejected:
            continue
        return match.play_out(random.Random(1))
    raise AssertionError(f"{game} allows no number of seats")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("viewer", [(), ("--spectator",), ("--seat", "0"), ("--seat", "1")])
def test_a_whole_match_is_told(game: str, viewer: tuple[str, ...], tmp_path: Path) -> None:
    match = played(game)
    file = tmp_path / "match.majlis"
    file.write_bytes(write_archive_file([write_record(match.stored, Ed25519PrivateKey.generate())]))
    cli = Cli(tmp_path)
    moves = cli.json("replay", file, *viewer)["moves"]
    assert len(moves) == len(match.stored)
    lines = [line for move in moves for line in move["happened"]]
    assert lines[-1].startswith("the match ends")
    assert not any("None" in line or "<" in line for line in lines), lines
    half = str(len(moves) // 2)
    assert "deal" in cli("replay", file, "--from", half, *viewer).stdout
