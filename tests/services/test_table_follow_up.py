"""What follows a stored move: it is shown, and computers are told what happened; whatever goes wrong elsewhere."""

from __future__ import annotations

import random
from typing import Any

import pytest

from majlis.engine.decider import Rejected
from majlis.table import views
from majlis.table.host import Change
from tests.support.table import MATCH, rig


class Seen:
    """A watcher that counts."""

    def __init__(self) -> None:
        self.seat = 0
        self.shown = 0

    def show(self, shown: Any) -> None:
        self.shown += 1

    def lost(self, moved: Rejected) -> None:
        raise AssertionError("the shard was not lost")


async def test_a_match_that_cannot_be_shown_keeps_no_other_from_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.open(match_id="0-broken")
        good, bad = Seen(), Seen()
        table.live.watchers.append(good)
        table.shard_host.matches["0-broken"].watchers.append(bad)
        real = views.show

        def show(live: Any, *args: Any) -> views.Shown:
            if live.id != MATCH:
                raise ValueError("this match cannot be shown")
            return real(live, *args)

        monkeypatch.setattr(views, "show", show)
        broken = table.shard_host.matches["0-broken"]
        for live in (broken, table.live):  # as one batch that moved both would
            table.host._changes[live] = Change([], [], 0.0)
        table.host._flush()
        assert (good.shown, bad.shown) == (1, 0)


@pytest.mark.parametrize("saved_after", [0, 25, 60])
async def test_computers_are_told_the_same_after_a_take_over(saved_after: int) -> None:
    rng = random.Random(4)
    async with rig() as table:
        await table.open()
        await table.seat_everybody()
        await table.play(saved_after, rng)
        if saved_after:
            await table.shard_host.checkpoint()
        await table.play(60 - saved_after, rng)
        following = await table.take_over()
        assert table.live.history
        assert (following.live.deal, following.live.history) == (table.live.deal, table.live.history)
        await following.stop()
