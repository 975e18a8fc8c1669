"""How a match opens and its seats are taken (DESIGN §5, §6 "Fairness")."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.engine.history import fold
from majlis.engine.match import SEATING, accepted_before, info
from majlis.engine.shuffle import combine_entropy, commitment
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import (
    Abort,
    ComputerLevel,
    Controller,
    MatchOpened,
    MatchStarted,
    Option,
    Pause,
    Resume,
    SeatSetup,
    SeatTakenOver,
    SubstituteComputer,
    TakeSeat,
)
from majlis.engine.vocabulary.sounding import SoundingDealt
from tests.support.matches import COMPUTER, PERSON, START_MS, Played, names, opening, refused, seed


def dealt(it: Played) -> bytes:
    return next(
        event.order for step in it.steps for event in step.entry.events if isinstance(event, SoundingDealt)
    )


def test_computers_alone_begin_at_once() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    assert names(it.events) == ["MatchOpened", "MatchStarted", "SoundingDealt", "DecisionOpened"]
    assert it.state.started_at_ms == START_MS
    assert it.waiting_for == (0, 1)


def test_persons_are_waited_for_until_the_seating_deadline() -> None:
    it = Played.of(PERSON, COMPUTER, PERSON, seating_timeout_ms=5000)
    assert names(it.events) == ["MatchOpened", "DecisionOpened"]
    assert (it.decision_id, it.waiting_for, it.due_ms) == (SEATING, (0, 2), START_MS + 5000)
    it.sit(2)
    assert it.waiting_for == (0,)
    it.sit(0)
    assert names(it.events) == ["SeatTaken", "MatchStarted", "SoundingDealt", "DecisionOpened"]
    assert it.decision_id == 1


def test_persons_have_two_minutes_when_the_opening_does_not_say() -> None:
    assert Played.of(PERSON, COMPUTER).due_ms == START_MS + 120_000


def test_whoever_does_not_come_is_replaced_by_the_computer_and_the_match_begins() -> None:
    it = Played.of(PERSON, PERSON)
    it.sit(1)
    it.expire()
    assert it.events[0] == SeatTakenOver(seat=0, reason="absent")
    assert names(it.events)[1:] == ["MatchStarted", "SoundingDealt", "DecisionOpened"]
    assert [seat.controller for seat in it.state.seats] == [COMPUTER, PERSON]
    assert it.state.seats[0].computer_moves == 0


def test_the_entropy_of_the_seats_goes_into_the_shuffle() -> None:
    def order(first: bytes, second: bytes, **fields: Any) -> bytes:
        it = Played.of(PERSON, PERSON, **fields)
        it.seat(1, TakeSeat(entropy=second), decision_id=SEATING)
        it.seat(0, TakeSeat(entropy=first), decision_id=SEATING)
        started = next(event for event in it.events if isinstance(event, MatchStarted))
        expected = b"" if fields else combine_entropy([first, second])
        assert started.player_entropy == expected
        return dealt(it)

    assert order(b"a", b"b") != order(b"b", b"a")
    assert order(b"a", b"b") == order(b"a", b"b")
    # Duplicate events: all tables of a board play the same cards, whoever sits there.
    board = "event-1/round-2/board-3"
    assert order(b"a", b"b", deal_context=board) == order(b"b", b"", deal_context=board)


def test_the_commitment_is_public_before_anybody_sits_and_the_seed_is_not() -> None:
    it = Played.of(PERSON, PERSON)
    assert info(it.state).commitment == commitment(seed("match"))
    assert seed("match") not in repr(info(it.state)).encode("unicode_escape")


def test_a_seat_is_taken_once_and_its_entropy_is_bounded() -> None:
    it = Played.of(PERSON, PERSON, COMPUTER)
    with refused("TOO_LARGE"):
        it.seat(0, TakeSeat(entropy=bytes(65)))
    it.seat(0, TakeSeat(entropy=bytes(64)))
    with refused("SEAT_TAKEN"):
        it.seat(0, TakeSeat())
    with refused("WRONG_SEAT"):
        it.seat(2, TakeSeat())
    with refused("WRONG_SEAT"):
        it.seat(3, TakeSeat())
    with refused("UNKNOWN_DECISION"):
        it.seat(1, TakeSeat(), decision_id=0)
    it.sit(1)
    with refused("SEAT_TAKEN"):
        it.seat(1, TakeSeat(), decision_id=SEATING)


def test_no_move_before_everybody_sits() -> None:
    it = Played.of(PERSON, COMPUTER)
    command = Played.of(COMPUTER, COMPUTER).legal(1)[0]
    for decision_id, code in ((1, "UNKNOWN_DECISION"), (SEATING, "WRONG_PHASE")):
        with refused(code):
            it.computer(1, command, decision_id=decision_id)


def test_a_substitute_for_the_last_person_begins_the_match() -> None:
    it = Played.of(PERSON, PERSON)
    it.sit(0)
    it.lobby(SubstituteComputer(seat=1, reason="no-show"))
    assert names(it.events) == ["SeatTakenOver", "MatchStarted", "SoundingDealt", "DecisionOpened"]


def test_a_match_that_is_complete_while_paused_begins_when_it_is_resumed() -> None:
    it = Played.of(PERSON, COMPUTER)
    it.director(Pause())
    with refused("MATCH_PAUSED"):
        it.sit(0)
    it.director(SubstituteComputer(seat=0, reason="no-show"))
    assert not it.state.started
    it.now_ms += 60_000
    it.director(Resume())
    assert names(it.events) == ["MatchResumed", "MatchStarted", "SoundingDealt", "DecisionOpened"]
    assert it.due_ms == it.now_ms + 30_000


def test_a_match_that_never_began_can_be_aborted() -> None:
    it = Played.of(PERSON, PERSON)
    it.director(Abort(reason="hall closed"))
    assert it.ended.places == ()
    assert fold(it.stored) == it.state


# --- what may be opened --------------------------------------------------------------------------------------------


def test_every_option_stands_in_the_first_entry_and_is_read_back_from_there() -> None:
    it = Played.of(COMPUTER, COMPUTER, options={"turn_ms": "5000", "stall_limit": "40"})
    opened = it.events[0]
    assert isinstance(opened, MatchOpened)
    listed = [option.name for option in opened.options]
    assert listed == sorted(listed)
    assert Option(name="turn_ms", value="5000") in opened.options
    assert Option(name="drawn_card", value="private") in opened.options
    assert fold(it.stored).options == it.state.options
    assert it.state.options.turn_ms == 5000
    assert info(it.state).options == opened.options


def test_the_newest_rules_version_is_written_out() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    assert it.steps[0].entry.rules_version == 1
    assert it.steps[0].entry.command == opening(COMPUTER, COMPUTER, rules_version=1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"nosuch": "1"}, "nosuch"),
        ({"turn_ms": "soon"}, "from 100 to 300000"),
        ({"turn_ms": "1"}, "from 100 to 300000"),
        ({"drawn_card": "perhaps"}, "private or public"),
    ],
)
def test_a_bad_option_is_named_with_what_it_may_be(options: dict[str, str], word: str) -> None:
    with refused("BAD_OPTION") as caught:
        Played.of(COMPUTER, COMPUTER, options=options)
    assert word in caught.value.detail + caught.value.remedy
    assert next(iter(options)) in caught.value.detail


def test_an_option_is_given_once() -> None:
    twice = (Option(name="turn_ms", value="500"), Option(name="turn_ms", value="600"))
    command = opening(COMPUTER, COMPUTER)
    with refused("BAD_OPTION"):
        Played(type(command)(game="sounding", seats=command.seats, server_seed=bytes(32), options=twice))


BAD_OPENINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "unknown game": ("UNKNOWN_GAME", {"game": "chess"}),
    "unknown rules version": ("UNKNOWN_RULES_VERSION", {"rules_version": 99}),
    "no seed": ("MALFORMED", {"server_seed": b""}),
    "short seed": ("MALFORMED", {"server_seed": bytes(31)}),
    "long context": ("TOO_LARGE", {"deal_context": "x" * 201}),
    "endless seating": ("TOO_LARGE", {"seating_timeout_ms": 24 * 3600 * 1000 + 1}),
    "one seat": ("BAD_SEATS", {"seats": (SeatSetup(controller=COMPUTER),)}),
    "no seats": ("BAD_SEATS", {"seats": ()}),
    "vacant seat": (
        "BAD_SEATS",
        {"seats": (SeatSetup(controller=COMPUTER), SeatSetup(controller=Controller.VACANT))},
    ),
    "nameless person": (
        "BAD_SEATS",
        {"seats": (SeatSetup(controller=COMPUTER), SeatSetup(controller=PERSON))},
    ),
    "same player twice": ("BAD_SEATS", {"seats": (SeatSetup(controller=PERSON, player_id="a"),) * 2}),
    "long player id": (
        "TOO_LARGE",
        {"seats": tuple(SeatSetup(controller=PERSON, player_id=c * 65) for c in "ab")},
    ),
}


@pytest.mark.parametrize("name", BAD_OPENINGS)
def test_what_cannot_be_opened_is_refused(name: str) -> None:
    code, fields = BAD_OPENINGS[name]
    with refused(code):
        Played.of(COMPUTER, COMPUTER, **fields)


def test_only_the_lobby_opens() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    with refused("FORBIDDEN"):
        it.director(opening(COMPUTER, COMPUTER))
    it.steps.clear()
    with refused("FORBIDDEN"):
        it.director(opening(COMPUTER, COMPUTER))
    with refused("UNKNOWN_MATCH"):
        it.director(Abort(reason="x"))


def test_a_match_is_opened_once_and_a_repeated_opening_is_known() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    with refused("MATCH_EXISTS"):
        it.lobby(opening(COMPUTER, COMPUTER, options={"turn_ms": "500"}))
    # The table draws another seed for the retry: it is the same opening.
    again = it.act_of(
        ActorKind.LOBBY, opening(COMPUTER, COMPUTER, server_seed=seed("other")), command_id="c1"
    )
    assert accepted_before(it.state, again) == 1
    other = it.act_of(ActorKind.LOBBY, opening(COMPUTER, COMPUTER, round=7), command_id="c1")
    with refused("DUPLICATE_COMMAND"):
        accepted_before(it.state, other)


def test_a_computer_without_a_level_plays_at_club_level() -> None:
    it = Played.of(COMPUTER, COMPUTER, seats=(SeatSetup(controller=COMPUTER), SeatSetup(controller=COMPUTER)))
    opened = it.events[0]
    assert isinstance(opened, MatchOpened)
    assert opened.seats[0].level is ComputerLevel.CLUB
    assert it.state.seats[0].level is ComputerLevel.CLUB
