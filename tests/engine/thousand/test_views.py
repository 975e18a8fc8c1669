"""What a viewer may not know is not in anything it is sent (THO-T8, THO-T31)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import SPECTATOR, Rejected
from majlis.engine.games.thousand.cards import ALL, cards_of, set_of
from majlis.engine.games.thousand.notation import rearranged
from majlis.engine.games.thousand.state import REDEAL, SEATS, State
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.thousand import (
    ThousandCardGiven,
    ThousandDealt,
    ThousandPlay,
    ThousandRedealDeclined,
    ThousandRedealGranted,
    ThousandRedealRequested,
    ThousandRequestRedeal,
    ThousandTalonTaken,
)
from majlis.engine.vocabulary.thousand import ThousandHappeningKind as Kind
from majlis.engine.vocabulary.view import MatchView, SeatPrivateView
from majlis.engine.vocabulary.wire import encode_match_view, encode_seat_private_view
from tests.engine.thousand.walks import GAME, OBSERVED, Walk, moves, played, walks

VIEWERS = (0, 1, 2, SPECTATOR)


def sent(state: State, viewer: int) -> list[bytes]:
    """The bytes of the views that this viewer gets."""
    views = [encode_match_view(MatchView(game_view=GAME.view(state, SPECTATOR)))]
    if viewer != SPECTATOR:
        private = SeatPrivateView(seat=viewer, game_view=GAME.view(state, viewer))
        views.append(encode_seat_private_view(private))
    return views


@settings(max_examples=25, deadline=None)
@given(walks())
def test_what_is_hidden_changes_no_byte_of_a_view_and_no_legal_command(walk: Walk) -> None:
    stream = Stream(b"arrangements")
    changed = 0
    for move in moves(walk, 60):
        state = move.after
        for viewer in VIEWERS:
            other = rearranged(state, viewer, stream)
            assert GAME.conserved(other)
            changed += other.hands != state.hands
            assert sent(other, viewer) == sent(state, viewer)
            if viewer != SPECTATOR:
                assert list(GAME.legal(other, viewer)) == list(GAME.legal(state, viewer))
                assert refusals(other, viewer) == refusals(state, viewer)
    assert changed


def refusals(state: State, seat: int) -> list[str]:
    """What the seat is told about every card it cannot play, and about a new deal it may not ask for."""
    told = []
    commands: list[Command] = [ThousandRequestRedeal(), *[ThousandPlay(card=card) for card in range(25)]]
    for command in commands:
        try:
            GAME.decide(state, seat, command, OBSERVED)
        except Rejected as refusal:
            told.append(f"{refusal} {refusal.remedy}")
    return told


@settings(max_examples=25, deadline=None)
@given(walks(), st.integers(0, 60))
def test_views_have_the_same_size_whatever_is_hidden(walk: Walk, steps: int) -> None:
    """Lengths tell nothing: hands of the same size take the same bytes."""
    state = played(walk, steps)
    other = rearranged(state, SPECTATOR, Stream(b"sizes"))
    for seat in range(SEATS):
        assert len(GAME.view(other, seat).hand) == len(GAME.view(state, seat).hand)


@settings(max_examples=25, deadline=None)
@given(walks())
def test_happenings_tell_each_viewer_no_more_than_its_own(walk: Walk) -> None:
    events = list(walk.begin())
    for move in moves(walk):
        events += move.events
    for event in events:
        public = GAME.happening(event, SPECTATOR)
        assert public is not None
        private = [GAME.happening(event, seat) for seat in range(SEATS)]
        if isinstance(event, ThousandDealt):
            assert public.cards == b""
            hands = [set_of(told.cards) for told in private]
            assert [hand.bit_count() for hand in hands] == [7, 7, 7]
            assert hands == [set_of(event.order[7 * seat : 7 * seat + 7]) for seat in range(SEATS)]
        elif isinstance(event, ThousandCardGiven):
            assert public.card is None
            for seat, told in enumerate(private):
                knows = seat in (event.seat, event.receiver)
                assert (told is not None) == knows
                assert not knows or told.card == event.card
        else:
            assert private == [None, None, None]


def test_tho_o12_an_answer_in_the_redeal_phase_tells_nobody_what_it_was() -> None:
    asked = GAME.happening(ThousandRedealRequested(seat=1), SPECTATOR)
    declined = GAME.happening(ThousandRedealDeclined(seat=1), SPECTATOR)
    assert asked == declined
    assert asked.kind is Kind.REDEAL_ANSWERED


def test_tho_12_the_talon_is_told_to_all_once_it_is_taken() -> None:
    event = ThousandTalonTaken(seat=1, bid=110, cards=bytes([3, 4, 5]))
    assert GAME.happening(event, SPECTATOR).cards == event.cards
    hand = ThousandRedealGranted(seat=0, hand=bytes([0, 6, 12, 18, 1, 2, 7]))
    assert GAME.happening(hand, SPECTATOR).cards == hand.hand


@settings(max_examples=10, deadline=None)
@given(walks())
def test_tho_o12_in_the_redeal_phase_every_seat_is_waited_for_and_may_answer(walk: Walk) -> None:
    state = walk.begin().state
    assert state.phase is REDEAL
    deadline = GAME.deadline(state)
    assert deadline is not None
    assert deadline.seats == (0, 1, 2)
    assert deadline.optional
    assert all(GAME.view(state, seat).may_decline_redeal for seat in range(SEATS))


@settings(max_examples=10, deadline=None)
@given(walks())
def test_tho_21_the_view_of_the_turns_owner_marks_the_playable_cards(walk: Walk) -> None:
    for move in moves(walk):
        if isinstance(move.command, ThousandPlay):
            cards = {
                each.card for each in GAME.legal(move.before, move.seat) if isinstance(each, ThousandPlay)
            }
            assert set(GAME.view(move.before, move.seat).may_play) == cards
            for seat in range(SEATS):
                assert seat == move.seat or not GAME.view(move.before, seat).may_play


def test_cards_and_sets_translate_into_each_other() -> None:
    assert cards_of(ALL) == bytes(range(24))
    assert set_of(cards_of(0b1010_0000_0000_0001)) == 0b1010_0000_0000_0001
