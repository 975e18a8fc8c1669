"""The canonical text of a position, and the cards in it counted."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.engine.games.thousand.cards import ALL, SUITS, cards_of, names, set_of, set_points
from majlis.engine.games.thousand.scoring import read_sheet
from majlis.engine.games.thousand.state import SEATS, State

ANSWERS = ("-", "declined", "requested")


def position(state: State) -> str:
    """Everything that play depends on, secrets included, a fact a line; never the options and the seed."""
    frame = state.frame
    sheet = read_sheet(frame.sheet)
    scored = frame.last.deal if frame.last is not None else 0
    lines = [
        f"thousand deal {frame.deal} redeals {frame.redeals} phase {state.phase.name.lower()} turn {text(state.turn)}",
        f"dealer {frame.dealer} answers {' '.join([ANSWERS[answer] for answer in frame.answers])}",
        f"scores {numbers(frame.scores)} attempts {numbers(frame.attempts)} scored {scored}",
        *[
            f"scored: declarer {declarer} contract {contract}: {numbers(sheet.results[3 * i : 3 * i + 3])}"
            for i, (declarer, contract) in enumerate(zip(sheet.declarers, sheet.contracts, strict=True))
        ],
        f"bids {numbers(frame.bids)} passed {_seats(frame.passed)} bid {frame.bid}",
        f"declarer {text(frame.declarer)} contract {frame.contract} gifts {names(frame.given)}",
        f"talon {names(cards_of(state.talon))} shown {names(cards_of(frame.shown_talon))}",
        *[f"seat {seat}: {names(cards_of(hand))}" for seat, hand in enumerate(state.hands)],
        f"trick {state.tricks + 1} leader {state.leader}: {names(state.trick)}",
        f"trump {trump_name(state)} declared {declared_text(state)}",
        *[f"won {seat}: {names(cards_of(won))}" for seat, won in enumerate(state.won)],
        f"last trick {state.last_leader}: {names(state.last_trick)}",
    ]
    return "\n".join(lines) + "\n"


def text(number: int | None) -> str:
    """A number that may be missing."""
    return "-" if number is None else str(number)


def numbers(values: Iterable[int]) -> str:
    """Numbers with commas."""
    return ",".join(map(str, values)) or "-"


def _seats(mask: int) -> str:
    return numbers([seat for seat in range(SEATS) if mask >> seat & 1])


def trump_name(state: State) -> str:
    """S, C, D, H, or - while there is none."""
    return "-" if state.trump < 0 else SUITS[state.trump]


def declared_text(state: State) -> str:
    """The marriages in the order of declaration: 0S 2H."""
    return " ".join([f"{each // 4}{SUITS[each % 4]}" for each in state.declared]) or "none"


def is_conserved(state: State) -> bool:
    """THO-2, THO-4: the 24 cards lie each in one place and are worth 120; before the first deal there are none."""
    places = [*state.hands, *state.won, state.talon, set_of(state.trick)]
    everything = 0
    for cards in places:
        everything |= cards
    if not everything:
        return state.frame.deal == 0
    once = sum([cards.bit_count() for cards in places]) == ALL.bit_count()
    return once and everything == ALL and sum(map(set_points, places)) == 120
