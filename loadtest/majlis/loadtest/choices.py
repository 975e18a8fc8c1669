"""Random legal moves, chosen from what a seat is shown and nothing else: one function for each game."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Final

from majlis.v1 import entry_pb2, sounding_pb2, view_pb2

Options = Mapping[str, str]
"""A match's options by name."""
Chooser = Callable[[view_pb2.MatchView, view_pb2.SeatPrivateView, Options], entry_pb2.Command | None]
"""A legal command, or None where the view allows none."""

_CELLS: Final = range(12)
_DRAW: Final = entry_pb2.Command(sounding_draw=sounding_pb2.SoundingDraw())
_TAKE: Final = entry_pb2.Command(sounding_take_discard=sounding_pb2.SoundingTakeDiscard())
_UNDO: Final = entry_pb2.Command(sounding_undo_take=sounding_pb2.SoundingUndoTake())
_TAKE_TO: Final = [
    entry_pb2.Command(sounding_take_discard=sounding_pb2.SoundingTakeDiscard(cell=cell)) for cell in _CELLS
]
_PLACE: Final = [entry_pb2.Command(sounding_place=sounding_pb2.SoundingPlace(cell=cell)) for cell in _CELLS]
_FLIP: Final = [entry_pb2.Command(sounding_flip=sounding_pb2.SoundingFlip(cell=cell)) for cell in _CELLS]
_THROW: Final = [
    entry_pb2.Command(sounding_throw_and_flip=sounding_pb2.SoundingThrowAndFlip(cell=cell)) for cell in _CELLS
]
_PAIRS: Final = {
    (first, second): entry_pb2.Command(
        sounding_choose_initial=sounding_pb2.SoundingChooseInitial(first=first, second=second)
    )
    for first, second in combinations(_CELLS, 2)
}


def sounding(
    public: view_pb2.MatchView, private: view_pb2.SeatPrivateView, options: Options
) -> entry_pb2.Command | None:
    """A move of Sounding, each legal one equally likely."""
    phase, mine = public.sounding.phase, private.sounding
    flips = cells(mine.may_flip)
    if phase == sounding_pb2.SOUNDING_PHASE_INITIAL_FLIPS:
        return _PAIRS[tuple(sorted(random.sample(flips, 2)))] if flips else None  # type: ignore[index]
    found = [_PLACE[cell] for cell in cells(mine.may_place)]
    flip = _THROW if phase == sounding_pb2.SOUNDING_PHASE_DRAWN else _FLIP
    found += [flip[cell] for cell in flips]
    if mine.may_take:
        takes = cells(mine.may_take)
        found += [_TAKE] if options.get("undo_take") == "once" else [_TAKE_TO[cell] for cell in takes]
    if mine.may_draw:
        found.append(_DRAW)
    if mine.may_undo:
        found.append(_UNDO)
    return random.choice(found) if found else None


@lru_cache(maxsize=4096)
def cells(mask: int) -> tuple[int, ...]:
    """The cells whose bits are set."""
    return tuple(cell for cell in _CELLS if mask >> cell & 1)


CHOOSERS: Final[dict[str, Chooser]] = {"sounding": sounding}
"""By game key."""
