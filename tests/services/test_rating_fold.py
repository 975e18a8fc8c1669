"""The ladders in SQL are the fold of the results, however these come, on both databases."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from majlis.chassis import metrics
from majlis.chassis.feed import Message
from majlis.chassis.projection import Unfoldable
from majlis.chassis.sql import create_schema, open_engine, reading, writing
from majlis.engine.ratings import Ladder, Rated, fold
from majlis.engine.vocabulary.match import Termination
from majlis.engine.vocabulary.result import Result
from majlis.engine.vocabulary.wire import encode_result
from majlis.rating import fold as rating_fold
from majlis.rating.fold import LadderFold
from majlis.rating.tables import SCHEMA, metadata, players, results, skipped
from majlis.v1 import result_pb2
from tests.support.results import result, season, seat


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_engine(database_url)
    await create_schema(engine, "rating", SCHEMA, metadata)
    yield engine
    await engine.dispose()


def message(sequence: int, data: bytes) -> Message:
    return Message(sequence, f"result.sounding.0-match{sequence}.1", data, 0)


def messages(told: Sequence[Result], start: int = 1) -> list[Message]:
    return [message(start + index, encode_result(each)) for index, each in enumerate(told)]


async def apply(engine: AsyncEngine, given: Sequence[Message]) -> None:
    async with writing(engine) as connection:
        await LadderFold().apply(connection, given)


async def rows(engine: AsyncEngine, table: Any) -> list[Any]:
    async with reading(engine) as connection:
        return list((await connection.execute(select(table))).all())


async def ladders(engine: AsyncEngine) -> dict[str, Ladder]:
    found: dict[str, Ladder] = {}
    for row in await rows(engine, players):
        rated = Rated(row.mu, row.sigma, row.matches, row.last_match_ms)
        assert row.rating == rated.rating
        found.setdefault(row.game, {})[row.player_id] = rated
    return found


def swapped(match: Result, revision: int = 2) -> Result:
    first, second, *rest = match.seats
    seats = (replace(first, place=second.place), replace(second, place=first.place), *rest)
    return replace(match, revision=revision, seats=seats)


@pytest.mark.parametrize("size", [1, 7, 256])
async def test_the_ladder_is_the_fold_bit_for_bit_whatever_the_batches(
    engine: AsyncEngine, size: int
) -> None:
    told = season(60)
    given = messages(told)
    for start in range(0, len(given), size):
        await apply(engine, given[start : start + size])
    assert await ladders(engine) == fold(told)


async def test_games_are_rated_apart_in_one_batch(engine: AsyncEngine) -> None:
    other = [replace(each, game="thousand", match_id=f"1-{each.match_id}") for each in season(30, rng_seed=2)]
    told = [*season(30), *other]
    random.Random(1).shuffle(told)
    await apply(engine, messages(told))
    assert await ladders(engine) == fold(told)


async def test_repeated_results_change_nothing(engine: AsyncEngine) -> None:
    told = season(20)
    await apply(engine, messages(told))
    await apply(engine, messages(told, start=21))
    await apply(engine, messages([*told[:3], *told[:3]], start=41))
    assert await ladders(engine) == fold(told)
    assert len(await rows(engine, results)) == 20


async def test_a_correction_later_or_in_the_same_batch_gives_the_ladder_it_would_have_given_at_once(
    engine: AsyncEngine,
) -> None:
    told = season(40)
    told += [swapped(told[5])]
    await apply(engine, messages(told))
    more = [
        swapped(told[11]),
        result(99, seat("player-1", 1), seat("newcomer", 2)),
        swapped(told[5], revision=3),
    ]
    await apply(engine, messages(more, start=len(told) + 1))
    assert await ladders(engine) == fold([*told, *more])
    corrected = next(row for row in await rows(engine, results) if row.match_id == told[5].match_id)
    assert (corrected.sequence, corrected.revision) == (6, 3)


async def test_a_correction_to_aborted_takes_its_players_off_the_ladder(engine: AsyncEngine) -> None:
    first = result(1, seat("a", 1), seat("b", 2))
    aborted = replace(first, revision=2, termination=Termination.ABORTED, seats=(seat("a", 0), seat("b", 0)))
    await apply(engine, messages([first]))
    assert set((await ladders(engine))["sounding"]) == {"a", "b"}
    await apply(engine, messages([aborted], start=2))
    assert await ladders(engine) == {}


async def test_folding_a_game_again_reads_it_in_pages(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rating_fold, "_PAGE", 7)
    told = season(50)
    told += [swapped(told[0])]
    await apply(engine, messages(told[:40]))
    await apply(engine, messages(told[40:], start=41))
    assert await ladders(engine) == fold(told)


def unspecified() -> bytes:
    made = result_pb2.Result.FromString(encode_result(result(1, seat("a", 1), seat("b", 2))))
    made.ClearField("termination")
    return made.SerializeToString()


def of_newer_code() -> bytes:
    made = result_pb2.Result.FromString(encode_result(result(1, seat("a", 1), seat("b", 2))))
    made.termination = 77  # type: ignore[assignment]
    return made.SerializeToString()


NO_RESULTS = {
    "nothing": b"",
    "damaged bytes": b"\xff\xff\xff",
    "an enum that is not set": unspecified(),
    "a place too high": encode_result(result(1, seat("a", 1), seat("b", 9))),
    "no seats": encode_result(result(1)),
}


@pytest.mark.parametrize("what", NO_RESULTS)
async def test_what_is_no_result_is_noted_counted_and_left_out(engine: AsyncEngine, what: str) -> None:
    counted = metrics.RESULTS_SKIPPED._value.get()
    told = season(4)
    given = messages(told)
    await apply(engine, [*given[:2], message(77, NO_RESULTS[what]), *given[2:]])
    assert await ladders(engine) == fold(told)
    assert metrics.RESULTS_SKIPPED._value.get() == counted + 1
    (row,) = await rows(engine, skipped)
    assert row.sequence == 77
    assert row.fault


async def test_what_newer_code_wrote_stops_the_fold(engine: AsyncEngine) -> None:
    with pytest.raises(Unfoldable, match="sequence 77"):
        await apply(engine, [*messages(season(2)), message(77, of_newer_code())])
    assert await ladders(engine) == {}


async def test_forgetting_leaves_nothing(engine: AsyncEngine) -> None:
    await apply(engine, [*messages(season(5)), message(77, b"\xff")])
    async with writing(engine) as connection:
        await LadderFold().forget(connection)
    for table in (players, results, skipped):
        assert await rows(engine, table) == []
