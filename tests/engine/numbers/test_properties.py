"""What holds in every position of every match of Numbers, whatever its options, punished plays included."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import SPECTATOR, Rejected, Setup
from majlis.engine.games.numbers.arithmetic import value
from majlis.engine.games.numbers.cards import FITTING, KIND_OF, NUMBER_OF, is_compatible
from majlis.engine.games.numbers.notation import calculation_from, calculation_text, rearranged
from majlis.engine.games.numbers.state import CORRECTION, OVER, State, in_play
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import Resign, SeatResigned
from majlis.engine.vocabulary.numbers import (
    NumbersAgain,
    NumbersCalculate,
    NumbersCalculated,
    NumbersDealt,
    NumbersDraw,
    NumbersDrawn,
    NumbersEnd,
    NumbersFaulted,
    NumbersGiveUp,
    NumbersJoker,
    NumbersKeep,
    NumbersPlay,
    NumbersPlayed,
)
from majlis.engine.vocabulary.view import MatchView, SeatPrivateView
from majlis.engine.vocabulary.wire import encode_match_view, encode_seat_private_view
from tests.engine.numbers.walks import DEFAULTS, GAME, OBSERVED, Walk, moves, played, walks

FEW = settings(max_examples=20, deadline=None)


@FEW
@given(walks())
def test_num_1_the_pack_is_conserved_by_every_event(walk: Walk) -> None:
    assert GAME.conserved(walk.begin().state)
    for move in moves(walk):
        state = move.before
        for event in move.events:
            state = GAME.evolve(state, event)
            assert GAME.conserved(state)
        assert state == move.after


@FEW
@given(walks())
def test_events_alone_rebuild_the_match_without_its_chance(walk: Walk) -> None:
    """RULES §5.1: every draw stands in an event and is never drawn again."""
    state = GAME.initial(Setup(walk.seats, walk.options, Chance(bytes(32), b"other", "other")))
    for event in walk.begin():
        state = GAME.evolve(state, event)
    for move in moves(walk):
        for event in move.events:
            state = GAME.evolve(state, event)
        assert GAME.position(state) == GAME.position(move.after)


@FEW
@given(walks())
def test_decisions_have_rising_numbers_and_wait_for_who_is_in_play(walk: Walk) -> None:
    for move in moves(walk):
        after = GAME.deadline(move.after)
        if after is None:
            assert move.after.phase is OVER
            return
        assert after.decision_id > move.before.decision_id
        assert after.seats == (move.after.turn,)
        assert move.after.turn in in_play(move.after.frame)


@FEW
@given(walks(), st.integers(0, 60))
def test_num_o1_every_listed_command_is_accepted_and_punished_never(walk: Walk, steps: int) -> None:
    state = played(walk, steps)
    before = GAME.position(state)
    for seat in range(walk.seats):
        legal = list(GAME.legal(state, seat))
        deadline = GAME.deadline(state)
        assert bool(legal) == (deadline is not None and seat in deadline.seats)
        for command in legal:
            assert command in GAME.legal(state, seat)
            events = GAME.decide(state, seat, command, OBSERVED)
            assert not any(isinstance(event, NumbersFaulted) for event in events)
    assert GAME.position(state) == before


def answered(state: State, seat: int, command: Command) -> State | None:
    """The state after the command; None where it is refused."""
    try:
        events = GAME.decide(state, seat, command, OBSERVED)
    except Rejected:
        return None
    return events.state if events else None


any_bytes = st.binary(max_size=8) | st.lists(st.integers(0, 33), max_size=6).map(bytes)
any_commands = st.one_of(
    st.builds(NumbersPlay, card=st.integers(0, 40) | st.just(2**32 - 1)),
    st.builds(NumbersJoker, joker=st.integers(28, 40), cover=st.none() | st.integers(0, 2**32 - 1)),
    st.builds(NumbersCalculate, cards=any_bytes, operations=any_bytes),
    st.builds(NumbersDraw, keep=st.booleans()),
    st.sampled_from([NumbersAgain(), NumbersKeep(), NumbersEnd(), NumbersGiveUp(), Resign()]),
)


@FEW
@given(walks(), st.integers(0, 80), st.lists(any_commands, max_size=40))
def test_num_o31_whatever_is_sent_is_taken_or_refused_without_change(
    walk: Walk, steps: int, commands: list[Command]
) -> None:
    state = played(walk, steps)
    before = GAME.position(state)
    for command in commands:
        for seat in range(walk.seats):
            after = answered(state, seat, command)
            assert (after is not None) == (command in GAME.legal(state, seat))
            assert after is None or GAME.conserved(after)
    assert GAME.position(state) == before


@FEW
@given(walks(DEFAULTS))
def test_num_11_to_19_what_is_played_fits(walk: Walk) -> None:
    for move in moves(walk):
        target, rights = move.before.target, move.before.rights
        for event in move.events:
            if isinstance(event, NumbersPlayed) and move.before.phase is not CORRECTION:
                assert KIND_OF[event.card] & rights if rights else event.card in FITTING[target]
            if isinstance(event, NumbersCalculated):
                numbers = [NUMBER_OF[card] for card in event.cards]
                assert len({KIND_OF[card] for card in event.cards}) == 1
                assert not any(is_compatible(card, target) for card in event.cards)
                assert value(numbers, event.operations) == NUMBER_OF[target]


@FEW
@given(walks(DEFAULTS))
def test_num_34_and_36_a_fault_costs_three_cards_as_far_as_there_are_any(walk: Walk) -> None:
    for move in moves(walk):
        if any(isinstance(event, NumbersFaulted) for event in move.events):
            drawn = [event for event in move.events if isinstance(event, NumbersDrawn)]
            assert all(event.penalty for event in drawn)
            cards = sum(len(event.cards) for event in drawn)
            assert cards == 3 or not move.after.pile


@FEW
@given(walks())
def test_num_51_totals_change_only_when_a_deal_is_scored(walk: Walk) -> None:
    for move in moves(walk):
        if move.after.frame.totals != move.before.frame.totals:
            last = move.after.frame.last
            assert last is not None
            assert not last.extra
            assert last.totals == move.after.frame.totals


def test_num_38_a_round_of_six_at_the_usual_pace_lasts_no_longer_than_the_text_says() -> None:
    """NUM-38: 15 to 30 minutes; so many decisions of 10 s at most."""
    walk = Walk(GAME.rules_versions[1], 1, seats=6)
    state = walk.begin().state
    decisions = 0
    while GAME.deal(state) == 1:
        command = next(iter(GAME.legal(state, state.turn)))
        state = GAME.decide(state, state.turn, command, OBSERVED).state
        decisions += 1
    assert 30 < decisions < 600


@FEW
@given(walks())
def test_what_is_hidden_changes_no_byte_of_a_view_and_no_refusal(walk: Walk) -> None:
    stream = Stream(b"arrangements")
    for move in moves(walk, 50):
        state = move.after
        for viewer in (SPECTATOR, *range(walk.seats)):
            other = rearranged(state, viewer, stream)
            assert GAME.conserved(other)
            assert sent(other, viewer) == sent(state, viewer)
            if viewer != SPECTATOR:
                assert list(GAME.legal(other, viewer)) == list(GAME.legal(state, viewer))
                assert refusals(other, viewer) == refusals(state, viewer)


def sent(state: State, viewer: int) -> bytes:
    """The bytes of the views that this viewer gets."""
    public = encode_match_view(MatchView(game_view=GAME.view(state, SPECTATOR)))
    if viewer == SPECTATOR:
        return public
    return public + encode_seat_private_view(SeatPrivateView(seat=viewer, game_view=GAME.view(state, viewer)))


def refusals(state: State, seat: int) -> list[str]:
    """What the seat is told about each card that it cannot play, and about other commands."""
    told = []
    commands: list[Command] = [*[NumbersPlay(card=card) for card in range(35)], NumbersAgain(), NumbersDraw()]
    for command in commands:
        try:
            GAME.decide(state, seat, command, OBSERVED)
        except Rejected as refusal:
            told.append(f"{refusal} {refusal.remedy}")
    return told


@FEW
@given(walks())
def test_happenings_tell_each_viewer_no_more_than_its_own(walk: Walk) -> None:
    events = list(walk.begin())
    for move in moves(walk):
        events += move.events
    for event in events:
        public = GAME.happening(event, SPECTATOR)
        assert public is not None
        private = [GAME.happening(event, seat) for seat in range(walk.seats)]
        if isinstance(event, NumbersDealt):
            assert public.cards == b""
            assert [len(told.cards) for told in private if told] == [event.hand] * len(event.players)
        elif isinstance(event, NumbersDrawn):
            assert public.cards == b""
            for seat, told in enumerate(private):
                assert (told is not None) == (seat == event.seat)
                assert told is None or told.cards == event.cards
        else:
            assert private == [None] * walk.seats


@given(st.lists(st.integers(0, 29), min_size=1, max_size=8), st.data())
def test_a_calculation_survives_being_written_down(cards: list[int], data: st.DataObject) -> None:
    operations = data.draw(st.lists(st.integers(0, 3), min_size=len(cards) - 1, max_size=len(cards) - 1))
    text = calculation_text(bytes(cards), bytes(operations))
    assert calculation_from(text) == (bytes(cards), bytes(operations))


def test_events_of_other_kinds_leave_the_state_as_it_is() -> None:
    state = played(Walk(GAME.rules_versions[1], 7), 20)
    assert GAME.evolve(state, SeatResigned(seat=1)) is state
