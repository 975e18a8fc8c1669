"""The computer player: never an illegal move, the same answer to the same request, and the text's tips (THO-37)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.thousand.cards import card_name
from majlis.engine.games.thousand.computer import ThousandComputer
from majlis.engine.games.thousand.computer.reading import read
from majlis.engine.games.thousand.notation import cards_from, position_from
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import TRICK, State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.thousand import (
    ThousandBid,
    ThousandGive,
    ThousandHappening,
    ThousandPass,
    ThousandPlay,
)
from majlis.engine.vocabulary.thousand import ThousandHappeningKind as Kind
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView
from tests.engine.thousand.walks import GAME, Walk, moves, walks

COMPUTER = ThousandComputer()
LEVELS = (ComputerLevel.NOVICE, ComputerLevel.CLUB, ComputerLevel.EXPERT)
KEY = bytes(range(32))


def chosen(
    state: State, seat: int, level: ComputerLevel, history: list[Happening], key: bytes = KEY
) -> tuple[Command, int]:
    public = MatchView(game_view=GAME.view(state, SPECTATOR))
    private = SeatPrivateView(seat=seat, game_view=GAME.view(state, seat))
    return COMPUTER.choose(public, private, history, state.frame.options, level, key)


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=6, deadline=None)
@given(walk=walks(), skipped=st.integers(0, 40))
def test_every_choice_is_legal_and_the_same_for_the_same_request(
    level: ComputerLevel, walk: Walk, skipped: int
) -> None:
    history: list[Happening] = [GAME.happening(event, SPECTATOR) for event in walk.begin()]
    for number, move in enumerate(moves(walk, skipped + 35)):
        if number >= skipped:
            deadline = GAME.deadline(move.before)
            assert deadline is not None
            for seat in deadline.seats:
                command, thinking_ms = chosen(move.before, seat, level, history)
                assert command in GAME.legal(move.before, seat)
                assert 0 < thinking_ms <= 4_000
                if number % 7 == 0:
                    assert chosen(move.before, seat, level, history) == (command, thinking_ms)
        history += [GAME.happening(event, SPECTATOR) for event in move.events]


@pytest.mark.parametrize("level", LEVELS)
def test_a_seat_that_comes_without_the_history_plays_all_the_same(level: ComputerLevel) -> None:
    for move in moves(Walk(Options(), 11), 60):
        if move.before.phase is TRICK:
            command, _ = chosen(move.before, move.seat, level, [])
            assert command in GAME.legal(move.before, move.seat)


@settings(max_examples=20, deadline=None)
@given(walks())
def test_what_the_expert_takes_for_certain_is_so(walk: Walk) -> None:
    """No arrangement it thinks of contradicts the real one: nothing that a hand holds is taken for excluded."""
    history: list[Happening] = [GAME.happening(event, SPECTATOR) for event in walk.begin()]
    for move in moves(walk):
        if walk.options.trumped_suit == "free" and move.before.phase is TRICK:
            view, may = GAME.view(move.before, SPECTATOR), GAME.view(move.before, move.seat)
            knowledge = read(view, may, move.seat, history)
            hands = move.before.hands
            assert knowledge.hand == hands[move.seat]
            others = [hand for seat, hand in enumerate(hands) if seat != move.seat]
            assert knowledge.unseen == others[0] | others[1]
            for seat, hand in enumerate(hands):
                assert not hand & knowledge.excluded[seat]
            assert sum(knowledge.points) >= 0
        history += [GAME.happening(event, SPECTATOR) for event in move.events]


def at(position: Mapping[str, Any]) -> State:
    return position_from(position, Options(), Chance(bytes(32), b"", "tips"))


@pytest.mark.parametrize("level", [ComputerLevel.NOVICE, ComputerLevel.CLUB])
@pytest.mark.parametrize(
    ("hand", "bids"),
    [("9S JS QS 9C JD QH KC", False), ("AS TS AC TC AH TH 9D", True), ("KH QH AH AS 9C JD 9D", True)],
)
def test_tho_37_bids_above_100_only_with_a_marriage_or_several_aces_and_tens(
    level: ComputerLevel, hand: str, bids: bool
) -> None:
    state = at({"phase": "auction", "bids": [100, 0, 0], "turn": 1, "hands": ["", hand, ""], "rest": "dealt"})
    command, _ = chosen(state, 1, level, [])
    assert isinstance(command, ThousandBid if bids else ThousandPass)


@pytest.mark.parametrize("level", LEVELS)
def test_tho_37_gives_cards_without_points_of_short_suits(level: ComputerLevel) -> None:
    hand = "AS TS KS KH QH AH 9C AD TD JD"
    state = at({"phase": "give_left", "declarer": 0, "bid": 100, "hands": [hand, "", ""], "rest": "dealt"})
    command, _ = chosen(state, 0, level, [])
    assert isinstance(command, ThousandGive)
    assert card_name(command.card) in ("9C", "JD")


@pytest.mark.parametrize("level", LEVELS)
def test_tho_37_takes_a_trick_with_an_ace_before_the_marriage(level: ComputerLevel) -> None:
    hands = ["AS 9S KH QH AH TH 9C JC", "", ""]
    state = at({"declarer": 0, "contract": 180, "tricks": 0, "hands": hands, "rest": "dealt"})
    command, _ = chosen(state, 0, level, [])
    assert isinstance(command, ThousandPlay)
    assert card_name(command.card) in ("AS", "AH", "TH")  # with the ace in hand the ten is as good


@pytest.mark.parametrize("level", [ComputerLevel.NOVICE, ComputerLevel.CLUB])
def test_tho_37_adds_points_to_a_trick_of_the_other_defender(level: ComputerLevel) -> None:
    state = at(
        {
            "declarer": 0,
            "contract": 100,
            "tricks": 4,
            "hands": ["9C 9D QD", "9H KC QC", "TD JH 9D JC"],
            "leader": 0,
            "trick": "KS AS",
            "turn": 2,
        }
    )
    history: list[Happening] = [
        ThousandHappening(kind=Kind.PLAYED, seat=seat, card=card)
        for seat, card in enumerate(cards_from("KS AS"))
    ]
    command, _ = chosen(state, 2, level, history)
    assert isinstance(command, ThousandPlay)
    assert card_name(command.card) == "TD"
