"""How a deal begins and ends: the deck, who opens, the reveal, the score."""

from __future__ import annotations

from majlis.engine.decider import Emitter
from majlis.engine.games.sounding.scoring import grid_points, penalised, results
from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DECK,
    MATCH_POINTS,
    OFFSET,
    SWALLOWED,
    TO_FACE_UP,
    Frame,
    State,
    has_hidden,
    is_complete,
    turn_order,
)
from majlis.engine.vocabulary.sounding import (
    SoundingColumnSwallowed,
    SoundingDealScored,
    SoundingDealt,
    SoundingGridRevealed,
    SoundingInitialRevealed,
    SoundingOpenerDrawn,
)

TO_VIEW = bytes(254 if byte == SWALLOWED else 255 if byte > SWALLOWED else byte for byte in range(256))
"""A cell as the state writes it -> as views write it (254 swallowed, 255 face down)."""


def deal(state: State) -> SoundingDealt:
    """The next deal (SND-3, SND-4): all 150 cards shuffled, or the stock going on (SND-O11)."""
    frame = state.frame
    number = frame.deal + 1
    stream = frame.chance.stream(number, "deck")
    dealt = CELLS * frame.seats
    beneath = b""
    if frame.options.new_deck == "each_deal" or not state.grids:
        order = stream.shuffle(DECK)
    else:
        order = state.stock
        beneath = state.discard + b"".join(state.grids).replace(bytes([SWALLOWED]), b"").translate(TO_FACE_UP)
        if len(order) <= dealt:
            order, beneath = order + stream.shuffle(beneath), b""
    return SoundingDealt(deal=number, order=order, upcard=order[dealt] - OFFSET, discard_pile=beneath)


def emit_opener(emit: Emitter[State]) -> None:
    """Who opens (SND-6): the highest sum of two, then the higher card, then by option (SND-O3)."""
    state = emit.state
    frame = state.frame
    shown = [[card for card in grid if card < SWALLOWED] for grid in state.grids]
    ranks = [(sum(cards), max(cards)) for cards in shown]
    best = max(ranks)
    tied = tuple([seat for seat, rank in enumerate(ranks) if rank == best])
    if len(tied) == 1:
        emit(SoundingInitialRevealed(opener=tied[0]))
    elif frame.options.opener_tie == "draw":
        opener = frame.chance.stream(frame.deal, "opener").choose(tied)
        emit(SoundingInitialRevealed())
        emit(SoundingOpenerDrawn(tied=tied, opener=opener))
    else:
        emit(SoundingInitialRevealed(opener=_tied_opener(frame, tied)))


def _tied_opener(frame: Frame, tied: tuple[int, ...]) -> int:
    if frame.options.opener_tie == "lowest_seat" or frame.opener is None:
        return tied[0]
    order = (*turn_order(frame, frame.opener), frame.opener)
    return min(tied, key=order.index)


def emit_reveal(emit: Emitter[State], seat: int) -> None:
    """The seat turns over what it still has face down; what comes together is swallowed (SND-18, SND-O7)."""
    grid = emit.state.grids[seat]
    if not has_hidden(grid):
        return
    grid = grid.translate(TO_FACE_UP)
    emit(SoundingGridRevealed(seat=seat, cells=grid.translate(TO_VIEW)))
    if emit.state.frame.options.swallow_at_reveal == "yes":
        for column in range(COLUMNS):
            if is_complete(grid, column):
                emit(SoundingColumnSwallowed(seat=seat, column=column, card=grid[column] - OFFSET))


def emit_end(emit: Emitter[State]) -> None:
    """Everybody reveals, the deal is scored, and the next one is dealt unless the match is over (SND-18 to SND-22)."""
    for seat in range(emit.state.frame.seats):
        emit_reveal(emit, seat)
    state = emit.state
    frame, closer = state.frame, state.closer
    assert closer is not None, "a deal ends only after somebody has closed it"
    raw = tuple([grid_points(grid) for grid in state.grids])
    scored = results(raw, closer)
    emit(
        SoundingDealScored(
            deal=frame.deal,
            raw=raw,
            results=scored,
            doubled=closer if penalised(raw, closer) else None,
            totals=tuple([total + own for total, own in zip(frame.totals, scored, strict=True)]),
        )
    )
    if max(emit.state.frame.totals) < MATCH_POINTS:
        emit(deal(emit.state))
