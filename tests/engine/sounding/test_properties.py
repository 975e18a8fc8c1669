"""What holds in every position of every match of Sounding, whatever its options."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from majlis.engine.decider import Rejected, Setup
from majlis.engine.games.sounding.legal import CHOICES, flippable
from majlis.engine.games.sounding.position import all_cards
from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DECK,
    DRAWN,
    FACE_DOWN,
    INITIAL_FLIPS,
    OVER,
    TURN,
    State,
    has_hidden,
    is_complete,
)
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import Resign, SeatResigned
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingDealScored,
    SoundingDraw,
    SoundingFlip,
    SoundingPlace,
    SoundingTakeDiscard,
    SoundingThrowAndFlip,
    SoundingUndoTake,
)
from tests.engine.sounding.walks import DEFAULTS, GAME, OBSERVED, Walk, moves, played, walks

FEW = settings(max_examples=25, deadline=None)

EVERY_COMMAND: list[Command] = [
    *CHOICES,
    SoundingChooseInitial(first=3, second=3),
    SoundingChooseInitial(first=4, second=1),
    SoundingChooseInitial(first=0, second=12),
    SoundingDraw(),
    SoundingUndoTake(),
    SoundingTakeDiscard(),
    *[
        kind(cell=cell)
        for kind in (SoundingTakeDiscard, SoundingPlace, SoundingThrowAndFlip, SoundingFlip)
        for cell in (*range(CELLS), CELLS, 2**32 - 1)
    ],
    Resign(),
]


@FEW
@given(walks())
def test_snd_3_the_150_cards_are_conserved_by_every_event(walk: Walk) -> None:
    first = walk.begin()
    assert all_cards(first.state) == DECK
    for move in moves(walk):
        state = move.before
        for event in move.events:
            state = GAME.evolve(state, event)
            assert GAME.conserved(state)
            assert all_cards(state) == DECK


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
        assert state.decision_id == move.after.decision_id


@FEW
@given(walks())
def test_decisions_are_numbered_without_gaps_and_wait_for_somebody(walk: Walk) -> None:
    assert walk.begin().state.decision_id == 1
    for move in moves(walk):
        after = GAME.deadline(move.after)
        if after is None:
            assert move.after.phase is OVER
            return
        before = GAME.deadline(move.before)
        assert before is not None
        if set(after.seats) < set(before.seats) and move.before.phase is INITIAL_FLIPS:
            assert after.decision_id == before.decision_id  # the others are still waited for
        else:
            assert after.decision_id == before.decision_id + 1
        assert after.seats
        assert after.timeout_ms == 30_000


@settings(max_examples=15, deadline=None)
@given(walks(), st.integers(0, 150))
def test_legal_commands_are_accepted_and_all_others_refused_without_change(walk: Walk, steps: int) -> None:
    state = played(walk, steps)
    before = GAME.position(state)
    for seat in range(walk.seats):
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
        return not (refusal.detail and refusal.remedy)  # a refusal without words would count as acceptance
    return bool(emitted)


@FEW
@given(walks())
def test_the_fallback_is_legal_and_ends_every_match(walk: Walk) -> None:
    state = walk.begin().state
    for _ in range(5000):
        deadline = GAME.deadline(state)
        if deadline is None:
            break
        seat = deadline.seats[-1]
        command = GAME.fallback(state, seat)
        assert command in GAME.legal(state, seat)
        state = GAME.decide(state, seat, command, OBSERVED).state
    assert GAME.outcome(state) is not None


@FEW
@given(walks())
def test_snd_12_no_cell_is_ever_hidden_again(walk: Walk) -> None:
    for move in moves(walk):
        if move.after.frame.deal == move.before.frame.deal:
            for before, after in zip(move.before.grids, move.after.grids, strict=True):
                assert all(
                    old >= FACE_DOWN or new < FACE_DOWN for old, new in zip(before, after, strict=True)
                )


@FEW
@given(walks())
def test_snd_15_and_16_a_complete_column_never_stays(walk: Walk) -> None:
    for move in moves(walk):
        assert not any(
            is_complete(grid, column) for grid in move.after.grids for column in range(COLUMNS)
        ) or (
            walk.options.swallow_at_reveal == "no"  # where the reveal alone completed it
        )


@FEW
@given(walks())
def test_snd_17_the_first_grid_without_a_hidden_card_closes(walk: Walk) -> None:
    for move in moves(walk):
        if move.after.phase in (TURN, DRAWN):
            anybody = any(not has_hidden(grid) for grid in move.after.grids)
            assert anybody == (move.after.closer is not None)


@FEW
@given(walks())
def test_snd_18_every_other_seat_has_exactly_one_last_turn(walk: Walk) -> None:
    closer: int | None = None
    turns: list[int] = []
    for move in moves(walk):
        if move.before.closer is not None:
            closer = move.before.closer
            if move.after.turn != move.seat or move.after.frame.deal != move.before.frame.deal:
                turns.append(move.seat)
        if (closer is not None and move.after.closer is None) or move.after.phase is OVER:
            step = 1 if walk.options.direction == "clockwise" else -1
            assert closer is not None
            assert turns == [(closer + step * i) % walk.seats for i in range(1, walk.seats)]
            closer, turns = None, []


@FEW
@given(walks())
def test_snd_22_totals_change_only_when_a_deal_is_scored(walk: Walk) -> None:
    for move in moves(walk):
        scored = [event for event in move.events if isinstance(event, SoundingDealScored)]
        assert len(scored) <= 1
        assert (move.after.frame.totals != move.before.frame.totals) <= bool(scored)
        if scored:
            assert scored[0].deal == move.before.frame.deal
            assert (max(move.after.frame.totals) >= 100) == (move.after.phase is OVER)
            assert move.after.frame.deals[-1] == scored[0]
    numbers = [deal.deal for deal in move.after.frame.deals]
    assert all(later == earlier + 1 for earlier, later in pairwise(numbers))


@FEW
@given(walks())
def test_snd_o5_a_discard_pile_to_shuffle_is_always_there(walk: Walk) -> None:
    for move in moves(walk):
        if move.after.phase is TURN:
            outside = len(move.after.stock) + len(move.after.discard)
            assert outside >= 6
            assert move.after.stock or len(move.after.discard) >= 2


@FEW
@given(walks())
def test_snd_o20_whoever_has_a_turn_has_a_hidden_card(walk: Walk) -> None:
    for move in moves(walk):
        state = move.after
        if state.phase in (TURN, DRAWN) and state.turn is not None:
            assert has_hidden(state.grids[state.turn])
            assert flippable(state, state.turn) or walk.options.close_by_flip == "no"


@FEW
@given(walks(DEFAULTS))
def test_snd_10_a_flip_is_possible_in_every_turn(walk: Walk) -> None:
    for move in moves(walk):
        state = move.after
        if state.phase is TURN and state.turn is not None:
            flips = [each for each in GAME.legal(state, state.turn) if isinstance(each, SoundingFlip)]
            assert len(flips) == sum(cell >= FACE_DOWN for cell in state.grids[state.turn])


def test_events_of_other_kinds_leave_the_state_as_it_is() -> None:
    state = played(Walk(3, GAME.rules_versions[1], 7), 20)
    assert GAME.evolve(state, SeatResigned(seat=1)) is state
