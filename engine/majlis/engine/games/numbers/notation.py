"""Positions and commands of Numbers as text, for scenario files (`majlis.engine.scenario`).

A position is `{fresh: 4}` (before the first deal of four seats), or a mapping with `hands` (a text for each seat) and any of the other
keys of KEYS. Cards: `3s` a symbol, `3bee` a picture, `JN JP JA JR` the jokers; piles run from bottom to top. What the position does
not name of the pack is nowhere (`rest: none`, the default: an abridged pack) or shuffled into the draw pile, below what is named of it
(`rest: pile`). A calculation is written `10s - 4s / 2s`, from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.games.numbers.arithmetic import SIGNS
from majlis.engine.games.numbers.cards import CARD_OF, NAME_OF, pack_of, top_place
from majlis.engine.games.numbers.expectation import check
from majlis.engine.games.numbers.position import RIGHTS
from majlis.engine.games.numbers.state import NOTHING, TURN, Frame, State
from majlis.engine.games.numbers.view import partners_of
from majlis.engine.shuffle import Chance, Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.numbers import NumbersFault, NumbersPhase
from majlis.engine.vocabulary.wire import COMMAND_TYPES

__all__ = ["calculation_text", "check", "command_from", "position_from", "rearranged"]

KEYS: Final = frozenset(
    "hands ground pile phase turn dealer deal extra players out bonuses totals recent ranks standing rights drawn "
    "has_drawn moved idle thrown fault aside rest".split()
)


def card_from(name: Any) -> int:
    """3s, 3bee, JN … -> the card; raises ValueError."""
    card = CARD_OF.get(str(name))
    if card is None:
        raise ValueError(f"{name!r} is not a card: such as 3s, 3bee, JN")
    return card


def cards_from(names: Any) -> bytes:
    """A text of cards, in its order."""
    return bytes([card_from(name) for name in str(names or "").split() if name != "none"])


def calculation_from(text: Any) -> tuple[bytes, bytes]:
    """`10s - 4s / 2s` -> the cards, the operations; raises ValueError."""
    words = str(text).split()
    signs = words[1::2]
    if any(sign not in SIGNS for sign in signs):
        raise ValueError(f"{text!r} is not a calculation: cards with one of {' '.join(SIGNS)} between them")
    return cards_from(" ".join(words[::2])), bytes([SIGNS.index(sign) for sign in signs])


def calculation_text(cards: bytes, operations: bytes) -> str:
    """The text of a calculation."""
    words = [NAME_OF[cards[0]]] if cards else []
    for card, operation in zip(cards[1:], operations, strict=True):
        words += [SIGNS[operation], NAME_OF[card]]
    return " ".join(words)


def command_from(name: str, args: Mapping[str, Any]) -> Command:
    """The command stored as `numbers_<name>`; cards by name, a calculation as text under `cards`."""
    kind = COMMAND_TYPES.get(f"numbers_{name}")
    if kind is None:
        raise ValueError(f"Numbers has no command {name!r}")
    values: dict[str, Any] = dict(args)
    for key in ("card", "joker", "cover"):
        if key in values:
            values[key] = card_from(values[key])
    if "cards" in values:
        values["cards"], values["operations"] = calculation_from(values["cards"])
    try:
        command: Command = kind(**values)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    return command


def position_from(position: Mapping[str, Any], options: Any, chance: Chance) -> State:
    """The state that the text describes; raises ValueError with a sentence."""
    if "fresh" in position:
        return State(Frame(options, chance, int(position["fresh"])))
    unknown = position.keys() - KEYS
    if unknown:
        raise ValueError(f"a position has no {', '.join(sorted(unknown))}")
    hands = tuple([bytes(sorted(cards_from(hand))) for hand in position["hands"]])
    ground = cards_from(position.get("ground", ""))
    place = top_place(ground)
    drawn = position.get("drawn")
    state = State(
        frame=_frame(position, options, chance, len(hands)),
        phase=NumbersPhase[str(position.get("phase", TURN.name)).upper()],
        decision_id=1,
        turn=position.get("turn", 0),
        hands=hands,
        pile=cards_from(position.get("pile", "")),
        ground=ground,
        target=ground[place] if place >= 0 else NOTHING,
        rights=RIGHTS.index(position.get("rights", "none")),
        drawn=NOTHING if drawn is None else card_from(drawn),
        has_drawn=position.get("has_drawn", drawn is not None),
        moved=position.get("moved", drawn is not None),
        idle=position.get("idle", 0),
        thrown=cards_from(position.get("thrown", "")),
        fault=NumbersFault[str(position.get("fault", "unspecified")).upper()],
    )
    return _completed(state, position.get("rest", "none"))


def _frame(position: Mapping[str, Any], options: Any, chance: Chance, seats: int) -> Frame:
    zeros = [0] * seats
    return Frame(
        options=options,
        chance=chance,
        seats=seats,
        deal=position.get("deal", 1),
        extra=position.get("extra", False),
        dealer=position.get("dealer", seats - 1),
        players=tuple(position.get("players", range(seats))),
        out=tuple(position.get("out", ())),
        bonuses=_by_seat(position.get("bonuses", zeros), seats),
        totals=_by_seat(position.get("totals", zeros), seats),
        recent=_by_seat(position.get("recent", zeros), seats),
        ranks=_by_seat(position.get("ranks", zeros), seats),
        standing=tuple([tuple(group) for group in position.get("standing", [])]),
        aside=cards_from(position.get("aside", "")),
    )


def _by_seat(values: Sequence[int], seats: int) -> tuple[int, ...]:
    if len(values) != seats:
        raise ValueError(f"{seats} seats play, here are {len(values)} values: {list(values)}")
    return tuple(values)


def _completed(state: State, rest: Any) -> State:
    """The cards of the pack that the position does not name, in an order drawn from the chance, go below the pile."""
    if rest == "none":
        return state
    pack = list(pack_of(state.frame.options.level))
    for card in b"".join([*state.hands, state.pile, state.ground, state.thrown, state.frame.aside]):
        if card not in pack:
            raise ValueError(f"the pack has not so many {NAME_OF[card]}")
        pack.remove(card)
    left = state.frame.chance.stream(0, "rest").shuffle(bytes(pack))
    return replace(state, pile=left + state.pile)


def rearranged(state: State, viewer: int, stream: Stream) -> State:
    """The same position with everything that this viewer may not know dealt anew: hands, the pile, the seed."""
    known = {viewer, *[partner.seat for partner in partners_of(state, viewer)]} if viewer >= 0 else set()
    hidden = b"".join([hand for seat, hand in enumerate(state.hands) if seat not in known]) + state.pile
    cards = stream.shuffle(hidden)
    hands = []
    for seat, hand in enumerate(state.hands):
        if seat in known:
            hands.append(hand)
        else:
            hands.append(bytes(sorted(cards[: len(hand)])))
            cards = cards[len(hand) :]
    drawn = state.drawn
    if drawn != NOTHING and state.turn not in known:
        drawn = stream.choose(hands[state.turn])
    seed = stream.shuffle(bytes(range(32)))
    frame = replace(state.frame, chance=replace(state.frame.chance, server_seed=seed))
    return replace(state, frame=frame, hands=tuple(hands), pile=cards, drawn=drawn)
