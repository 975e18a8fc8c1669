"""What each command causes. The checks are those of `legal`: what is listed there is what is accepted here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from majlis.engine.decider import Emitter, Rejected
from majlis.engine.games.sounding.deals import emit_end, emit_opener, emit_reveal
from majlis.engine.games.sounding.evolve import evolve
from majlis.engine.games.sounding.legal import (
    flippable,
    is_stalled,
    may_undo,
    placeable,
    takeable,
    waiting,
)
from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DRAWN,
    FACE_DOWN,
    INITIAL_FLIPS,
    OFFSET,
    SWALLOWED,
    TAKEN,
    TURN,
    State,
    has_hidden,
    is_complete,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.sounding import (
    SoundingCardDrawn,
    SoundingCardPlaced,
    SoundingCardThrown,
    SoundingCellFlipped,
    SoundingChooseInitial,
    SoundingColumnSwallowed,
    SoundingDealClosed,
    SoundingDiscardReshuffled,
    SoundingDiscardTaken,
    SoundingDraw,
    SoundingFlip,
    SoundingInitialChosen,
    SoundingPlace,
    SoundingTakeDiscard,
    SoundingTakeUndone,
    SoundingThrowAndFlip,
    SoundingUndoTake,
)

_ASKED: Final = {
    INITIAL_FLIPS: "Choose two cells to turn over.",
    TURN: "Take the discard, draw, or flip a card of yours.",
    DRAWN: "Place the drawn card, or throw it and flip a card of yours.",
    TAKEN: "Place the taken card, or put it back.",
}


def decide(state: State, seat: int, command: Command) -> Emitter[State]:
    """The events the command causes, and the state they lead to; raises Rejected."""
    decide_one = _DECIDERS.get(type(command))
    if decide_one is None:
        raise Rejected(
            RejectionCode.WRONG_PHASE, "that is not a command of Sounding", "Send one that is legal now."
        )
    if seat != state.turn and seat not in waiting(state):
        raise Rejected(
            RejectionCode.NOT_YOUR_TURN, f"seat {seat} has nothing to decide now", "Wait for your turn."
        )
    emit = Emitter(evolve, state)
    decide_one(emit, state, seat, command)
    return emit


def _refuse_phase(state: State) -> NoReturn:
    raise Rejected(RejectionCode.WRONG_PHASE, "that is not what is to be decided now", _ASKED[state.phase])


def _illegal(detail: str, remedy: str) -> NoReturn:
    raise Rejected(RejectionCode.ILLEGAL_MOVE, detail, remedy)


def _require_cell(cell: int) -> None:
    if not 0 <= cell < CELLS:
        raise Rejected(RejectionCode.MALFORMED, f"there is no cell {cell}", "Cells are numbered 0 to 11.")


def _choose_initial(emit: Emitter[State], state: State, seat: int, command: SoundingChooseInitial) -> None:
    """SND-5, SND-O2: hidden until the last seat has chosen, or turned over at once, seat by seat."""
    if state.phase is not INITIAL_FLIPS:
        _refuse_phase(state)
    first, second = command.first, command.second
    _require_cell(first)
    _require_cell(second)
    if first >= second:
        _illegal("two different cells in reading order are needed", "Name the lower cell first.")
    if state.frame.options.initial_flips == "in_order":
        _emit_flips(emit, seat, 1 << first | 1 << second)
    else:
        emit(SoundingInitialChosen(seat=seat, first=first, second=second))
        if all(emit.state.chosen):
            for each, mask in enumerate(emit.state.chosen):
                _emit_flips(emit, each, mask)
    if not waiting(emit.state):
        emit_opener(emit)


def _emit_flips(emit: Emitter[State], seat: int, mask: int) -> None:
    for cell, card in enumerate(emit.state.grids[seat]):
        if mask >> cell & 1:
            emit(SoundingCellFlipped(seat=seat, cell=cell, card=card - FACE_DOWN - OFFSET))


def _draw(emit: Emitter[State], state: State, seat: int, _command: SoundingDraw) -> None:
    """SND-7b, and SND-14: an empty draw pile is filled from the discard pile (SND-O5)."""
    if state.phase is not TURN:
        _refuse_phase(state)
    options = state.frame.options
    if not state.stock:
        _emit_reshuffle(emit)
    card = emit.state.stock[0] - OFFSET
    emit(SoundingCardDrawn(seat=seat, card=card, face_up=options.drawn_card == "public"))
    if options.reshuffle_time == "eager" and not emit.state.stock:
        _emit_reshuffle(emit)


def _emit_reshuffle(emit: Emitter[State]) -> None:
    state = emit.state
    frame = state.frame
    cards = state.discard if frame.options.reshuffle_cards == "all" else state.discard[:-1]
    assert cards, "at least 6 cards lie outside the grids, whatever the number of seats (SND-O5)"
    stream = frame.chance.stream(frame.deal, "reshuffle", state.reshuffles)
    emit(SoundingDiscardReshuffled(stock=stream.shuffle(cards)))


def _take_discard(emit: Emitter[State], state: State, seat: int, command: SoundingTakeDiscard) -> None:
    """SND-7a, SND-8: taken and placed at once, or (SND-O13) held until placed or put back."""
    if state.phase is not TURN:
        _refuse_phase(state)
    mask = takeable(state, seat)
    cell = command.cell
    two_steps = state.frame.options.undo_take == "once"
    if two_steps != (cell is None):
        raise Rejected(
            RejectionCode.MALFORMED,
            "a taken card is placed by a command of its own here" if two_steps else "no cell is named",
            "Name no cell." if two_steps else "Name the cell in which the taken card is placed.",
        )
    if cell is None:
        if not mask:
            _refuse_card(state, seat)
        emit(SoundingDiscardTaken(seat=seat, card=state.discard[-1] - OFFSET))
        return
    _require_cell(cell)
    if not mask >> cell & 1:
        _refuse_card(state, seat)
    _emit_placed(emit, seat, cell, state.discard[-1], from_discard=True)


def _undo_take(emit: Emitter[State], state: State, seat: int, _command: SoundingUndoTake) -> None:
    """SND-O13."""
    if state.phase is not TAKEN:
        _refuse_phase(state)
    card = state.in_hand
    if card is None or not may_undo(state):
        _illegal("a taken card goes back only once a turn", "Place it in a cell.")
    emit(SoundingTakeUndone(seat=seat, card=card - OFFSET))


def _place(emit: Emitter[State], state: State, seat: int, command: SoundingPlace) -> None:
    """SND-9 (b1); SND-8 where the taken card is in hand."""
    if state.phase is not DRAWN and state.phase is not TAKEN:
        _refuse_phase(state)
    cell, card = command.cell, state.in_hand
    _require_cell(cell)
    if card is None or not placeable(state, seat) >> cell & 1:
        _refuse_card(state, seat)
    _emit_placed(emit, seat, cell, card, from_discard=state.phase is TAKEN)


def _refuse_card(state: State, seat: int) -> NoReturn:
    if is_stalled(state, seat):
        _illegal("no card has been revealed for too long (stall_limit)", "Turn one of your cards over.")
    if state.phase is TURN and not state.discard:
        _illegal("the discard pile is empty", "Draw, or flip a card of yours.")
    _illegal("that cell is swallowed", "Choose a cell that holds a card.")


def _emit_placed(emit: Emitter[State], seat: int, cell: int, card: int, *, from_discard: bool) -> None:
    """SND-11: the card lies face up, what was there goes face up to the discard pile."""
    there = emit.state.grids[seat][cell]
    replaced = None if there == SWALLOWED else (there if there < FACE_DOWN else there - FACE_DOWN) - OFFSET
    emit(
        SoundingCardPlaced(
            seat=seat, cell=cell, card=card - OFFSET, replaced=replaced, from_discard=from_discard
        )
    )
    _emit_turned_up(emit, seat, cell, covers=replaced is not None)


def _throw_and_flip(emit: Emitter[State], state: State, seat: int, command: SoundingThrowAndFlip) -> None:
    """SND-9 (b2)."""
    if state.phase is not DRAWN:
        _refuse_phase(state)
    card = _flipped(state, seat, command.cell)
    if state.in_hand is not None:
        emit(SoundingCardThrown(seat=seat, card=state.in_hand - OFFSET))
    emit(SoundingCellFlipped(seat=seat, cell=command.cell, card=card - OFFSET))
    _emit_turned_up(emit, seat, command.cell, covers=True)


def _flip(emit: Emitter[State], state: State, seat: int, command: SoundingFlip) -> None:
    """SND-7c, SND-10."""
    if state.phase is not TURN:
        _refuse_phase(state)
    card = _flipped(state, seat, command.cell)
    emit(SoundingCellFlipped(seat=seat, cell=command.cell, card=card - OFFSET))
    _emit_turned_up(emit, seat, command.cell, covers=False)


def _flipped(state: State, seat: int, cell: int) -> int:
    """The card under a cell that may be flipped; raises Rejected."""
    _require_cell(cell)
    hidden = state.grids[seat][cell]
    if not flippable(state, seat) >> cell & 1:
        if hidden >= FACE_DOWN:
            _illegal("a mere flip may not close the deal (close_by_flip)", "Take the discard, or draw.")
        _illegal("no card lies face down there", "Choose a cell whose card lies face down.")
    return hidden - FACE_DOWN


def _emit_turned_up(emit: Emitter[State], seat: int, cell: int, *, covers: bool) -> None:
    """What a card that came to lie face up brings about: swallow, then closer, then the deal's end (SND-O19).

    `covers`: a card went to the discard pile just before, beneath or above which the column comes (SND-O4).
    """
    state = emit.state
    grid, column = state.grids[seat], cell % COLUMNS
    if is_complete(grid, column):
        beneath = covers and state.frame.options.swallow_order == "column_first"
        card = grid[column] - OFFSET
        emit(SoundingColumnSwallowed(seat=seat, column=column, card=card, beneath=beneath))
    if state.closer is None:
        if not has_hidden(grid):
            emit(SoundingDealClosed(closer=seat))
    elif not state.last_turns:
        emit_end(emit)
    elif state.frame.options.reveal == "after_last_turn":
        emit_reveal(emit, seat)


_DECIDERS: Final[dict[type, Callable[[Emitter[State], State, int, Any], None]]] = {
    SoundingChooseInitial: _choose_initial,
    SoundingDraw: _draw,
    SoundingTakeDiscard: _take_discard,
    SoundingUndoTake: _undo_take,
    SoundingPlace: _place,
    SoundingThrowAndFlip: _throw_and_flip,
    SoundingFlip: _flip,
}
