"""The computer player: never an illegal or a punished play, and the same answer to the same request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.numbers.cards import CARD_OF
from majlis.engine.games.numbers.computer import NumbersComputer
from majlis.engine.games.numbers.notation import position_from
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.state import CORRECTION, State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersCalculate,
    NumbersCorrected,
    NumbersDraw,
    NumbersFaulted,
)
from majlis.engine.vocabulary.view import MatchView, SeatPrivateView
from tests.engine.numbers.walks import GAME, OBSERVED, Walk, moves, walks

COMPUTER = NumbersComputer()
LEVELS = (ComputerLevel.NOVICE, ComputerLevel.CLUB, ComputerLevel.EXPERT)


def chosen(state: State, level: ComputerLevel) -> tuple[Command, int]:
    seat = state.turn
    public = MatchView(game_view=GAME.view(state, SPECTATOR))
    private = SeatPrivateView(seat=seat, game_view=GAME.view(state, seat))
    return COMPUTER.choose(public, private, [], state.frame.options, level, b"key")


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=12, deadline=None)
@given(walk=walks())
def test_every_choice_is_legal_without_fault_and_the_same_for_the_same_request(
    level: ComputerLevel, walk: Walk
) -> None:
    for move in moves(walk, 60):
        command, thinking_ms = chosen(move.before, level)
        assert command in list(GAME.legal(move.before, move.before.turn))
        assert chosen(move.before, level) == (command, thinking_ms)
        assert 0 < thinking_ms <= 4_000
        events = GAME.decide(move.before, move.before.turn, command, OBSERVED)
        assert not any(isinstance(event, NumbersFaulted) for event in events)
        if move.before.phase is CORRECTION:
            assert any(isinstance(event, NumbersCorrected) for event in events)


def at(ground: str, hand: str, phase: str = "turn") -> State:
    position = {"hands": [hand, "1s 2s"], "ground": ground, "phase": phase}
    return position_from(position, Options(), Chance(bytes(32), b"", "tips"))


def test_the_expert_finds_a_masterstroke_beside_a_card_that_fits() -> None:
    command, _ = chosen(at("3s", "10bear 1dra 1tur 9duck 3s 8s"), ComputerLevel.EXPERT)
    assert isinstance(command, NumbersCalculate)
    assert len(command.cards) == 4


def test_the_expert_plays_again_where_the_rest_can_be_calculated() -> None:
    command, _ = chosen(at("3hip", "JR 10s 6s 1s", "played"), ComputerLevel.EXPERT)
    assert command == NumbersAgain()


@pytest.mark.parametrize("level", LEVELS)
def test_who_has_nothing_to_play_draws(level: ComputerLevel) -> None:
    assert CARD_OF["9s"] == 8
    command, _ = chosen(at("3s", "9s 8s"), level)
    assert command == NumbersDraw()
