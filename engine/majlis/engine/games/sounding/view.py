"""What may be seen. A card that lies face down is in no view, its owner's neither (SND-T24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.sounding.deals import TO_VIEW
from majlis.engine.games.sounding.legal import (
    ALL_CELLS,
    flippable,
    may_undo,
    placeable,
    takeable,
    waiting,
)
from majlis.engine.games.sounding.state import DRAWN, INITIAL_FLIPS, OFFSET, TAKEN, TURN, State
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
    SoundingHappening,
    SoundingInitialChosen,
    SoundingInitialRevealed,
    SoundingOpenerDrawn,
    SoundingPrivateView,
    SoundingSeatView,
    SoundingTakeUndone,
    SoundingView,
)
from majlis.engine.vocabulary.sounding import SoundingHappeningKind as Kind


def public_view(state: State) -> SoundingView:
    """What a spectator sees: face-up cells, the whole discard pile (SND-13), sizes and totals."""
    frame, phase = state.frame, state.phase
    chosen = state.chosen or (0,) * len(state.grids)
    in_hand = None if state.in_hand is None else state.in_hand - OFFSET
    return SoundingView(
        phase=phase,
        deal=frame.deal,
        grids=tuple(
            [
                SoundingSeatView(cells=grid.translate(TO_VIEW), has_chosen=mask > 0)
                for grid, mask in zip(state.grids, chosen, strict=True)
            ]
        ),
        discard_pile=state.discard,
        stock_size=len(state.stock),
        turn=state.turn,
        closer=state.closer,
        last_turns=state.last_turns,
        totals=frame.totals,
        deals=frame.deals,
        taken=in_hand if phase is TAKEN else None,
        drawn=in_hand if phase is DRAWN and frame.options.drawn_card == "public" else None,
    )


def private_view(state: State, seat: int) -> SoundingPrivateView:
    """What the seat sees on top: its drawn card, its hidden choice, and what it may do."""
    phase = state.phase
    if phase is INITIAL_FLIPS:
        return _initial_view(state, seat)
    if seat != state.turn:
        return SoundingPrivateView()
    if phase is TURN:
        return SoundingPrivateView(
            may_draw=True, may_take=takeable(state, seat), may_flip=flippable(state, seat)
        )
    if phase is DRAWN and state.in_hand is not None:
        return SoundingPrivateView(
            drawn=state.in_hand - OFFSET,
            may_place=placeable(state, seat),
            may_flip=flippable(state, seat),
        )
    return SoundingPrivateView(may_place=placeable(state, seat), may_undo=may_undo(state))


def _initial_view(state: State, seat: int) -> SoundingPrivateView:
    mask = state.chosen[seat]
    if mask and state.turn is None:
        first, second = [cell for cell in range(mask.bit_length()) if mask >> cell & 1]
        return SoundingPrivateView(chosen_first=first, chosen_second=second)
    return SoundingPrivateView(may_flip=ALL_CELLS if seat in waiting(state) else 0)


def happening(event: Event, viewer: int) -> SoundingHappening | None:
    """What everybody may be told of an event, or what one seat alone is told instead: only its drawn card."""
    if viewer == SPECTATOR:
        tell = _PUBLIC.get(type(event))
        return None if tell is None else tell(event)
    if isinstance(event, SoundingCardDrawn) and event.seat == viewer and not event.face_up:
        return SoundingHappening(kind=Kind.DRAWN, seat=viewer, card=event.card)
    return None


def _drawn(event: SoundingCardDrawn) -> SoundingHappening:
    return SoundingHappening(kind=Kind.DRAWN, seat=event.seat, card=event.card if event.face_up else None)


def _placed(event: SoundingCardPlaced) -> SoundingHappening:
    return SoundingHappening(
        kind=Kind.PLACED,
        seat=event.seat,
        cell=event.cell,
        card=event.card,
        replaced=event.replaced,
        from_discard=event.from_discard,
    )


_PUBLIC: Final[dict[type, Callable[[Any], SoundingHappening]]] = {
    SoundingDealt: lambda event: SoundingHappening(kind=Kind.DEALT, card=event.upcard),
    SoundingInitialChosen: lambda event: SoundingHappening(kind=Kind.CHOSEN, seat=event.seat),
    SoundingInitialRevealed: lambda event: SoundingHappening(kind=Kind.REVEALED, seat=event.opener),
    SoundingOpenerDrawn: lambda event: SoundingHappening(kind=Kind.OPENER_DRAWN, seat=event.opener),
    SoundingCardDrawn: _drawn,
    SoundingDiscardTaken: lambda event: SoundingHappening(kind=Kind.TAKEN, seat=event.seat, card=event.card),
    SoundingTakeUndone: lambda event: SoundingHappening(
        kind=Kind.TAKE_UNDONE, seat=event.seat, card=event.card
    ),
    SoundingCardPlaced: _placed,
    SoundingCardThrown: lambda event: SoundingHappening(kind=Kind.THROWN, seat=event.seat, card=event.card),
    SoundingCellFlipped: lambda event: SoundingHappening(
        kind=Kind.FLIPPED, seat=event.seat, cell=event.cell, card=event.card
    ),
    SoundingColumnSwallowed: lambda event: SoundingHappening(
        kind=Kind.SWALLOWED, seat=event.seat, cell=event.column, card=event.card
    ),
    SoundingDiscardReshuffled: lambda _: SoundingHappening(kind=Kind.RESHUFFLED),
    SoundingDealClosed: lambda event: SoundingHappening(kind=Kind.CLOSED, seat=event.closer),
    SoundingGridRevealed: lambda event: SoundingHappening(
        kind=Kind.GRID_REVEALED, seat=event.seat, cells=event.cells
    ),
    SoundingDealScored: lambda event: SoundingHappening(kind=Kind.SCORED, seat=event.doubled),
}
