"""Who may play, how long they have, and how a match of Thousand begins and ends."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from majlis.engine import options
from majlis.engine.decider import Rejected, Setup
from majlis.engine.games.thousand import AUTO_PLAY_MS
from majlis.engine.games.thousand.notation import position_from
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.scoring import barrel, cap, line, places, read_sheet
from majlis.engine.games.thousand.state import State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.match import Option, Termination
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.thousand import (
    ThousandDealerDrawn,
    ThousandDealScored,
    ThousandDealt,
    ThousandPlay,
)
from tests.engine.thousand.walks import GAME, OBSERVED, Walk

CHANCE = Chance(bytes(32), b"", "setup")


@pytest.mark.parametrize("seats", [1, 2, 4, 12])
def test_tho_o23_other_tables_than_of_three_are_refused(seats: int) -> None:
    with pytest.raises(Rejected) as refused:
        GAME.check_setup(seats, Options())
    assert refused.value.code is RejectionCode.BAD_SEATS


def test_tho_1_three_seats_play() -> None:
    GAME.check_setup(3, Options())


def test_tho_o13_the_first_dealer_is_drawn_and_stands_in_an_event() -> None:
    dealers = set()
    for number in range(30):
        drawn, dealt = Walk(Options(), number).begin()
        assert isinstance(drawn, ThousandDealerDrawn)
        assert isinstance(dealt, ThousandDealt)
        assert dealt.dealer == drawn.dealer
        dealers.add(drawn.dealer)
    assert dealers == {0, 1, 2}


def test_before_the_first_deal_nobody_has_anything_to_do() -> None:
    state = GAME.initial(Setup(3, Options(), CHANCE))
    assert GAME.deadline(state) is None
    assert GAME.deal(state) == 0
    assert GAME.conserved(state)
    assert GAME.outcome(state) is None


LIMITS = {
    "redeal": "redeal_ms",
    "auction": "bid_ms",
    "give_left": "give_ms",
    "give_right": "give_ms",
    "contract": "contract_ms",
    "trick": "play_ms",
}


@pytest.mark.parametrize("phase", LIMITS)
def test_tho_o22_every_kind_of_decision_has_its_time_limit(phase: str) -> None:
    chosen = options.complete(Options(), [Option(name=LIMITS[phase], value="1234")])
    deadline = GAME.deadline(at(phase, chosen))
    assert deadline is not None
    assert deadline.timeout_ms == 1234
    assert deadline.optional == (phase == "redeal")
    default = GAME.deadline(at(phase, Options()))
    assert default is not None
    assert default.timeout_ms == (5_000 if phase == "redeal" else 20_000)


def at(phase: str, chosen: Options, hand: str = "AS TS 9H") -> State:
    position = {"phase": phase, "declarer": 0, "bid": 100, "hands": [hand, "", ""], "gifts": "9C 9D"}
    return position_from(position, chosen, CHANCE)


def test_tho_o24_with_auto_play_a_silent_seat_with_one_legal_card_is_not_waited_for() -> None:
    chosen = Options(auto_play="yes")
    only = GAME.deadline(at("trick", chosen, "AS"))
    assert only is not None
    assert (only.timeout_ms, only.optional) == (AUTO_PLAY_MS, True)
    assert AUTO_PLAY_MS >= 500
    several = GAME.deadline(at("trick", chosen))
    assert several is not None
    assert (several.timeout_ms, several.optional) == (20_000, False)


def test_tho_34_barrel_and_cap_by_the_target() -> None:
    assert (barrel(Options()), cap(Options())) == (800, 990)
    assert (barrel(Options(target=500)), cap(Options(target=500))) == (400, 490)


def test_the_score_sheet_keeps_every_deal() -> None:
    deals = [
        ThousandDealScored(declarer=seat, contract=400 - seat, results=(-400, 120 * seat, 0))
        for seat in range(3)
    ]
    sheet = read_sheet(b"".join(map(line, deals)))
    assert sheet.declarers == (0, 1, 2)
    assert sheet.contracts == (400, 399, 398)
    assert sheet.results == (-400, 0, 0, -400, 120, 0, -400, 240, 0)


def test_tho_35_the_winner_is_recorded_with_his_points() -> None:
    position = {
        "hands": ["AS", "9S", "JS"],
        "tricks": 7,
        "declarer": 0,
        "contract": 120,
        "scores": [900, 0, 0],
        "rest": 0,
    }
    state = position_from(position, Options(), CHANCE)
    for seat, card in ((0, 5), (1, 0), (2, 1)):
        state = GAME.decide(state, seat, ThousandPlay(card=card), OBSERVED).state
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.termination is Termination.PLAYED_OUT
    assert outcome.totals == (1020, 0, 0)
    assert outcome.places == places(outcome.totals) == (1, 2, 2)
    assert GAME.deadline(state) is None


def test_the_position_text_names_everything_that_play_depends_on() -> None:
    state = Walk(Options(), 3).begin().state
    text = GAME.position(state)
    assert text == GAME.position(replace(state, frame=replace(state.frame, chance=CHANCE)))
    changed = replace(state, hands=(state.hands[1], state.hands[0], state.hands[2]))
    assert GAME.position(changed) != text
