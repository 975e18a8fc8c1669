"""The computer player: always legal, always the same answer, ends its matches, and each level beats the one below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.sounding.computer import PATIENCE, SoundingComputer, turns_since_reveal
from majlis.engine.games.sounding.notation import position_from
from majlis.engine.games.sounding.options import Options
from majlis.engine.games.sounding.state import State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.sounding import (
    SoundingDraw,
    SoundingFlip,
    SoundingHappening,
    SoundingHappeningKind,
    SoundingPlace,
    SoundingTakeDiscard,
    SoundingThrowAndFlip,
)
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView
from tests.engine.sounding.walks import GAME, OBSERVED, Walk, walks

COMPUTER = SoundingComputer()
NOVICE, CLUB, EXPERT = ComputerLevel.NOVICE, ComputerLevel.CLUB, ComputerLevel.EXPERT
LEVELS = [NOVICE, CLUB, EXPERT]
KEY = bytes(32)


def asked(
    state: State, seat: int, level: ComputerLevel, key: bytes = KEY, history: Sequence[Happening] = ()
) -> tuple[Command, int]:
    public = MatchView(game_view=GAME.view(state, SPECTATOR))
    private = SeatPrivateView(seat=seat, game_view=GAME.view(state, seat))
    return COMPUTER.choose(public, private, history, state.frame.options, level, key)


def computer_moves(walk: Walk, levels: Sequence[ComputerLevel]) -> Iterator[tuple[State, int, Command]]:
    """A match between computer players: each position, the seat that moves, its command; and the end."""
    state = walk.begin().state
    history: list[Happening] = []
    while (deadline := GAME.deadline(state)) is not None:
        seat = deadline.seats[0]
        key = f"{walk.number} {seat} {state.decision_id}".encode()
        command, _ = asked(state, seat, levels[seat % len(levels)], key, history)
        yield state, seat, command
        events = GAME.decide(state, seat, command, OBSERVED)
        if events.state.frame.deal != state.frame.deal:
            history = []
        history += [GAME.happening(event, SPECTATOR) for event in events]
        state = events.state
    yield state, -1, SoundingDraw()


def final_totals(walk: Walk, levels: Sequence[ComputerLevel]) -> tuple[int, ...]:
    *_, (state, _, _) = computer_moves(walk, levels)
    outcome = GAME.outcome(state)
    assert outcome is not None
    return outcome.totals


@settings(max_examples=15, deadline=None)
@given(walks(), st.permutations(LEVELS))
def test_every_move_is_legal_and_every_match_ends(walk: Walk, levels: list[ComputerLevel]) -> None:
    for number, (state, seat, command) in enumerate(computer_moves(walk, levels)):
        assert number < 10_000
        if seat >= 0:
            assert command in GAME.legal(state, seat)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seats", [2, 4, 8])
def test_the_stall_limit_of_tournaments_is_never_reached(level: ComputerLevel, seats: int) -> None:
    for state, _, _ in computer_moves(Walk(seats, Options(stall_limit=40), seats), [level]):
        assert max(state.idle, default=0) <= PATIENCE + 1


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(LEVELS), st.binary(min_size=32, max_size=32), st.integers(0, 60))
def test_the_same_request_gives_the_same_answer(level: ComputerLevel, key: bytes, steps: int) -> None:
    for number, (state, seat, _) in enumerate(computer_moves(Walk(3, Options(), 1), [NOVICE])):
        if number == steps and seat >= 0:
            first, thinking_ms = asked(state, seat, level, key)
            assert (first, thinking_ms) == asked(state, seat, level, key)
            assert 1000 <= thinking_ms <= 4000
            return


def position(grids: list[str], *, stock: str = "", discard: str = "", **more: object) -> State:
    chance = Chance(bytes(32), b"", "computer")
    return position_from({"grids": grids, "stock": stock, "discard": discard, **more}, Options(), chance)


@pytest.mark.parametrize("level", LEVELS)
def test_a_column_of_high_cards_is_completed(level: ComputerLevel) -> None:
    state = position(["12 ? ? ? / 12 ? ? ? / ? ? ? ?", "hidden"], discard="12")
    assert asked(state, 0, level)[0] == SoundingTakeDiscard(cell=8)
    state = position(["12 ? ? ? / 12 ? ? ? / ? ? ? ?", "hidden"], discard="11", in_hand=12, phase="drawn")
    assert asked(state, 0, level)[0] == SoundingPlace(cell=8)


@pytest.mark.parametrize("level", LEVELS)
def test_a_column_of_negative_cards_is_not_completed_by_choice(level: ComputerLevel) -> None:
    state = position(["-2 ? 9 ? / -2 ? ? ? / ? ? ? ?", "hidden"], discard="-2")
    assert asked(state, 0, level)[0] == SoundingTakeDiscard(cell=2)


@pytest.mark.parametrize("level", LEVELS)
def test_a_high_card_is_thrown(level: ComputerLevel) -> None:
    state = position(["3 2 ? ? / 1 ? ? ? / ? ? ? ?", "hidden"], discard="9", in_hand=12, phase="drawn")
    assert isinstance(asked(state, 0, level)[0], SoundingThrowAndFlip)


@pytest.mark.parametrize("level", [CLUB, EXPERT])
def test_a_bad_grid_is_not_closed(level: ComputerLevel) -> None:
    """Closing with 40 points against somebody who shows 2 would be doubled."""
    state = position(
        ["9 8 3 4 / 1 2 3 4 / 1 2 3 ?", "0 0 1 - / -1 0 1 - / 0 ? 1 -"], discard="0", in_hand=6, phase="drawn"
    )
    assert isinstance(asked(state, 0, level)[0], SoundingPlace)


@pytest.mark.parametrize("level", [CLUB, EXPERT])
def test_a_good_grid_is_closed(level: ComputerLevel) -> None:
    state = position(
        ["0 - - 1 / 1 - - 0 / -1 - - ?", "? ? ? ? / ? 9 ? ? / ? ? 8 ?"],
        discard="9",
        in_hand=-2,
        phase="drawn",
    )
    assert asked(state, 0, level)[0] in (SoundingPlace(cell=11), SoundingThrowAndFlip(cell=11))


def told(kind: SoundingHappeningKind, seat: int, cell: int) -> SoundingHappening:
    return SoundingHappening(kind=kind, seat=seat, cell=cell)


@pytest.mark.parametrize("level", LEVELS)
def test_after_long_swapping_a_card_is_turned_over(level: ComputerLevel) -> None:
    kind = SoundingHappeningKind
    history = [SoundingHappening(kind=kind.DEALT), told(kind.FLIPPED, 0, 0), told(kind.FLIPPED, 1, 0)]
    history += [told(kind.PLACED, seat, 0) for _ in range(PATIENCE) for seat in (0, 1)]
    assert turns_since_reveal(history) == 2 * PATIENCE
    state = position(["9 ? ? ? / ? ? ? ? / ? ? ? ?", "9 ? ? ? / ? ? ? ? / ? ? ? ?"], discard="-2")
    assert isinstance(asked(state, 0, level, history=history)[0], SoundingFlip)
    assert isinstance(asked(state, 0, level, history=history[:-1])[0], SoundingTakeDiscard)


def test_a_placement_on_a_hidden_card_is_a_reveal() -> None:
    kind = SoundingHappeningKind
    swaps = [told(kind.FLIPPED, 0, 0), told(kind.PLACED, 0, 0), told(kind.PLACED, 0, 0)]
    assert turns_since_reveal(swaps) == 2
    assert turns_since_reveal([*swaps, told(kind.PLACED, 0, 5)]) == 0


@pytest.mark.parametrize(("better", "worse"), [(EXPERT, NOVICE), (CLUB, NOVICE)])
def test_a_higher_level_scores_less(better: ComputerLevel, worse: ComputerLevel) -> None:
    """Twelve deck orders, each played twice with the seats exchanged; the bench measures it with many more."""
    ours = theirs = 0
    for number in range(12):
        first = final_totals(Walk(2, Options(), number), [better, worse])
        second = final_totals(Walk(2, Options(), number), [worse, better])
        ours += first[0] + second[1]
        theirs += first[1] + second[0]
    assert ours < theirs
