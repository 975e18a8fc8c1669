"""The strongest level: every play of the turn, and what the joker play-again could add to it."""

from __future__ import annotations

from typing import Final

from majlis.engine.games.numbers.arithmetic import minimal
from majlis.engine.games.numbers.cards import (
    AGAIN,
    CHANGERS,
    FIRST_PICTURE,
    NUMBER_OF,
    without,
)
from majlis.engine.games.numbers.legal import PLAY_AGAIN, plays
from majlis.engine.games.numbers.scoring import bonus
from majlis.engine.games.numbers.state import (
    AGAIN as AFTER_AGAIN,
)
from majlis.engine.games.numbers.state import (
    NOTHING,
    PLAYED,
    State,
    next_player,
    put,
    team_of,
)
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import NumbersAgain, NumbersCalculate, NumbersJoker, NumbersPlay

CARD: Final = 3.0
"""What one card less in the hand is worth, in points."""
OUT: Final = 12.0
"""What it is worth to be out."""
DEEP: Final = 12
"""So many plays are looked at for what could follow the joker play-again."""
HARD: Final = 1.5
"""What the hardest number left to the next player is worth."""


class Planner:
    """The turn of one seat."""

    def __init__(self, state: State, seat: int) -> None:
        self.state = state
        self.seat = seat
        self.operations = state.frame.options.operations
        follower = next_player(state.frame, seat)
        self.is_partner = follower != seat and team_of(state.frame, follower) == team_of(state.frame, seat)

    def best(self) -> Command | None:
        """The play that is worth most; None where to play is worth less than to keep the cards."""
        phase = self.state.phase
        if phase is PLAYED:
            return PLAY_AGAIN if self._gain_again(self.state) > 0 else None
        ranked = self._ranked(self.state)
        if not ranked:
            return None
        best = max(ranked[:DEEP], key=lambda pair: pair[0] + self._follow(pair[1]))
        if isinstance(best[1], NumbersAgain):
            return best[1] if self._gain_again(self.state) > 0 else None
        return best[1]

    def _ranked(self, state: State) -> list[tuple[float, Command]]:
        found = [(self._worth(state, play), play) for play in plays(state, self.seat)]
        return sorted(found, key=lambda pair: -pair[0])

    def _worth(self, state: State, play: Command) -> float:
        """Of this play alone."""
        if isinstance(play, NumbersAgain):
            return 0.0
        cards = cards_of(play)
        worth = CARD * len(cards)
        if isinstance(play, NumbersCalculate):
            worth += bonus(len(cards))
        if len(state.hands[self.seat]) == len(cards):
            return worth + OUT
        return worth + self._left(state, cards)

    def _left(self, state: State, cards: bytes) -> float:
        """What lies there for the next player, and what the hand can make of what is left."""
        last = cards[-1]
        if last in CHANGERS:
            return 0.0
        left = without(state.hands[self.seat], cards)
        hardness = _hardness(self.operations, last)
        lonely = sum([1 for card in left if left.count(card) > 1]) * 0.1
        return (-hardness if self.is_partner else hardness) - lonely

    def _follow(self, play: Command) -> float:
        """What the joker play-again adds after this play."""
        if isinstance(play, NumbersJoker) and play.cover is None:
            return 0.0
        if isinstance(play, NumbersAgain):
            return self._gain_again(self.state)
        return max(0.0, self._gain_again(self._after(self.state, play)))

    def _after(self, state: State, play: Command) -> State:
        cards = cards_of(play)
        hand = without(state.hands[self.seat], cards)
        return State(
            state.frame,
            PLAYED,
            turn=self.seat,
            hands=put(state.hands, self.seat, hand),
            target=cards[-1],
            drawn=NOTHING,
        )

    def _gain_again(self, state: State) -> float:
        """What the joker play-again is worth here: its card, and the best play on the card under it."""
        hand = state.hands[self.seat]
        if AGAIN not in hand or state.target == NOTHING:
            return 0.0
        rest = without(hand, bytes([AGAIN]))
        if not rest:
            return 1.0
        after = State(
            state.frame,
            AFTER_AGAIN,
            turn=self.seat,
            hands=put(state.hands, self.seat, rest),
            target=state.target,
        )
        ranked = self._ranked(after)
        best = ranked[0][0] if ranked else -CARD
        return best + CARD


def cards_of(play: Command) -> bytes:
    """The cards of a play, as put down."""
    if isinstance(play, NumbersCalculate):
        return play.cards
    if isinstance(play, NumbersPlay):
        return bytes([play.card])
    if isinstance(play, NumbersJoker):
        return bytes([play.joker]) if play.cover is None else bytes([play.joker, play.cover])
    return b""


def _hardness(operations: str, card: int) -> float:
    """The fewer calculations make the number, the harder; a picture can be played on by its picture too."""
    ways = len(minimal(operations, NUMBER_OF[card]))
    return HARD * (1 - ways / 130) + (0.5 if card < FIRST_PICTURE else 0.0)
