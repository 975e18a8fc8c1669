"""Which command answers which decision, who may give it, and what a repeated command is told (DESIGN §5)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from majlis.engine.history import fold
from majlis.engine.match import SEATING, Act, accepted_before, open_decision
from majlis.engine.match.recent import KEPT
from majlis.engine.vocabulary.entry import ActorKind, Command, Entry
from majlis.engine.vocabulary.match import (
    CreditClock,
    DeadlinePassed,
    DecisionOpened,
    Pause,
    Resign,
    Resume,
    ReturnToSeat,
    TakeSeat,
)
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingDraw,
    SoundingFlip,
    SoundingTakeDiscard,
)
from majlis.engine.vocabulary.thousand import ThousandPass
from tests.support.matches import COMPUTER, PERSON, START_MS, Played, names, refused

CHOICE = SoundingChooseInitial(first=0, second=1)


def seated() -> Played:
    """Two persons and a computer, all seated: the initial flips are open."""
    it = Played.of(PERSON, PERSON, COMPUTER)
    it.sit()
    return it


def in_turns() -> tuple[Played, int, int]:
    """The same with the first turn open; its seat, and another person's or the computer's seat."""
    it = seated()
    for _ in range(3):
        it.play_one(lambda _state, _seat: CHOICE)
    turn = it.waiting_for[0]
    return it, turn, (turn + 1) % 3


def test_a_decision_has_one_id_while_seats_drop_out_of_it() -> None:
    it = seated()
    assert it.decision_id == 1
    due_ms = it.due_ms
    it.now_ms += 7000
    it.seat(1, CHOICE)
    assert names(it.events) == ["SoundingInitialChosen"]
    assert (it.decision_id, it.due_ms, it.waiting_for) == (1, due_ms, (0, 2))
    it.computer(2, CHOICE)
    it.seat(0, CHOICE)
    assert (it.decision_id, it.due_ms) == (2, it.now_ms + 30_000)


def test_ids_count_up_and_never_come_back() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    ids = []
    while it.state.ended is None:
        it.play_one()
        ids += [event.decision_id for event in it.events if isinstance(event, DecisionOpened)]
    assert ids == list(range(2, len(ids) + 2))


def test_a_closed_decision_is_stale_also_for_the_seat_that_has_just_decided() -> None:
    it = seated()
    it.seat(1, CHOICE)
    with refused("STALE_DECISION"):
        it.seat(1, CHOICE)
    it.computer(2, CHOICE)
    it.seat(0, CHOICE)
    for old in (1, SEATING):
        with refused("STALE_DECISION"):
            it.seat(0, SoundingDraw(), decision_id=old)


@pytest.mark.parametrize("decision_id", [0, 3, 1000, SEATING - 1])
def test_a_decision_that_was_never_open_is_unknown(decision_id: int) -> None:
    it, turn, _ = in_turns()
    with refused("UNKNOWN_DECISION"):
        it.move(turn, SoundingDraw(), decision_id=decision_id)


def test_another_seats_decision_is_not_yours() -> None:
    it, turn, other = in_turns()
    with refused("NOT_YOUR_TURN"):
        it.move(other, SoundingDraw())
    assert it.waiting_for == (turn,)


@pytest.mark.parametrize("seat", [3, 7, 2**31, None])
def test_a_seat_that_does_not_exist_is_a_wrong_seat(seat: int | None) -> None:
    it, _, _ = in_turns()
    with refused("WRONG_SEAT"):
        it.seat(seat, SoundingDraw())


def test_persons_move_for_persons_and_computers_for_computers() -> None:
    it = seated()
    with refused("WRONG_SEAT"):
        it.computer(0, CHOICE)
    with refused("WRONG_SEAT"):
        it.seat(2, CHOICE)
    for give in (it.lobby, it.director, it.platform):
        with refused("FORBIDDEN"):
            give(CHOICE, seat=0, decision_id=1)


def test_a_command_of_another_game_does_not_belong_here() -> None:
    it, turn, _ = in_turns()
    for command, code in ((ThousandPass(), "WRONG_PHASE"), (SoundingFlip(cell=2**32 - 1), "MALFORMED")):
        with refused(code):
            it.play_one(lambda _state, _seat, command=command: command)  # type: ignore[misc]
    assert it.waiting_for == (turn,)


OTHERS_COMMANDS: list[tuple[Command, frozenset[str]]] = [
    (TakeSeat(), frozenset({"SEAT"})),
    (Resign(), frozenset({"SEAT"})),
    (ReturnToSeat(), frozenset({"SEAT", "LOBBY", "DIRECTOR"})),
    (Pause(), frozenset({"LOBBY", "DIRECTOR"})),
    (Resume(), frozenset({"LOBBY", "DIRECTOR"})),
    (DeadlinePassed(), frozenset({"CLOCK"})),
    (CreditClock(to_ms=1, cause=1), frozenset({"PLATFORM"})),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("command", "allowed"), OTHERS_COMMANDS, ids=lambda value: type(value).__name__)
def test_who_may_not_give_a_command_is_forbidden_it(command: Command, allowed: frozenset[str]) -> None:
    it, turn, _ = in_turns()
    for kind in ActorKind:
        if kind is not ActorKind.UNSPECIFIED and kind.name not in allowed:
            with refused("FORBIDDEN"):
                it.give(it.act_of(kind, command, seat=turn, decision_id=it.decision_id))


def test_a_move_at_its_deadline_is_too_late_and_the_deadline_before_it_is_not_due() -> None:
    it, turn, _ = in_turns()
    it.now_ms = it.due_ms - 1
    with refused("NOT_DUE"):
        it.clock()
    it.now_ms += 1
    with refused("STALE_DECISION"):
        it.play_one()
    it.clock()
    assert names(it.events)[0] == "DecisionMissed"
    assert it.waiting_for != (turn,)


def test_a_deadline_of_a_closed_decision_is_ignored() -> None:
    it, _, _ = in_turns()
    it.now_ms += 10**6
    with refused("STALE_DECISION"):
        it.clock(decision_id=1)
    with refused("UNKNOWN_DECISION"):
        it.clock(decision_id=99)


def test_a_refusal_leaves_no_trace() -> None:
    it, turn, _ = in_turns()
    before, stored = it.state, it.stored
    with refused("UNKNOWN_DECISION"):
        it.move(turn, SoundingDraw(), decision_id=50)
    assert it.state == before
    assert it.stored == stored


def test_time_never_goes_backwards() -> None:
    it, _, _ = in_turns()
    it.now_ms -= 5000
    it.play_one()
    observed = it.steps[-1].entry.observed
    assert observed is not None
    assert observed.received_at_ms == START_MS
    assert it.state.last_ms == START_MS


def test_the_open_decision_names_the_seats_waited_for_now() -> None:
    it = seated()
    it.seat(1, CHOICE)
    decision = open_decision(it.state)
    assert decision is not None
    assert (decision.seats, decision.what_for, decision.due_ms) == ((0, 2), "initial_flips", it.due_ms)


# --- repeated commands ---------------------------------------------------------------------------------------------


def test_a_repeated_command_is_known_by_its_id() -> None:
    it = seated()
    act = it.act_of(ActorKind.SEAT, CHOICE, seat=1, decision_id=1, command_id="mine")
    assert accepted_before(it.state, act) is None
    number = it.give(act).entry.number
    assert accepted_before(it.state, act) == number
    assert accepted_before(fold(it.stored), act) == number


def test_an_id_used_for_another_command_is_refused() -> None:
    it = seated()
    it.seat(1, CHOICE, command_id="mine")
    other = it.act_of(
        ActorKind.SEAT, SoundingChooseInitial(first=0, second=2), seat=1, decision_id=1, command_id="mine"
    )
    with refused("DUPLICATE_COMMAND"):
        accepted_before(it.state, other)
    elsewhere = it.act_of(ActorKind.SEAT, CHOICE, seat=1, decision_id=2, command_id="mine")
    with refused("DUPLICATE_COMMAND"):
        accepted_before(it.state, elsewhere)


def test_ids_are_each_seats_own() -> None:
    it = seated()
    it.seat(1, CHOICE, command_id="mine")
    assert accepted_before(it.state, it.act_of(ActorKind.SEAT, CHOICE, seat=0, command_id="mine")) is None
    assert accepted_before(it.state, it.act_of(ActorKind.DIRECTOR, Pause(), command_id="mine")) is None


def test_a_directors_command_is_known_by_its_id() -> None:
    it = seated()
    number = it.director(Pause(reason="noise"), command_id="d1").entry.number
    again = it.act_of(ActorKind.DIRECTOR, Pause(reason="noise"), command_id="d1")
    assert accepted_before(it.state, again) == number
    with refused("DUPLICATE_COMMAND"):
        accepted_before(it.state, it.act_of(ActorKind.DIRECTOR, Resume(), command_id="d1"))


def test_the_last_32_commands_of_a_seat_are_remembered_and_an_older_one_meets_a_closed_decision() -> None:
    it = Played.of(PERSON, COMPUTER)
    it.sit()
    own: list[Entry] = []
    while len(own) < KEPT + 5:
        is_turn = it.decision_id > 1
        step = it.play_one((lambda _state, _seat: SoundingTakeDiscard(cell=0)) if is_turn else None)
        if step.entry.actor_kind is ActorKind.SEAT:
            own.append(step.entry)

    def repeated(entry: Entry) -> Act:
        assert entry.command is not None
        again = it.act_of(ActorKind.SEAT, entry.command, seat=0, command_id=entry.command_id)
        return replace(again, decision_id=entry.decision_id)

    numbers = [entry.number for entry in own[-KEPT:]]
    assert [accepted_before(it.state, repeated(entry)) for entry in own[-KEPT:]] == numbers
    old = repeated(own[-KEPT - 1])
    assert accepted_before(it.state, old) is None
    with refused("STALE_DECISION"):
        it.give(old)


def test_a_computers_second_answer_meets_a_closed_decision() -> None:
    it, _, _ = in_turns()
    while it.state.seats[it.waiting_for[0]].controller is not COMPUTER:
        it.play_one()
    act = it.act_of(ActorKind.COMPUTER, it.legal(2)[0], seat=2, decision_id=it.decision_id)
    it.give(act)
    assert accepted_before(it.state, act) is None
    with refused("STALE_DECISION"):
        it.give(act)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("command_id", "", "MALFORMED"),
        ("command_id", "x" * 65, "TOO_LARGE"),
        ("actor_id", "x" * 65, "TOO_LARGE"),
    ],
)
def test_ids_have_1_to_64_characters(field: str, value: str, code: str) -> None:
    it = seated()
    with refused(code):
        it.seat(1, CHOICE, **{field: value})
