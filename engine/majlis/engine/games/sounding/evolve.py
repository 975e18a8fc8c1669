"""Events folded into the state: total and silent. What an event means is decided in `rules`, not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.games.sounding.state import (
    CELLS,
    DRAWN,
    FACE_DOWN,
    INITIAL_FLIPS,
    MATCH_POINTS,
    OFFSET,
    ONE,
    OVER,
    SWALLOWED,
    TAKEN,
    TO_FACE_DOWN,
    TURN,
    State,
    turn_order,
)
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.sounding import (
    SoundingCardDrawn,
    SoundingCardPlaced,
    SoundingCardThrown,
    SoundingCellFlipped,
    SoundingColumnSwallowed,
    SoundingDealClosed,
    SoundingDealScored,
    SoundingDealt,
    SoundingDiscardReshuffled,
    SoundingDiscardTaken,
    SoundingGridRevealed,
    SoundingInitialChosen,
    SoundingInitialRevealed,
    SoundingOpenerDrawn,
    SoundingTakeUndone,
)

FROM_VIEW: Final = bytes(SWALLOWED if byte == 254 else byte for byte in range(256))
"""A revealed grid as views write it -> as the state writes it."""


def evolve(state: State, event: Event) -> State:
    """The state after the event; events of other kinds leave it as it is."""
    fold = _FOLDS.get(type(event))
    return state if fold is None else fold(state, event)


def put(grids: tuple[bytes, ...], seat: int, grid: bytes) -> tuple[bytes, ...]:
    """The grids with one seat's exchanged."""
    return (*grids[:seat], grid, *grids[seat + 1 :])


def _dealt(state: State, event: SoundingDealt) -> State:
    frame = state.frame
    dealt = CELLS * frame.seats
    grids = event.order[:dealt].translate(TO_FACE_DOWN)
    in_order = frame.options.initial_flips == "in_order"
    return State(
        frame=replace(frame, deal=event.deal),
        phase=INITIAL_FLIPS,
        decision_id=state.decision_id + 1,
        turn=0 if in_order else None,
        grids=tuple([grids[i : i + CELLS] for i in range(0, dealt, CELLS)]),
        stock=event.order[dealt + 1 :],
        discard=event.discard_pile + ONE[event.upcard + OFFSET],
        chosen=(0,) * frame.seats,
        idle=bytes(frame.seats),
    )


def _initial_chosen(state: State, event: SoundingInitialChosen) -> State:
    seat = event.seat
    chosen = (*state.chosen[:seat], 1 << event.first | 1 << event.second, *state.chosen[seat + 1 :])
    return replace(state, chosen=chosen)


def _initial_flip(state: State, event: SoundingCellFlipped, grids: tuple[bytes, ...]) -> State:
    """One of the two cards that each seat turns over first: chosen together before, or seat by seat now."""
    if state.turn is None:
        return replace(state, grids=grids)
    seat = event.seat
    chosen = (*state.chosen[:seat], state.chosen[seat] | 1 << event.cell, *state.chosen[seat + 1 :])
    if chosen[seat].bit_count() < 2:
        return replace(state, grids=grids, chosen=chosen)
    if all(chosen):
        return replace(state, grids=grids, chosen=chosen, turn=None)
    turn = turn_order(state.frame, seat)[0]
    return replace(state, grids=grids, chosen=chosen, turn=turn, decision_id=state.decision_id + 1)


def _initial_revealed(state: State, event: SoundingInitialRevealed) -> State:
    return state if event.opener is None else _opened(state, event.opener)


def _opener_drawn(state: State, event: SoundingOpenerDrawn) -> State:
    return _opened(state, event.opener)


def _opened(state: State, opener: int) -> State:
    return replace(
        state,
        frame=replace(state.frame, opener=opener),
        phase=TURN,
        turn=opener,
        decision_id=state.decision_id + 1,
        chosen=(),
    )


def _card_drawn(state: State, event: SoundingCardDrawn) -> State:
    return replace(
        state,
        phase=DRAWN,
        decision_id=state.decision_id + 1,
        stock=state.stock[1:],
        in_hand=event.card + OFFSET,
    )


def _discard_taken(state: State, event: SoundingDiscardTaken) -> State:
    return replace(
        state,
        phase=TAKEN,
        decision_id=state.decision_id + 1,
        discard=state.discard[:-1],
        in_hand=event.card + OFFSET,
    )


def _take_undone(state: State, event: SoundingTakeUndone) -> State:
    return replace(
        state,
        phase=TURN,
        decision_id=state.decision_id + 1,
        discard=state.discard + ONE[event.card + OFFSET],
        in_hand=None,
        undone=True,
    )


def _card_placed(state: State, event: SoundingCardPlaced) -> State:
    seat, cell = event.seat, event.cell
    grid = state.grids[seat]
    discard = state.discard
    if event.from_discard and state.phase is not TAKEN:
        discard = discard[:-1]
    if event.replaced is not None:
        discard += ONE[event.replaced + OFFSET]
    grids = put(state.grids, seat, grid[:cell] + ONE[event.card + OFFSET] + grid[cell + 1 :])
    return _turn_passed(state, seat, grids, discard, revealed=grid[cell] >= FACE_DOWN)


def _card_thrown(state: State, event: SoundingCardThrown) -> State:
    return replace(state, discard=state.discard + ONE[event.card + OFFSET], in_hand=None)


def _cell_flipped(state: State, event: SoundingCellFlipped) -> State:
    seat, cell = event.seat, event.cell
    grid = state.grids[seat]
    grids = put(state.grids, seat, grid[:cell] + ONE[event.card + OFFSET] + grid[cell + 1 :])
    if state.phase is INITIAL_FLIPS:
        return _initial_flip(state, event, grids)
    return _turn_passed(state, seat, grids, state.discard, revealed=True)


def _turn_passed(
    state: State, seat: int, grids: tuple[bytes, ...], discard: bytes, *, revealed: bool
) -> State:
    """The turn is over: the next seat's decision opens, unless it was the last turn of the deal."""
    frame = state.frame
    turn: int | None
    last_turns = state.last_turns
    if last_turns:
        last_turns = last_turns[1:]
        turn = last_turns[0] if last_turns else None
    else:
        turn = (seat + (1 if frame.options.direction == "clockwise" else -1)) % frame.seats
    idle = state.idle
    if frame.options.stall_limit:
        idle = bytes(frame.seats) if revealed else _one_more(idle, seat)
    return replace(
        state,
        phase=TURN,
        decision_id=state.decision_id if turn is None else state.decision_id + 1,
        turn=turn,
        grids=grids,
        discard=discard,
        in_hand=None,
        last_turns=last_turns,
        idle=idle,
        undone=False,
    )


def _one_more(idle: bytes, seat: int) -> bytes:
    return idle[:seat] + bytes([min(idle[seat] + 1, 255)]) + idle[seat + 1 :]


def _column_swallowed(state: State, event: SoundingColumnSwallowed) -> State:
    seat, column = event.seat, event.column
    cells = bytearray(state.grids[seat])
    cells[column::4] = ONE[SWALLOWED] * 3
    three = ONE[event.card + OFFSET] * 3
    discard = state.discard
    discard = discard[:-1] + three + discard[-1:] if event.beneath else discard + three
    return replace(state, grids=put(state.grids, seat, bytes(cells)), discard=discard)


def _discard_reshuffled(state: State, event: SoundingDiscardReshuffled) -> State:
    """The shuffled cards are the lowest of the pile: what was kept stays."""
    discard = state.discard[len(event.stock) :]
    return replace(state, stock=event.stock, discard=discard, reshuffles=state.reshuffles + 1)


def _deal_closed(state: State, event: SoundingDealClosed) -> State:
    return replace(state, closer=event.closer, last_turns=turn_order(state.frame, event.closer))


def _grid_revealed(state: State, event: SoundingGridRevealed) -> State:
    return replace(state, grids=put(state.grids, event.seat, event.cells.translate(FROM_VIEW)))


def _deal_scored(state: State, event: SoundingDealScored) -> State:
    frame = replace(state.frame, totals=event.totals, deals=(*state.frame.deals, event))
    over = max(event.totals, default=0) >= MATCH_POINTS
    return replace(state, frame=frame, phase=OVER if over else state.phase)


_FOLDS: Final[dict[type, Callable[[State, Any], State]]] = {
    SoundingDealt: _dealt,
    SoundingInitialChosen: _initial_chosen,
    SoundingInitialRevealed: _initial_revealed,
    SoundingOpenerDrawn: _opener_drawn,
    SoundingCardDrawn: _card_drawn,
    SoundingDiscardTaken: _discard_taken,
    SoundingTakeUndone: _take_undone,
    SoundingCardPlaced: _card_placed,
    SoundingCardThrown: _card_thrown,
    SoundingCellFlipped: _cell_flipped,
    SoundingColumnSwallowed: _column_swallowed,
    SoundingDiscardReshuffled: _discard_reshuffled,
    SoundingDealClosed: _deal_closed,
    SoundingGridRevealed: _grid_revealed,
    SoundingDealScored: _deal_scored,
}
