"""Seats and options of a match, before anything is dealt, and what its limits do."""

from __future__ import annotations

import msgspec
import pytest

from majlis.engine.decider import Rejected, Setup
from majlis.engine.games.sounding.options import Options
from majlis.engine.games.sounding.state import DECK, State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.sounding import SoundingChooseInitial, SoundingDraw
from tests.engine.sounding.walks import GAME, OBSERVED

CHANCE = Chance(bytes(32), b"", "setup")


def begun(seats: int, options: Options) -> State:
    return GAME.start(GAME.initial(Setup(seats, options, CHANCE))).state


def acted(state: State, *commands: tuple[int, Command]) -> State:
    for seat, command in commands:
        state = GAME.decide(state, seat, command, OBSERVED).state
    return state


@pytest.mark.parametrize(("seats", "max_seats"), [(0, 8), (1, 8), (9, 8), (13, 12), (3, 2)])
def test_snd_o1_other_numbers_of_seats_are_refused(seats: int, max_seats: int) -> None:
    with pytest.raises(Rejected) as refusal:
        GAME.check_setup(seats, Options(max_seats=max_seats))
    assert refusal.value.code is RejectionCode.BAD_SEATS


@pytest.mark.parametrize(("seats", "max_seats"), [(2, 8), (8, 8), (12, 12), (2, 2)])
def test_snd_o1_up_to_max_seats_can_play(seats: int, max_seats: int) -> None:
    options = Options(max_seats=max_seats)
    GAME.check_setup(seats, options)
    assert len(begun(seats, options).stock) == len(DECK) - 12 * seats - 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_seats", "1"),
        ("max_seats", "13"),
        ("stall_limit", "-1"),
        ("stall_limit", "251"),
        ("turn_ms", "99"),
        ("turn_ms", "300001"),
        ("reveal", "sometimes"),
        ("reveal", ""),
        ("no_such_option", "1"),
    ],
)
def test_a_value_that_an_option_does_not_have_is_an_error(name: str, value: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({name: value}, Options, strict=False)


def test_options_are_read_from_text() -> None:
    texts = {name: str(value) for name, value in msgspec.to_builtins(Options(stall_limit=40)).items()}
    assert msgspec.convert(texts, Options, strict=False) == Options(stall_limit=40)


def test_snd_o14_each_kind_of_decision_has_its_own_limit() -> None:
    options = Options(initial_flips_ms=1000, turn_ms=2000, drawn_ms=3000, undo_take="once")
    state = begun(2, options)
    choice = SoundingChooseInitial(first=0, second=1)
    turn = acted(state, (0, choice), (1, choice))
    assert turn.turn is not None
    drawn = acted(turn, (turn.turn, SoundingDraw()))
    limits = {}
    for each in (state, turn, drawn):
        deadline = GAME.deadline(each)
        assert deadline is not None
        limits[deadline.what_for] = deadline.timeout_ms
    assert limits == {"initial_flips": 1000, "turn": 2000, "drawn": 3000}


def test_before_the_first_deal_nobody_is_waited_for() -> None:
    state = GAME.initial(Setup(2, Options(), CHANCE))
    assert GAME.deadline(state) is None
    assert GAME.deal(state) == 0
    assert not list(GAME.legal(state, 0))
    assert GAME.outcome(state) is None
    with pytest.raises(Rejected) as refusal:
        GAME.decide(state, 0, SoundingDraw(), OBSERVED)
    assert refusal.value.code is RejectionCode.NOT_YOUR_TURN


def test_a_state_survives_a_checkpoint() -> None:
    state = begun(3, Options(stall_limit=40))
    stored = msgspec.msgpack.encode(state)
    assert msgspec.msgpack.decode(stored, type=GAME.state_type) == state
