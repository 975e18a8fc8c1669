"""Every event of a match can be told, and every view shown, in words."""

from __future__ import annotations

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.numbers.narration import picture, told
from majlis.engine.games.numbers.options import Options
from tests.engine.numbers.walks import GAME, Walk, moves


def test_every_event_is_told_and_every_view_shown() -> None:
    for number in range(6):
        for move in moves(Walk(Options(), number), 100):
            for event in move.events:
                for viewer in (SPECTATOR, 0):
                    happening = GAME.happening(event, viewer)
                    assert happening is None or told(happening)
            view = GAME.view(move.after, SPECTATOR)
            assert picture(view, GAME.view(move.after, 1)).count("seat ") == 3
