"""Thousand within a match: offers, deadlines and what a decision of the clock does (THO-O12, THO-O22, RULES §6.2)."""

from __future__ import annotations

from majlis.engine.vocabulary.match import DecisionMissed, DecisionOpened, SeatTakenOver
from majlis.engine.vocabulary.thousand import (
    ThousandBidMade,
    ThousandDeclineRedeal,
    ThousandPassed,
    ThousandRedealDeclined,
)
from tests.support.matches import PERSON, Played, seed


def begun(**options: str) -> Played:
    it = Played.of(PERSON, PERSON, PERSON, game="thousand", server_seed=seed("offers"), options=options)
    it.sit()
    return it


def what_for(it: Played) -> str:
    return it.state.decision.what_for if it.state.decision is not None else ""


def test_tho_o12_to_let_the_redeal_phase_pass_is_no_missed_decision() -> None:
    it = begun(redeal_ms="5000")
    for _ in range(4):
        assert what_for(it) == "redeal"
        assert it.due_ms - it.now_ms <= 5_000
        it.expire()
        assert sum(isinstance(event, ThousandRedealDeclined) for event in it.events) == 3
        assert not any(isinstance(event, DecisionMissed | SeatTakenOver) for event in it.events)
        assert any(isinstance(event, ThousandBidMade) for event in it.events)
        deal = it.state.game_state.frame.deal
        while it.state.game_state.frame.deal == deal:
            it.play_one()
    assert [seat.missed for seat in it.state.seats] == [0, 0, 0]


def test_tho_o12_the_phase_ends_as_soon_as_all_have_answered() -> None:
    it = begun()
    for seat in (2, 0, 1):
        assert what_for(it) == "redeal"
        it.seat(seat, ThousandDeclineRedeal())
    assert what_for(it) == "bid"


def test_tho_o22_a_silent_bidder_passes_and_has_missed_a_decision() -> None:
    it = begun()
    it.expire()
    (seat,) = it.waiting_for
    it.expire()
    assert ThousandPassed(seat=seat) in it.events
    assert DecisionMissed(seat=seat) in it.events
    assert it.state.seats[seat].missed == 1


def test_tho_7_the_compulsory_bid_takes_nobodys_time() -> None:
    it = begun()
    it.expire()
    opened = [event for event in it.events if isinstance(event, DecisionOpened)]
    bids = [event for event in it.events if isinstance(event, ThousandBidMade)]
    assert [(bid.amount, bid.seat) for bid in bids] == [(100, (it.state.game_state.frame.dealer + 1) % 3)]
    assert [event.what_for for event in opened] == ["bid"]
