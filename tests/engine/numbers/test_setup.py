"""Who may play, how long they have, and how a match of Numbers begins and ends."""

from __future__ import annotations

import pytest

from majlis.engine import options
from majlis.engine.decider import Rejected, Setup
from majlis.engine.games.numbers.notation import position_from
from majlis.engine.games.numbers.options import Options
from majlis.engine.games.numbers.scoring import bonus
from majlis.engine.games.numbers.state import State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.match import Option, Termination
from majlis.engine.vocabulary.numbers import NumbersDealerDrawn, NumbersDealt, NumbersPlay
from majlis.engine.vocabulary.rejection import RejectionCode
from tests.engine.numbers.walks import GAME, OBSERVED, Walk

CHANCE = Chance(bytes(32), b"", "setup")


@pytest.mark.parametrize(
    ("seats", "chosen"),
    [
        (1, Options()),
        (13, Options()),
        (12, Options(level="expert")),
        (5, Options(teams=2)),
        (2, Options(teams=2)),
        (8, Options(teams=3)),
    ],
)
def test_num_5_and_o7_tables_that_cannot_play_are_refused(seats: int, chosen: Options) -> None:
    with pytest.raises(Rejected) as refused:
        GAME.check_setup(seats, chosen)
    assert refused.value.code is RejectionCode.BAD_SEATS


@pytest.mark.parametrize(
    ("seats", "chosen"),
    [
        (2, Options()),
        (12, Options()),
        (12, Options(level="intermediate")),
        (11, Options(level="expert")),
        (12, Options(level="expert", full_table="fewer_cards")),
        (4, Options(teams=2)),
        (12, Options(teams=6)),
    ],
)
def test_num_5_tables_of_two_to_twelve_play(seats: int, chosen: Options) -> None:
    GAME.check_setup(seats, chosen)


def test_num_o20_the_first_dealer_is_drawn_and_the_player_on_his_left_starts() -> None:
    dealers = set()
    for number in range(40):
        drawn, dealt, *_ = Walk(Options(), number).begin()
        assert isinstance(drawn, NumbersDealerDrawn)
        assert isinstance(dealt, NumbersDealt)
        assert dealt.dealer == drawn.dealer
        assert dealt.players[0] == (drawn.dealer + 1) % 3
        dealers.add(drawn.dealer)
    assert dealers == {0, 1, 2}


def test_num_48_the_bonus_by_the_number_of_cards() -> None:
    assert [bonus(cards) for cards in range(2, 9)] == [0, 0, 7, 14, 21, 28, 35]


def at(phase: str, chosen: Options) -> State:
    position = {"hands": ["5s 2s", "3s"], "ground": "5s", "phase": phase, "thrown": "9s 4s 2s"}
    return position_from(position, chosen, CHANCE)


@pytest.mark.parametrize(
    ("phase", "name", "default"),
    [
        ("turn", "turn_ms", 60_000),
        ("drew", "turn_ms", 60_000),
        ("played", "turn_ms", 60_000),
        ("again", "turn_ms", 60_000),
        ("correction", "correction_ms", 30_000),
    ],
)
def test_num_o27_every_kind_of_decision_has_its_time_limit(phase: str, name: str, default: int) -> None:
    chosen = options.complete(Options(), [Option(name=name, value="1234")])
    for given, expected in ((chosen, 1234), (Options(), default)):
        deadline = GAME.deadline(at(phase, given))
        assert deadline is not None
        assert (deadline.timeout_ms, deadline.optional) == (expected, False)


def test_before_the_first_deal_nobody_has_anything_to_do() -> None:
    state = GAME.initial(Setup(3, Options(), CHANCE))
    assert GAME.deadline(state) is None
    assert GAME.deal(state) == 0
    assert GAME.conserved(state)
    assert GAME.outcome(state) is None


def test_num_43_and_49_members_of_a_team_share_its_total_and_its_place() -> None:
    position = {"hands": ["", "5s", "2s 3s 4s", "2s"], "out": [0], "turn": 1, "ground": "5s"}
    state = position_from(position, Options(rounds=1, teams=2), CHANCE)
    outcome = GAME.outcome(GAME.decide(state, 1, NumbersPlay(card=4), OBSERVED).state)
    assert outcome is not None
    assert outcome.termination is Termination.PLAYED_OUT
    assert outcome.totals == (72, 72, 44, 44)
    assert outcome.places == (1, 1, 3, 3)
