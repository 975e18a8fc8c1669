"""What holds in every position of every match of Thousand, whatever its options."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import Rejected, Setup
from majlis.engine.games.thousand.cards import CARDS, NINES, marriage_points, set_of, set_points
from majlis.engine.games.thousand.legal import best_of
from majlis.engine.games.thousand.scoring import read_sheet, rounded
from majlis.engine.games.thousand.state import OVER, REDEAL, SEATS, TRICK, State
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import Resign, SeatResigned
from majlis.engine.vocabulary.thousand import (
    ThousandBid,
    ThousandCardPlayed,
    ThousandContract,
    ThousandDealScored,
    ThousandDeclineRedeal,
    ThousandGive,
    ThousandMarriageDeclared,
    ThousandPass,
    ThousandPassed,
    ThousandPlay,
    ThousandRequestRedeal,
    ThousandTrickTaken,
)
from tests.engine.thousand.walks import DEFAULTS, GAME, OBSERVED, Walk, moves, played, walks

FEW = settings(max_examples=25, deadline=None)

AMOUNTS = (0, 99, *range(100, 402), 4_000_000_000)
EVERY_COMMAND: list[Command] = [
    ThousandRequestRedeal(),
    ThousandDeclineRedeal(),
    ThousandPass(),
    *[kind(amount=amount) for kind in (ThousandBid, ThousandContract) for amount in AMOUNTS],
    *[kind(card=card) for kind in (ThousandGive, ThousandPlay) for card in (*range(CARDS + 1), 2**32 - 1)],
    *[ThousandPlay(card=card, undeclared=True) for card in range(CARDS + 1)],
    Resign(),
]


@FEW
@given(walks())
def test_tho_2_the_24_cards_are_conserved_by_every_event(walk: Walk) -> None:
    assert GAME.conserved(walk.begin().state)
    for move in moves(walk):
        state = move.before
        for event in move.events:
            state = GAME.evolve(state, event)
            assert GAME.conserved(state)


@FEW
@given(walks())
def test_events_alone_rebuild_the_match_without_its_chance(walk: Walk) -> None:
    """RULES §5.1: every draw stands in an event and is never drawn again."""
    state = GAME.initial(Setup(SEATS, walk.options, Chance(bytes(32), b"other", "other")))
    for event in walk.begin():
        state = GAME.evolve(state, event)
    for move in moves(walk):
        for event in move.events:
            state = GAME.evolve(state, event)
        assert GAME.position(state) == GAME.position(move.after)
        assert state.decision_id == move.after.decision_id


@FEW
@given(walks())
def test_decisions_have_rising_numbers_and_wait_for_somebody(walk: Walk) -> None:
    assert walk.begin().state.decision_id == 1
    for move in moves(walk):
        before, after = GAME.deadline(move.before), GAME.deadline(move.after)
        assert before is not None
        if after is None:
            assert move.after.phase is OVER
            return
        assert after.seats
        if set(after.seats) < set(before.seats) and after.decision_id == before.decision_id:
            assert move.after.phase is REDEAL  # the others are still waited for
        else:
            passed_over = sum(
                isinstance(event, ThousandPassed) and event.seat != move.seat for event in move.events
            )
            assert before.decision_id < after.decision_id <= before.decision_id + 1 + passed_over


@settings(max_examples=15, deadline=None)
@given(walks(), st.integers(0, 60))
def test_legal_commands_are_accepted_and_all_others_refused_without_change(walk: Walk, steps: int) -> None:
    state = played(walk, steps)
    before = GAME.position(state)
    for seat in range(SEATS):
        legal = list(GAME.legal(state, seat))
        deadline = GAME.deadline(state)
        assert bool(legal) == (deadline is not None and seat in deadline.seats)
        for command in EVERY_COMMAND:
            assert is_accepted(state, seat, command) == (command in legal), (seat, command)
        assert len(set(legal)) == len(legal)
        assert set(legal) <= set(EVERY_COMMAND)
    assert GAME.position(state) == before


def is_accepted(state: State, seat: int, command: Command) -> bool:
    try:
        emitted = GAME.decide(state, seat, command, OBSERVED)
    except Rejected as refusal:
        return not (refusal.detail and refusal.remedy)
    return bool(emitted)


@FEW
@given(walks())
def test_tho_o22_the_fallback_is_always_legal(walk: Walk) -> None:
    for move in moves(walk):
        deadline = GAME.deadline(move.before)
        assert deadline is not None
        for seat in deadline.seats:
            assert GAME.fallback(move.before, seat) in GAME.legal(move.before, seat)


@FEW
@given(walks())
def test_tho_11_every_auction_has_a_declarer_whose_bid_stands(walk: Walk) -> None:
    for move in moves(walk):
        frame = move.after.frame
        if frame.declarer is not None:
            assert frame.bid == frame.bids[frame.declarer] == max(frame.bids) >= 100
            assert frame.passed.bit_count() == SEATS - 1
            assert not frame.passed >> frame.declarer & 1
            assert move.after.phase is not TRICK or frame.contract >= frame.bid


@FEW
@given(walks(DEFAULTS))
def test_tho_10_nobody_bids_beyond_120_and_his_marriages(walk: Walk) -> None:
    for move in moves(walk):
        if isinstance(move.command, ThousandBid):
            assert move.command.amount <= 120 + marriage_points(move.before.hands[move.seat])


@FEW
@given(walks())
def test_tho_3_eight_tricks_go_to_the_strongest_card_and_its_player_leads_next(walk: Walk) -> None:
    tricks = 0
    for move in moves(walk):
        state = move.before
        for event in move.events:
            if isinstance(event, ThousandTrickTaken):
                tricks += 1
                best = best_of(state.trick, state.trump)
                assert event.seat == (state.leader + state.trick.index(best)) % SEATS
            if isinstance(event, ThousandDealScored):
                assert tricks == 8
                tricks = 0
            state = GAME.evolve(state, event)
        if state.phase is TRICK and not state.trick and state.tricks:
            assert state.turn == state.leader


@FEW
@given(walks())
def test_tho_24_and_25_only_a_lead_after_the_first_trick_declares(walk: Walk) -> None:
    for move in moves(walk):
        declared = [event for event in move.events if isinstance(event, ThousandMarriageDeclared)]
        if not declared:
            continue
        (event,) = declared
        assert move.before.tricks > 0
        assert not move.before.trick
        pair = set_of([event.suit * 6 + 2, event.suit * 6 + 3])
        assert move.before.hands[move.seat] & pair == pair
        assert move.after.trump == event.suit


@FEW
@given(walks())
def test_tho_30_and_36_scores_change_only_when_a_deal_is_scored(walk: Walk) -> None:
    for move in moves(walk):
        scored = [event for event in move.events if isinstance(event, ThousandDealScored)]
        assert len(scored) <= 1
        assert (move.after.frame.scores != move.before.frame.scores) <= bool(scored)
        if scored:
            (deal,) = scored
            assert sum(deal.card_points) == 120
            sheet = read_sheet(move.after.frame.sheet)
            assert deal.deal == move.before.frame.deal == len(sheet.declarers)
            assert sheet.results[-3:] == deal.results
            assert abs(deal.results[deal.declarer]) in (
                deal.contract,
                deal.contract + 120,
                deal.contract - 120,
            )
            assert deal.made == (
                deal.card_points[deal.declarer] + deal.marriage_points[deal.declarer] >= deal.contract
            )
            target = walk.options.target
            assert (max(deal.scores) >= target) == (move.after.phase is OVER)
            assert move.after.phase is OVER or move.after.frame.dealer == (move.before.frame.dealer + 1) % 3


@FEW
@given(walks(DEFAULTS))
def test_tho_36_scores_stay_multiples_of_ten(walk: Walk) -> None:
    for move in moves(walk):
        assert all(score % 10 == 0 for score in move.after.frame.scores)


@FEW
@given(walks())
def test_tho_13_all_have_eight_cards_when_play_begins(walk: Walk) -> None:
    for move in moves(walk):
        if move.after.phase is TRICK:
            held = [hand.bit_count() for hand in move.after.hands]
            played_cards = 3 * move.after.tricks + len(move.after.trick)
            assert sum(held) == 24 - played_cards
            assert max(held) - min(held) <= 1
            assert held[move.before.turn or 0] <= 8


def test_tho_30_rounding_sends_a_five_down() -> None:
    assert [rounded(points) for points in (0, 4, 5, 6, 14, 15, 16, 25, 35, 45, 124)] == [
        *(0, 0, 0, 10, 10, 10, 20, 20, 30, 40, 120)
    ]


def test_tho_6_no_deal_entitles_two_seats() -> None:
    """The 14 lowest cards are worth 28 points; beside four nines no hand has less than 17."""
    lowest = sorted(range(CARDS), key=lambda card: (card % 6, card))
    assert set_points(set_of(lowest[:14])) == 28
    assert set_points(set_of(lowest[4:11])) == 17


def test_events_of_other_kinds_leave_the_state_as_it_is() -> None:
    state = played(Walk(GAME.rules_versions[1], 7), 20)
    assert GAME.evolve(state, SeatResigned(seat=1)) is state


def test_a_card_event_of_another_seat_order_folds_without_raising() -> None:
    """Old logs always load: `evolve` checks nothing."""
    state = played(Walk(GAME.rules_versions[1], 7), 2)
    assert GAME.evolve(state, ThousandCardPlayed(seat=1, card=3)).trick == bytes([3])


def test_tho_o11_over_all_hands_the_words_without_a_marriage_change_nothing() -> None:
    """RULES THO-O11: a hand under 10 points that holds a marriage always has four nines."""
    poor = [
        hand
        for hand in map(set_of, combinations(range(CARDS), 7))
        if set_points(hand) < 10 and marriage_points(hand)
    ]
    assert poor
    assert all(hand & NINES == NINES for hand in poor)
