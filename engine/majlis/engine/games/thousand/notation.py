"""Positions and commands of Thousand as text, for scenario files (`majlis.engine.scenario`).

A position is `{fresh: 3}` (before the first deal), or a mapping with `hands` and any of the other keys of KEYS. Cards are
rank and suit, `TS` the ten of spades; a set of cards is a text of them. What the position does not name of the 24 cards is nowhere
(`rest: none`, the default: an abridged pack), in the hands up to their size and then in the talon or with the declarer's tricks
(`rest: dealt`), or in the tricks of a seat (`rest: 0`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.thousand.cards import (
    ALL,
    MARRIAGES,
    PACK,
    RANKS,
    SUITS,
    cards_of,
    set_of,
)
from majlis.engine.games.thousand.expectation import check
from majlis.engine.games.thousand.legal import may_request
from majlis.engine.games.thousand.position import ANSWERS
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    DECLINED,
    GIVE_LEFT,
    GIVE_RIGHT,
    HAND,
    LEFT,
    NOBODY,
    REDEAL,
    REQUESTED,
    SEATS,
    TRICK,
    UNANSWERED,
    Frame,
    State,
)
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.wire import COMMAND_TYPES

__all__ = ["check", "command_from", "position_from", "rearranged"]

KEYS: Final = frozenset(
    "hands phase turn dealer deal redeals scores attempts answers bids passed declarer bid contract gifts talon shown "
    "leader trick trump tricks won declared last_trick last_leader rest".split()
)
PHASES: Final = {
    phase.name.lower(): phase for phase in (REDEAL, AUCTION, GIVE_LEFT, GIVE_RIGHT, CONTRACT, TRICK)
}


def card_from(name: Any) -> int:
    """9S to AH -> 0 to 23; raises ValueError."""
    text = str(name)
    if len(text) != 2 or text[0] not in RANKS or text[1] not in SUITS:
        raise ValueError(f"{name!r} is not a card: rank 9 J Q K T A, then suit S C D H")
    return SUITS.index(text[1]) * 6 + RANKS.index(text[0])


def cards_from(names: Any) -> bytes:
    """A text or a list of cards, in its order."""
    listed = names.split() if isinstance(names, str) else (names or [])
    return bytes([card_from(name) for name in listed if name != "none"])


def command_from(name: str, args: Mapping[str, Any]) -> Command:
    """The command stored as `thousand_<name>`; `card` by name, `amount` as a number."""
    kind = COMMAND_TYPES.get(f"thousand_{name}")
    if kind is None:
        raise ValueError(f"Thousand has no command {name!r}")
    values = {key: card_from(value) if key == "card" else value for key, value in args.items()}
    try:
        command: Command = kind(**values)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    return command


def position_from(position: Mapping[str, Any], options: Any, chance: Chance) -> State:
    """The state that the text describes; raises ValueError with a sentence."""
    if "fresh" in position:
        return State(Frame(options, chance))
    unknown = position.keys() - KEYS
    if unknown:
        raise ValueError(f"a position has no {', '.join(sorted(unknown))}")
    phase = PHASES[position.get("phase", "trick")]
    declared = [_marriage(each) for each in str(position.get("declared", "")).split()]
    trump = position.get("trump")
    state = State(
        frame=_frame(position, options, chance),
        phase=phase,
        decision_id=1,
        turn=None if phase is REDEAL else position.get("turn", 0),
        hands=_sets(position["hands"]),
        talon=set_of(cards_from(position.get("talon", ""))),
        leader=position.get("leader", 0),
        trick=cards_from(position.get("trick", "")),
        trump=-1 if trump in (None, "none") else SUITS.index(trump),
        tricks=position.get("tricks", 1 if phase is TRICK else 0),
        won=_sets(position.get("won", ["", "", ""])),
        declared=bytes(declared),
        last_trick=cards_from(position.get("last_trick", "")),
        last_leader=position.get("last_leader", 0),
    )
    return _completed(state, position.get("rest", "none"))


def _frame(position: Mapping[str, Any], options: Any, chance: Chance) -> Frame:
    bids = _three(position.get("bids", NOBODY))
    return Frame(
        options=options,
        chance=chance,
        deal=position.get("deal", 1),
        redeals=position.get("redeals", 0),
        dealer=position.get("dealer", 2),
        scores=_three(position.get("scores", NOBODY)),
        attempts=_three(position.get("attempts", NOBODY)),
        answers=_three([ANSWERS.index(answer) for answer in position.get("answers", ["-"] * SEATS)]),
        bids=bids,
        passed=sum(1 << seat for seat in position.get("passed", [])),
        declarer=position.get("declarer"),
        bid=position.get("bid", max(bids)),
        contract=position.get("contract", 0),
        shown_talon=set_of(cards_from(position.get("shown", ""))),
        given=tuple(cards_from(position.get("gifts", ""))),
    )


def _three(values: Sequence[int]) -> tuple[int, int, int]:
    if len(values) != SEATS:
        raise ValueError(f"three seats play, here are {len(values)} values: {list(values)}")
    first, second, third = values
    return (first, second, third)


def _sets(texts: Sequence[Any]) -> tuple[int, int, int]:
    return _three([set_of(cards_from(text)) for text in texts])


def _marriage(text: str) -> int:
    return int(text[0]) * len(MARRIAGES) + SUITS.index(text[1])


def _completed(state: State, rest: Any) -> State:
    """The cards that the position does not name, in an order drawn from the chance, go to their place."""
    if rest == "none":
        return state
    places = [*state.hands, *state.won, state.talon, set_of(state.trick)]
    named = 0
    for cards in places:
        if named & cards:
            raise ValueError("a card lies in two places")
        named |= cards
    left = list(state.frame.chance.stream(0, "rest").shuffle(cards_of(ALL & ~named)))
    won = list(state.won)
    if rest != "dealt":
        won[int(rest)] |= set_of(left)
        return replace(state, won=_three(won))
    hands = list(state.hands)
    for seat in range(SEATS):
        while hands[seat].bit_count() < _hand_size(state, seat):
            hands[seat] |= 1 << left.pop()
    if state.phase in (REDEAL, AUCTION):
        return replace(state, hands=_three(hands), talon=state.talon | set_of(left))
    won[state.frame.declarer or 0] |= set_of(left)
    return replace(state, hands=_three(hands), won=_three(won))


def _hand_size(state: State, seat: int) -> int:
    if state.phase is TRICK:
        played = (seat - state.leader) % SEATS < len(state.trick)
        return HAND + 1 - state.tricks - played
    given = {GIVE_LEFT: 0, GIVE_RIGHT: 1, CONTRACT: 2}.get(state.phase)
    if given is None or state.frame.declarer is None:
        return HAND
    if seat == state.frame.declarer:
        return HAND + 3 - given
    return HAND + (given > (0 if LEFT[state.frame.declarer] == seat else 1))


def rearranged(state: State, viewer: int, stream: Stream) -> State:
    """The same position with everything that this viewer may not know dealt anew: hands, talon, answers, the seed."""
    frame, phase = state.frame, state.phase
    known = [_known_to(state, viewer, seat) for seat in range(SEATS)]
    hidden = state.talon
    for hand, seen in zip(state.hands, known, strict=True):
        hidden |= hand & ~seen
    cards = list(stream.shuffle(cards_of(hidden)))
    hands = []
    for hand, seen in zip(state.hands, known, strict=True):
        unseen = (hand & ~seen).bit_count()
        hands.append(seen | set_of(cards[:unseen]))
        cards = cards[unseen:]
    chance = replace(frame.chance, server_seed=stream.shuffle(PACK) + bytes(8))
    moved = replace(state, frame=replace(frame, chance=chance), hands=_three(hands), talon=set_of(cards))
    if phase is not REDEAL:
        return moved
    answers = [
        answer if seat == viewer or answer == UNANSWERED else _any_answer(moved, seat, stream)
        for seat, answer in enumerate(frame.answers)
    ]
    return replace(moved, frame=replace(moved.frame, answers=_three(answers)))


def _known_to(state: State, viewer: int, seat: int) -> int:
    """The cards of a hand that the viewer knows: all of his own, and of others what he gave them."""
    frame, hand = state.frame, state.hands[seat]
    if viewer == seat:
        return hand
    if viewer == SPECTATOR or viewer != frame.declarer:
        return 0
    place = 0 if LEFT[viewer] == seat else 1
    return hand & set_of(frame.given[place : place + 1])


def _any_answer(state: State, seat: int, stream: Stream) -> int:
    return stream.choose((DECLINED, REQUESTED)) if may_request(state, seat) else DECLINED
