"""Records the histories of a game's newest rules version: `python -m tests.histories.record GAME`."""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from majlis.engine import options, registry
from majlis.engine.vocabulary.match import (
    Abort,
    Adjudicate,
    CreditCause,
    CreditClock,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    SubstituteComputer,
)
from tests.support.conformance import SHAPES, Shape
from tests.support.matches import COMPUTER, PERSON, Played, seed

HERE = Path(__file__).parent
SHORTENED = {"numbers": {"rounds": "1"}, "thousand": {"deals_max": "3"}}
"""Options that end a random player's match soon enough for the file to stay small."""
SEATS_MAX = {"numbers": 5}
"""Likewise: more seats make random players' matches too long."""


def matches(game: str) -> Iterator[tuple[str, Played]]:
    """What happens in it, and the match."""
    for number, shape in enumerate(shape for shape in SHAPES if shape.key == game):
        if shape.seats > SEATS_MAX.get(game, shape.seats):
            continue
        it = opened(game, shape, number, computers=True)
        yield f"{shape.seats} computers, options {shape.name}", it.play_out(random.Random(number))
    shape = next(shape for shape in SHAPES if shape.key == game)
    it = opened(game, shape, 100, computers=False)
    yield "absence, return, substitution, pause and clock credit in a tournament", interrupted(it)
    it = opened(game, shape, 101, computers=False)
    it.sit()
    for _ in range(12):
        it.now_ms += 700
        it.play_one()
    it.seat(1, Resign(), decision_id=0)
    yield "a resignation", it if it.state.ended else it.play_out(random.Random(101))
    for name, command in (
        ("adjudicated", Adjudicate(places=tuple(range(1, shape.seats + 1)), reason="the table fell over")),
        ("aborted before the start", Abort(reason="the hall is closed")),
    ):
        it = opened(game, shape, 102, computers=False)
        if isinstance(command, Adjudicate):
            it.sit()
            it.play_one()
        it.director(command)
        yield name, it


def opened(game: str, shape: Shape, number: int, *, computers: bool) -> Played:
    """A match of that shape; persons' matches are of a tournament."""
    chosen = {option.name: option.value for option in options.texts(shape.options)} | SHORTENED.get(game, {})
    return Played.of(
        *[COMPUTER if computers else PERSON] * shape.seats,
        game=game,
        options=chosen,
        server_seed=seed(f"history {number}"),
        match_id=f"0-history{number}",
        tournament_id="" if computers else "cup",
        round=0 if computers else 3,
        pod=0 if computers else number,
    )


def interrupted(it: Played) -> Played:
    """Seat 0 never sits down and comes back later; the director pauses, and replaces seat 1."""
    rng = random.Random(100)
    it.sit(*range(1, len(it.state.seats)))
    it.expire()
    number = 0
    while it.state.ended is None:
        number += 1
        it.now_ms += rng.randrange(3000)
        if number == 5:
            it.seat(0, ReturnToSeat(), decision_id=0)
        elif number == 8:
            it.director(Pause(reason="dinner"))
            it.now_ms += 3_000_000
            it.director(Resume())
        elif number == 14:
            it.platform(CreditClock(from_ms=it.now_ms - 400, to_ms=it.now_ms, cause=CreditCause.TAKEOVER))
        elif number == 30:
            it.lobby(SubstituteComputer(seat=1, reason="withdrawn"))
        elif number % 4 == 1:
            it.expire()
        else:
            it.play_one(lambda _state, seat: rng.choice(it.legal(seat)))
    return it


def line(about: str, it: Played) -> str:
    return json.dumps(
        {
            "about": about,
            "match_id": it.match_id,
            "schema": it.steps[0].entry.schema,
            "position_hash": it.ended.position_hash.hex(),
            "history_hash": it.state.head_hash.hex(),
            "entries": [base64.b64encode(stored).decode() for stored in it.stored],
        }
    )


def main(game: str) -> None:
    path = HERE / f"{game}-{max(registry.game(game).rules_versions)}.jsonl"
    with path.open("x") as file:
        file.writelines(line(about, it) + "\n" for about, it in matches(game))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
