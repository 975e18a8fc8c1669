"""Positions and commands of Sounding as text, for scenario files (`majlis.engine.scenario`).

A position is `{fresh: SEATS}` (before the first deal), or a mapping with `grids` and any of the other keys of KEYS.
A grid is three rows: cells are `5` face up, `?[7]` face down, `?` face down with any card, `-` swallowed; rows are divided by `/` or
line ends; `hidden` is a grid of twelve `?`. Piles are lists of values. What the position does not name of the 150
cards lies beneath the stock (`rest: stock`), beneath the discard pile (`rest: discard`) or nowhere (`rest: none`: an abridged deck).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.games.sounding.expectation import check
from majlis.engine.games.sounding.state import (
    CELLS,
    COLUMNS,
    DECK,
    DRAWN,
    FACE_DOWN,
    INITIAL_FLIPS,
    OFFSET,
    SWALLOWED,
    TAKEN,
    TURN,
    Frame,
    State,
    turn_order,
)
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.sounding import SoundingChooseInitial
from majlis.engine.vocabulary.wire import COMMAND_TYPES

__all__ = ["check", "command_from", "position_from"]

KEYS: Final = frozenset(
    "grids phase turn stock discard rest in_hand totals deal opener closer last_turns chosen idle reshuffles undone".split()
)
PHASES: Final = {"initial_flips": INITIAL_FLIPS, "turn": TURN, "drawn": DRAWN, "taken": TAKEN}
ANY: Final = 255
"""A face-down cell whose card is not named, while a position is read."""

_CELL: Final = re.compile(r"r([1-3])c([1-4])")
_GRID_CELL: Final = re.compile(r"(-?\d+)|\?\[(-?\d+)\]|(\?)|(-)")


def cell_from(name: Any) -> int:
    """r1c1 to r3c4 -> 0 to 11; raises ValueError."""
    match = _CELL.fullmatch(str(name))
    if match is None:
        raise ValueError(f"{name!r} is not a cell: they are named r1c1 to r3c4")
    return (int(match[1]) - 1) * COLUMNS + int(match[2]) - 1


def card_from(value: Any) -> int:
    """-2 to 12 -> the card's byte; raises ValueError."""
    number = int(value)
    if not -2 <= number <= 12:
        raise ValueError(f"there is no card {number}: values run from -2 to 12")
    return number + OFFSET


def pile_from(values: Any) -> bytes:
    """A list of values, or a text of them."""
    listed = values.split() if isinstance(values, str) else values
    return bytes([card_from(value) for value in listed])


def grid_from(text: str) -> bytes:
    """A grid as text -> its bytes, with ANY where the card is not named; raises ValueError."""
    if text.strip() == "hidden":
        return bytes([ANY]) * CELLS
    cells = [_grid_cell(cell) for cell in text.replace("/", " ").split()]
    if len(cells) != CELLS:
        raise ValueError(f"a grid has 12 cells, this one {len(cells)}: {text.strip()!r}")
    return bytes(cells)


def _grid_cell(text: str) -> int:
    match = _GRID_CELL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no cell of a grid: 5, ?[7], ? and - are")
    up, down, unknown, _swallowed = match.groups()
    if up is not None:
        return card_from(up)
    if down is not None:
        return card_from(down) + FACE_DOWN
    return ANY if unknown else SWALLOWED


def command_from(name: str, args: Mapping[str, Any]) -> Command:
    """The command stored as `sounding_<name>`; cells by name. `choose_initial` takes `cells: [r1c1, r2c2]`."""
    kind = COMMAND_TYPES.get(f"sounding_{name}")
    if kind is None:
        raise ValueError(f"Sounding has no command {name!r}")
    if kind is SoundingChooseInitial:
        first, second = [cell_from(cell) for cell in args["cells"]]
        return SoundingChooseInitial(first=first, second=second)
    try:
        command: Command = kind(**{key: cell_from(value) for key, value in args.items()})
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    return command


def position_from(position: Mapping[str, Any], options: Any, chance: Chance) -> State:
    """The state that the text describes; raises ValueError with a sentence."""
    if "fresh" in position:
        seats = int(position["fresh"])
        return State(Frame(seats, options, chance, totals=(0,) * seats))
    unknown = position.keys() - KEYS
    if unknown:
        raise ValueError(f"a position has no {', '.join(sorted(unknown))}")
    grids = [grid_from(text) for text in position["grids"]]
    seats = len(grids)
    phase = PHASES[position.get("phase", "turn")]
    simultaneous = phase is INITIAL_FLIPS and options.initial_flips == "simultaneous"
    state = State(
        frame=Frame(
            seats,
            options,
            chance,
            deal=position.get("deal", 1),
            opener=position.get("opener"),
            totals=tuple(position.get("totals", [0] * seats)),
        ),
        phase=phase,
        decision_id=1,
        turn=None if simultaneous else position.get("turn", 0),
        stock=pile_from(position.get("stock", [])),
        discard=pile_from(position.get("discard", [])),
        in_hand=card_from(position["in_hand"]) if "in_hand" in position else None,
        closer=position.get("closer"),
        chosen=tuple([_mask(cells) for cells in position.get("chosen", [[]] * seats)])
        if phase is INITIAL_FLIPS
        else (),
        idle=bytes(position.get("idle", [0] * seats)),
        reshuffles=position.get("reshuffles", 0),
        undone=position.get("undone", False),
    )
    return _completed(_with_last_turns(state, position), grids, position.get("rest", "stock"))


def _mask(cells: Iterable[Any]) -> int:
    return sum(1 << cell_from(cell) for cell in cells)


def _with_last_turns(state: State, position: Mapping[str, Any]) -> State:
    """After a close: the seats from the turn's owner round to the closer, unless the position lists them."""
    if state.closer is None or state.turn is None:
        return state
    order = turn_order(state.frame, state.closer)
    left: Sequence[int] = position.get("last_turns", order[order.index(state.turn) :])
    return replace(state, last_turns=tuple(left))


def _completed(state: State, grids: list[bytes], rest: str) -> State:
    """The rest of the deck, in an order drawn from the chance, goes under cells with any card and to its place."""
    named = Counter(
        [byte % FACE_DOWN for grid in grids for byte in grid if byte not in (ANY, SWALLOWED)]
        + [*state.stock, *state.discard]
        + ([] if state.in_hand is None else [state.in_hand])
    )
    unused = Counter(DECK)
    unused.subtract(named)
    short = [card - OFFSET for card, left in unused.items() if left < 0]
    if short and rest != "none":
        raise ValueError(f"more cards than the deck has: {short}; `rest: none` allows it")
    cards = list(state.frame.chance.stream(0, "rest").shuffle(bytes(sorted((+unused).elements()))))
    filled = tuple([bytes([cards.pop() + FACE_DOWN if b == ANY else b for b in grid]) for grid in grids])
    left = bytes(cards)
    if rest == "stock":
        return replace(state, grids=filled, stock=state.stock + left)
    if rest == "discard":
        return replace(state, grids=filled, discard=left + state.discard)
    if rest == "none":
        return replace(state, grids=filled)
    raise ValueError(f"rest: {rest} is none of stock, discard, none")


def rearranged(state: State, viewer: int, stream: Stream) -> State:
    """The same position with everything that this viewer may not know dealt anew: face-down cells, the stock, another
    seat's drawn card, the cells others have chosen, the seed."""
    frame = state.frame
    is_private = state.phase is DRAWN and frame.options.drawn_card == "private" and state.turn != viewer
    in_hand = bytes([state.in_hand]) if is_private and state.in_hand is not None else b""
    down = bytes([byte - FACE_DOWN for grid in state.grids for byte in grid if byte >= FACE_DOWN])
    cards = stream.shuffle(down + state.stock + in_hand)
    hidden = iter(cards[: len(down)])
    rest = cards[len(down) :]
    is_secret = frame.options.initial_flips == "simultaneous"
    chosen = [
        _any_two(stream) if is_secret and mask and seat != viewer else mask
        for seat, mask in enumerate(state.chosen)
    ]
    return replace(
        state,
        frame=replace(frame, chance=replace(frame.chance, server_seed=stream.shuffle(bytes(range(32))))),
        grids=tuple(
            [bytes([next(hidden) + FACE_DOWN if b >= FACE_DOWN else b for b in grid]) for grid in state.grids]
        ),
        stock=rest[: len(state.stock)],
        in_hand=rest[-1] if in_hand else state.in_hand,
        chosen=tuple(chosen),
    )


def _any_two(stream: Stream) -> int:
    first, second, *_ = stream.shuffled(range(CELLS))
    return 1 << first | 1 << second
