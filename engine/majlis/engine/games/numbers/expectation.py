"""What a scenario of Numbers may expect: one complaint for each expectation that is not met.

Facts of the position: the keys of FACTS; `hands`, `sizes`, `can_play` (seat -> cards; how many; the single cards that fit). Scores of the last
deal: `points ranks places`. `legal`: seat -> command -> what is listed, or `none`. `views`: `spectator` or seat -> fields of that view.
`pack`: how many of each card named. `events`: in this order, others may lie between; each is a name, or a name with fields. `only`: the names
of all events, exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from majlis.engine.games.numbers.arithmetic import SIGNS
from majlis.engine.games.numbers.cards import CARD_OF, NAME_OF, names, pack_of
from majlis.engine.games.numbers.listing import Legal
from majlis.engine.games.numbers.position import RIGHTS, card_text, is_conserved
from majlis.engine.games.numbers.scoring import open_dispute
from majlis.engine.games.numbers.state import State, in_play
from majlis.engine.games.numbers.view import private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event
from majlis.engine.vocabulary.numbers import NumbersCalculate, NumbersDraw, NumbersJoker, NumbersPlay
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES

PREFIX: Final = "numbers_"
CARD_FIELDS: Final = frozenset("card joker cover drawn target".split())


def check(state: State, events: Sequence[Event], expectation: Mapping[str, Any]) -> list[str]:
    """One sentence for each expectation that is not met."""
    problems: list[str] = []
    for key, expected in expectation.items():
        if key == "events":
            problems += _events(events, expected)
        elif key == "only":
            happened = [_event_name(event) for event in events]
            if happened != expected:
                problems.append(f"the events are {happened}, not {expected}")
        elif key in _SEVERAL:
            problems += _SEVERAL[key](state, expected)
        elif key in FACTS:
            found = _plain(FACTS[key](state))
            if found != _plain(expected):
                problems.append(f"{key} is {found}, not {_plain(expected)}")
        else:
            problems.append(f"nothing is called {key!r} in an expectation")
    return problems


def _plain(value: Any) -> str:
    """A value as text, the same for what YAML gave and for what the state holds."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return names(value)
    if isinstance(value, str):
        return " ".join(value.split()) or "none"
    if hasattr(value, "name"):
        return str(value.name).lower()
    if isinstance(value, Iterable):
        return " ".join([_plain(each) for each in value]) or "none"
    return str(value)


def _last(state: State, name: str) -> Any:
    return getattr(state.frame.last, name, None)


FACTS: Final[dict[str, Callable[[State], Any]]] = {
    "phase": lambda state: state.phase.name.lower(),
    "turn": lambda state: state.turn,
    "deal": lambda state: state.frame.deal,
    "extra": lambda state: state.frame.extra,
    "redeals": lambda state: state.frame.redeals,
    "dealer": lambda state: state.frame.dealer,
    "players": lambda state: state.frame.players,
    "in_play": lambda state: sorted(in_play(state.frame)),
    "out": lambda state: state.frame.out,
    "bonuses": lambda state: state.frame.bonuses,
    "totals": lambda state: state.frame.totals,
    "ground": lambda state: state.ground,
    "pile": lambda state: state.pile,
    "pile_size": lambda state: len(state.pile),
    "pile_sorted": lambda state: bytes(sorted(state.pile)),
    "aside": lambda state: state.frame.aside,
    "target": lambda state: card_text(state.target),
    "rights": lambda state: RIGHTS[state.rights],
    "drawn": lambda state: card_text(state.drawn),
    "idle": lambda state: state.idle,
    "thrown": lambda state: state.thrown,
    "fault": lambda state: state.fault,
    "dispute": lambda state: open_dispute(state.frame),
    "conserved": is_conserved,
    "pack_size": lambda state: len(pack_of(state.frame.options.level)),
    "points": lambda state: _last(state, "points"),
    "ranks": lambda state: _last(state, "ranks"),
    "places": lambda state: _last(state, "places"),
    "over": lambda state: _last(state, "over"),
}


def _by_seat(name: str, find: Callable[[State, int], Any]) -> Callable[[State, Any], list[str]]:
    def complaints(state: State, expected: Mapping[int, Any]) -> list[str]:
        problems = []
        for seat, wanted in expected.items():
            found, sought = _plain(find(state, seat)), _sorted_cards(wanted)
            if found != sought:
                problems.append(f"seat {seat}'s {name}: {found}, not {sought}")
        return problems

    return complaints


def _sorted_cards(wanted: Any) -> str:
    """Cards in rising order, however they were written."""
    return " ".join(sorted(_plain(wanted).split(), key=lambda word: CARD_OF.get(word, -1)))


def _fitting(state: State, seat: int) -> bytes:
    return bytes(sorted([each.card for each in Legal(state, seat) if isinstance(each, NumbersPlay)]))


def _legal(state: State, expected: Mapping[int, Mapping[str, Any]]) -> list[str]:
    problems = []
    for seat, kinds in expected.items():
        commands = list(Legal(state, seat))
        for kind, wanted in kinds.items():
            listed = [each for each in commands if COMMAND_NAMES[type(each)] == PREFIX + kind]
            found = [_argument(command) for command in listed]
            sought = [_plain(each) for each in wanted] if isinstance(wanted, list) else _plain(wanted)
            if _plain(found) != _plain(sought):
                problems.append(f"seat {seat} may {kind}: {_plain(found)}, not {_plain(sought)}")
    return problems


def _argument(command: Command) -> str:
    if isinstance(command, NumbersCalculate):
        text = NAME_OF[command.cards[0]]
        for each, operation in zip(command.cards[1:], command.operations, strict=True):
            text += SIGNS[operation] + NAME_OF[each]
        return text
    if isinstance(command, NumbersJoker):
        return NAME_OF[command.joker] + ("" if command.cover is None else "+" + NAME_OF[command.cover])
    if isinstance(command, NumbersPlay):
        return NAME_OF[command.card]
    return "unseen" if isinstance(command, NumbersDraw) and command.keep else "yes"


def _views(state: State, expected: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    problems = []
    for viewer, fields in expected.items():
        view: Any = public_view(state) if viewer == "spectator" else private_view(state, viewer)
        for name, wanted in fields.items():
            if name == "partners":
                found = " / ".join([f"{each.seat}: {names(each.hand)}" for each in view.partners]) or "none"
            else:
                found = _field(name, getattr(view, name))
            if found != _plain(wanted):
                problems.append(f"{viewer} sees {name}: {found}, not {_plain(wanted)}")
    return problems


def _field(name: str, value: Any) -> str:
    if value is not None and name in CARD_FIELDS:
        return str(NAME_OF[value])
    if name == "operations":
        return "".join([SIGNS[operation] for operation in value]) or "none"
    return _plain(value)


def _pack(state: State, expected: Mapping[str, int]) -> list[str]:
    counted = Counter(b"".join([*state.hands, state.pile, state.ground, state.frame.aside, state.thrown]))
    return [
        f"there are {counted[CARD_OF[name]]} {name}, not {wanted}"
        for name, wanted in expected.items()
        if counted[CARD_OF[name]] != wanted
    ]


_SEVERAL: Final[dict[str, Callable[[State, Any], list[str]]]] = {
    "hands": _by_seat("hand", lambda state, seat: state.hands[seat]),
    "sizes": _by_seat("number of cards", lambda state, seat: len(state.hands[seat])),
    "can_play": _by_seat("fitting cards", _fitting),
    "legal": _legal,
    "views": _views,
    "pack": _pack,
}


def _events(events: Sequence[Event], expected: Sequence[Any]) -> list[str]:
    """Each expected event, found after the one before it."""
    position = 0
    for wanted in expected:
        found = next((i for i in range(position, len(events)) if _matches(events[i], wanted)), None)
        if found is None:
            happened = [_event_name(event) for event in events[position:]]
            return [f"no event {wanted} among {happened}"]
        position = found + 1
    return []


def _event_name(event: Event) -> str:
    return EVENT_NAMES[type(event)].removeprefix(PREFIX)


def _matches(event: Event, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return _event_name(event) == wanted
    ((name, fields),) = wanted.items()
    return _event_name(event) == name and all(
        _field(field, getattr(event, field)) == _plain(value) for field, value in fields.items()
    )
