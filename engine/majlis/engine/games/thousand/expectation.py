"""What a scenario of Thousand may expect: one complaint for each expectation that is not met.

Facts of the position: the keys of FACTS; `hands`, `won`, `sizes` (seat -> cards, or how many). Scores of the last deal scored:
`card_points marriage_points results made`; `places` (of an ended match; `none` while it goes on). `legal`: seat -> command -> cards,
amounts (`110..160` = from to, in steps), `yes` or `none`. `views`: `spectator` or seat -> fields of that view. `events`: in this
order, others may lie between; each is a name, or a name with fields. `only`: the names of all events, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from majlis.engine.games.thousand.cards import SUITS, card_name, cards_of, names
from majlis.engine.games.thousand.legal import legal
from majlis.engine.games.thousand.position import ANSWERS, declared_text, is_conserved, trump_name
from majlis.engine.games.thousand.scoring import places
from majlis.engine.games.thousand.state import OVER, SEATS, State
from majlis.engine.games.thousand.view import private_view, public_view
from majlis.engine.vocabulary.entry import Command, Event
from majlis.engine.vocabulary.wire import COMMAND_NAMES, EVENT_NAMES

PREFIX: Final = "thousand_"
CARD_FIELDS: Final = frozenset("card received given_left given_right".split())


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
    if isinstance(value, Iterable):
        return " ".join([_plain(each) for each in value]) or "none"
    return str(value)


def _last(state: State, name: str) -> Any:
    return getattr(state.frame.last, name, None)


FACTS: Final[dict[str, Callable[[State], Any]]] = {
    "phase": lambda state: state.phase.name.lower(),
    "turn": lambda state: state.turn,
    "deal": lambda state: state.frame.deal,
    "redeals": lambda state: state.frame.redeals,
    "dealer": lambda state: state.frame.dealer,
    "answers": lambda state: [ANSWERS[answer] for answer in state.frame.answers],
    "declarer": lambda state: state.frame.declarer,
    "bid": lambda state: state.frame.bid,
    "bids": lambda state: state.frame.bids,
    "passed": lambda state: [seat for seat in range(SEATS) if state.frame.passed >> seat & 1],
    "contract": lambda state: state.frame.contract,
    "talon": lambda state: cards_of(state.talon),
    "shown": lambda state: cards_of(state.frame.shown_talon),
    "leader": lambda state: state.leader,
    "trick": lambda state: state.trick,
    "tricks": lambda state: state.tricks,
    "trump": lambda state: None if state.trump < 0 else trump_name(state),
    "declared": declared_text,
    "scores": lambda state: state.frame.scores,
    "attempts": lambda state: state.frame.attempts,
    "conserved": is_conserved,
    "card_points": lambda state: _last(state, "card_points"),
    "marriage_points": lambda state: _last(state, "marriage_points"),
    "results": lambda state: _last(state, "results"),
    "made": lambda state: _last(state, "made"),
    "places": lambda state: places(state.frame.scores) if state.phase is OVER else None,
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
    """Cards in the order of the pack, however they were written."""
    text = _plain(wanted)
    order = {card_name(card): card for card in range(24)}
    return " ".join(sorted(text.split(), key=lambda word: order.get(word, -1)))


def _legal(state: State, expected: Mapping[int, Mapping[str, Any]]) -> list[str]:
    problems = []
    for seat, kinds in expected.items():
        commands = list(legal(state, seat))
        for kind, wanted in kinds.items():
            found = [
                _argument(command) for command in commands if COMMAND_NAMES[type(command)] == PREFIX + kind
            ]
            sought = _amounts(wanted, state) if kind in ("bid", "contract") else _sorted_cards(wanted)
            if _plain(found) != sought:
                problems.append(f"seat {seat} may {kind}: {_plain(found)}, not {sought}")
    return problems


def _argument(command: Command) -> str:
    card = getattr(command, "card", None)
    if card is not None:
        return card_name(card) + ("*" if getattr(command, "undeclared", False) else "")
    return str(getattr(command, "amount", "yes"))


def _amounts(wanted: Any, state: State) -> str:
    text = _plain(wanted)
    if ".." not in text:
        return text
    least, most = map(int, text.split(".."))
    return _plain(range(least, most + 1, state.frame.options.bid_step))


def _views(state: State, expected: Mapping[Any, Mapping[str, Any]]) -> list[str]:
    problems = []
    for viewer, fields in expected.items():
        view: Any = public_view(state) if viewer == "spectator" else private_view(state, viewer)
        for name, wanted in fields.items():
            found = _field(name, getattr(view, name))
            if found != _plain(wanted):
                problems.append(f"{viewer} sees {name}: {found}, not {_plain(wanted)}")
    return problems


def _field(name: str, value: Any) -> str:
    if value is not None and name in CARD_FIELDS:
        return card_name(value)
    if value is not None and name in ("trump", "suit"):
        return SUITS[value]
    return _plain(value)


_SEVERAL: Final[dict[str, Callable[[State, Any], list[str]]]] = {
    "hands": _by_seat("hand", lambda state, seat: cards_of(state.hands[seat])),
    "won": _by_seat("tricks", lambda state, seat: cards_of(state.won[seat])),
    "sizes": _by_seat("number of cards", lambda state, seat: state.hands[seat].bit_count()),
    "legal": _legal,
    "views": _views,
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
