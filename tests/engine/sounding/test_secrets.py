"""Nothing secret is shown: positions that differ only in what a viewer may not know look the same to that viewer, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.sounding.state import DRAWN, FACE_DOWN, INITIAL_FLIPS, State
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.sounding import (
    SoundingCardDrawn,
    SoundingChooseInitial,
    SoundingDealt,
    SoundingDiscardReshuffled,
    SoundingDraw,
    SoundingHappening,
)
from majlis.engine.vocabulary.wire import (
    encode_sounding_happening,
    encode_sounding_private_view,
    encode_sounding_view,
)
from tests.engine.sounding.walks import DEFAULTS, GAME, OBSERVED, Walk, moves, played, walks

SOME = settings(max_examples=60, deadline=None)


def exchanged(state: State, viewer: int, number: int) -> State:
    """The same position with everything that the viewer does not know shuffled, cards and choices."""
    stream = Stream(sha256(f"secrets {number}".encode()).digest())
    hides_hand = state.phase is DRAWN and viewer != state.turn and not is_public(state)
    hand = [state.in_hand] if hides_hand and state.in_hand is not None else []
    hidden = [cell - FACE_DOWN for grid in state.grids for cell in grid if cell >= FACE_DOWN]
    cards = list(stream.shuffle(bytes([*hidden, *state.stock, *hand])))
    grids = tuple(
        bytes([cards.pop() + FACE_DOWN if cell >= FACE_DOWN else cell for cell in grid])
        for grid in state.grids
    )
    in_hand = cards.pop() if hand else state.in_hand
    return replace(
        state, grids=grids, in_hand=in_hand, stock=bytes(cards), chosen=other_choices(state, viewer, stream)
    )


def is_public(state: State) -> bool:
    return state.frame.options.drawn_card == "public"


def other_choices(state: State, viewer: int, stream: Stream) -> tuple[int, ...]:
    if state.phase is not INITIAL_FLIPS or state.turn is not None:
        return state.chosen
    return tuple(
        mask if seat == viewer or not mask else 0b11 << stream.below(11)
        for seat, mask in enumerate(state.chosen)
    )


def seen(state: State, viewer: int) -> Sequence[Any]:
    """All that reaches the viewer: the public view, its own, and what it may do and when."""
    own = [] if viewer == SPECTATOR else [encode_sounding_private_view(GAME.view(state, viewer))]
    legal = [] if viewer == SPECTATOR else list(GAME.legal(state, viewer))
    return [
        encode_sounding_view(GAME.view(state, SPECTATOR)),
        own,
        legal,
        GAME.deadline(state),
        GAME.outcome(state),
    ]


def told(events: Sequence[Event], viewer: int) -> list[bytes]:
    """The happenings that reach the viewer: its own where there is one, else the public one."""
    messages = []
    for event in events:
        own = None if viewer == SPECTATOR else GAME.happening(event, viewer)
        message = own if own is not None else GAME.happening(event, SPECTATOR)
        if message is not None:
            messages.append(encode_sounding_happening(message))
    return messages


@SOME
@given(walks(), st.integers(0, 200), st.integers(0, 1000))
def test_views_depend_only_on_what_the_viewer_may_know(walk: Walk, steps: int, number: int) -> None:
    state = played(walk, steps)
    for viewer in (SPECTATOR, *range(walk.seats)):
        other = exchanged(state, viewer, number)
        assert GAME.conserved(other)
        assert seen(other, viewer) == seen(state, viewer)


@SOME
@given(walks(DEFAULTS), st.integers(0, 200), st.integers(0, 1000))
def test_happenings_tell_only_what_the_viewer_may_know(walk: Walk, steps: int, number: int) -> None:
    """A move that reveals nothing to the viewer is told alike, whatever lies hidden."""
    state = played(walk, steps)
    deadline = GAME.deadline(state)
    if deadline is None:
        return
    seat = deadline.seats[0]
    quiet = [
        command
        for command in GAME.legal(state, seat)
        if isinstance(command, SoundingDraw)
        or (isinstance(command, SoundingChooseInitial) and len(deadline.seats) > 1)
    ]
    for viewer in {SPECTATOR, *range(walk.seats)} - {seat}:
        other = exchanged(state, viewer, number)
        for command in quiet:
            here, there = (GAME.decide(each, seat, command, OBSERVED) for each in (state, other))
            assert told(here, viewer) == told(there, viewer)
            assert seen(here.state, viewer) == seen(there.state, viewer)


@SOME
@given(walks())
def test_no_happening_holds_a_card_that_lies_hidden(walk: Walk) -> None:
    """Every card that a happening names lies face up afterwards, is on the discard pile, or is the drawer's own."""
    for move in moves(walk):
        for event in move.events:
            for viewer in (SPECTATOR, *range(walk.seats)):
                message = GAME.happening(event, viewer)
                if isinstance(event, SoundingCardDrawn):
                    public = walk.options.drawn_card == "public"
                    knows = event.card if viewer == event.seat or public else None
                    if message is not None:
                        assert message.card == knows
                    assert (message is not None) == (
                        viewer == SPECTATOR or (viewer == event.seat and not public)
                    )
                elif viewer == SPECTATOR:
                    assert isinstance(message, SoundingHappening)
                    assert 255 not in message.cells
                else:
                    assert message is None


@SOME
@given(st.permutations(range(40)))
def test_the_order_of_the_cards_is_told_to_nobody(order: list[int]) -> None:
    cards = bytes([card % 15 for card in order])
    dealt = [SoundingDealt(deal=1, order=each, upcard=3) for each in (cards, bytes(sorted(cards)))]
    shuffled = [SoundingDiscardReshuffled(stock=each) for each in (cards, bytes(sorted(cards)))]
    for viewer in (SPECTATOR, 0, 1):
        assert told(dealt[:1], viewer) == told(dealt[1:], viewer)
        assert told(shuffled[:1], viewer) == told(shuffled[1:], viewer)


def test_a_hidden_choice_is_seen_by_its_seat_alone() -> None:
    state = Walk(3, GAME.rules_versions[1], 5).begin().state
    chosen = GAME.decide(state, 1, SoundingChooseInitial(first=4, second=9), OBSERVED)
    assert [grid.has_chosen for grid in GAME.view(chosen.state, SPECTATOR).grids] == [False, True, False]
    assert GAME.view(chosen.state, 1).chosen_first == 4
    assert GAME.view(chosen.state, 1).chosen_second == 9
    other = GAME.decide(state, 1, SoundingChooseInitial(first=0, second=1), OBSERVED)
    for viewer in (SPECTATOR, 0, 2):
        assert seen(chosen.state, viewer) == seen(other.state, viewer)
        assert told(chosen, viewer) == told(other, viewer)
