"""The canonical text of a position, and the cards in it counted."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.engine.games.numbers.cards import NAME_OF, names, pack_of
from majlis.engine.games.numbers.state import NOTHING, State

RIGHTS = ("none", "symbol", "picture", "any")


def position(state: State) -> str:
    """Everything that play depends on, secrets included, a fact a line; never the options and the seed."""
    frame = state.frame
    lines = [
        f"numbers deal {frame.deal} extra {int(frame.extra)} redeals {frame.redeals} recycled {frame.recycled}",
        f"phase {state.phase.name.lower()} turn {state.turn} dealer {frame.dealer} order {numbers(frame.players)}",
        f"totals {numbers(frame.totals)} bonuses {numbers(frame.bonuses)} out {numbers(frame.out)}",
        f"recent {numbers(frame.recent)} ranks {numbers(frame.ranks)}",
        f"standing {' | '.join([numbers(group) for group in frame.standing]) or '-'}",
        *[f"seat {seat}: {names(hand)}" for seat, hand in enumerate(state.hands)],
        f"pile: {names(state.pile)}",
        f"ground: {names(state.ground)}",
        f"aside: {names(frame.aside)}",
        f"target {card_text(state.target)} rights {RIGHTS[state.rights]} drawn {card_text(state.drawn)}",
        f"has drawn {int(state.has_drawn)} moved {int(state.moved)} idle {state.idle}",
        f"thrown {names(state.thrown)} fault {state.fault.name.lower()}",
    ]
    return "\n".join(lines) + "\n"


def card_text(card: int) -> str:
    """A card that may be missing."""
    return "-" if card == NOTHING else NAME_OF[card]


def numbers(values: Iterable[int]) -> str:
    """Numbers with commas."""
    return ",".join(map(str, values)) or "-"


def is_conserved(state: State) -> bool:
    """NUM-1, NUM-2: every card of the level's pack lies in one place; before the first deal there are none."""
    cards = b"".join([*state.hands, state.pile, state.ground, state.frame.aside, state.thrown])
    if not cards:
        return state.frame.deal == 0
    return bytes(sorted(cards)) == pack_of(state.frame.options.level)
