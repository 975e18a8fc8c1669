"""Whole matches between computer players: they end, and each level beats the one below in seat-balanced duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import pytest

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.thousand.computer import ThousandComputer
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import State
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView
from tests.engine.thousand.walks import GAME, OBSERVED, Walk

COMPUTER = ThousandComputer()
NOVICE, CLUB, EXPERT = ComputerLevel.NOVICE, ComputerLevel.CLUB, ComputerLevel.EXPERT
SHORT = Options(target=500)


def final(number: int, levels: Sequence[ComputerLevel]) -> State:
    """The end of the match of that number between these levels, by seat; the cards are the same whoever plays."""
    walk = Walk(SHORT, number)
    begun = walk.begin()
    state = begun.state
    history: list[Happening] = [GAME.happening(event, SPECTATOR) for event in begun]
    while (deadline := GAME.deadline(state)) is not None:
        seat = deadline.seats[0]
        public = MatchView(game_view=GAME.view(state, SPECTATOR))
        private = SeatPrivateView(seat=seat, game_view=GAME.view(state, seat))
        key = sha256(f"{number} {seat} {state.decision_id}".encode()).digest()
        command, _ = COMPUTER.choose(public, private, history, SHORT, levels[seat], key)
        assert command in GAME.legal(state, seat)
        events = GAME.decide(state, seat, command, OBSERVED)
        if events.state.frame.deal != state.frame.deal:
            history = []
        history += [GAME.happening(event, SPECTATOR) for event in events]
        state = events.state
    return state


def wins(stronger: ComputerLevel, weaker: ComputerLevel, numbers: range) -> tuple[float, float]:
    """Matches won by each, every number in all six mixed seatings; nine seats for each level."""
    won = {stronger: 0.0, weaker: 0.0}
    for number in numbers:
        for mixed in range(1, 7):
            levels = [stronger if mixed >> seat & 1 else weaker for seat in range(3)]
            outcome = GAME.outcome(final(number, levels))
            assert outcome is not None
            winners = [seat for seat, place in enumerate(outcome.places) if place == 1]
            for seat in winners:
                won[levels[seat]] += 1 / len(winners)
    return won[stronger], won[weaker]


@pytest.mark.parametrize("level", [NOVICE, CLUB, EXPERT])
def test_a_match_between_computers_is_won(level: ComputerLevel) -> None:
    state = final(7, [level] * 3)
    assert max(state.frame.scores) >= 500


def test_a_club_player_beats_a_novice() -> None:
    club, novice = wins(CLUB, NOVICE, range(12))
    assert club > 1.3 * novice


@pytest.mark.slow
def test_an_expert_beats_a_club_player() -> None:
    expert, club = wins(EXPERT, CLUB, range(1))
    assert expert > 2 * club
