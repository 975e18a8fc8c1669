"""Who does not decide, and who plays instead (RULES §6.2, SND-O14)."""

from __future__ import annotations

from collections.abc import Callable

from majlis.engine import match
from majlis.engine.history import fold
from majlis.engine.match import SEATING
from majlis.engine.vocabulary.match import (
    DeadlinePassed,
    DecisionMissed,
    ReturnToSeat,
    SeatMove,
    SeatReturned,
    SeatReturnRequested,
    SeatTakenOver,
    SubstituteComputer,
    TakeSeat,
)
from majlis.engine.vocabulary.sounding import (
    SoundingChooseInitial,
    SoundingDraw,
    SoundingFlip,
    SoundingInitialChosen,
)
from majlis.engine.vocabulary.wire import encode_command
from tests.support.matches import COMPUTER, PERSON, Played, names, refused

FLIPS = SoundingChooseInitial(first=0, second=1)


def table(*, tournament: bool = False) -> Played:
    """Two persons, seated."""
    it = Played.of(PERSON, PERSON, tournament_id="cup" if tournament else "")
    it.sit()
    return it


def let_pass(it: Played, seat: int, until: Callable[[], bool]) -> None:
    """This seat is silent, the others play, until so."""
    while not until():
        if seat in it.waiting_for:
            it.expire()
        else:
            it.play_one()


def absent(*, tournament: bool = False) -> Played:
    """Seat 0 has been taken over in the first deal."""
    it = table(tournament=tournament)
    it.seat(1, FLIPS)
    let_pass(it, 0, lambda: it.state.seats[0].controller is COMPUTER)
    return it


def to_next_deal(it: Played) -> None:
    deal = match.game_of(it.state).deal(it.state.game_state)
    while match.game_of(it.state).deal(it.state.game_state) == deal:
        it.now_ms += 1000
        it.play_one()


def test_the_clock_makes_the_fallback_for_every_silent_seat() -> None:
    it = table()
    it.expire()
    assert [event for event in it.events if isinstance(event, DecisionMissed)] == [
        DecisionMissed(seat=0),
        DecisionMissed(seat=1),
    ]
    assert [event for event in it.events if isinstance(event, SoundingInitialChosen)] == [
        SoundingInitialChosen(seat=0, first=0, second=1),
        SoundingInitialChosen(seat=1, first=0, second=1),
    ]
    assert [seat.missed for seat in it.state.seats] == [1, 1]
    assert it.decision_id == 2


def test_the_clock_decides_only_for_who_has_not() -> None:
    it = table()
    it.seat(1, SoundingChooseInitial(first=4, second=9))
    it.expire()
    assert [event.seat for event in it.events if isinstance(event, DecisionMissed)] == [0]
    assert it.state.seats[1].missed == 0


def test_the_move_in_the_log_may_be_the_computers() -> None:
    it = table()
    it.seat(1, FLIPS)
    it.now_ms = it.due_ms
    better = SoundingChooseInitial(first=5, second=6)
    command = match.moves_for_silent(it.state, {0: better})
    assert command.moves == (SeatMove(seat=0, command=encode_command(better), by_computer=True),)
    it.clock(command=command)
    assert SoundingInitialChosen(seat=0, first=5, second=6) in it.events


def test_a_computers_illegal_move_gives_way_to_the_fallback() -> None:
    it = table()
    it.now_ms = it.due_ms
    command = match.moves_for_silent(it.state, {0: SoundingDraw()})
    assert command.moves[0] == SeatMove(seat=0, command=encode_command(FLIPS), by_computer=False)
    it.clock(command=command)


def test_a_deadline_must_bring_a_legal_move_for_each_silent_seat_and_no_other() -> None:
    it = table()
    it.now_ms = it.due_ms
    good = match.moves_for_silent(it.state, {}).moves
    bad = encode_command(TakeSeat())
    for moves, code in (
        ((), "MALFORMED"),
        (good[:1], "MALFORMED"),
        (good[::-1], "MALFORMED"),
        ((*good, good[0]), "MALFORMED"),
        ((SeatMove(seat=0, command=b"\xff"), good[1]), "MALFORMED"),
        ((SeatMove(seat=0, command=bad), good[1]), "MALFORMED"),
        ((SeatMove(seat=0, command=encode_command(SoundingDraw())), good[1]), "WRONG_PHASE"),
    ):
        with refused(code):
            it.clock(command=DeadlinePassed(moves=moves))
    it.clock(command=DeadlinePassed(moves=good))


def test_nobody_moves_at_the_seating_deadline() -> None:
    it = Played.of(PERSON, PERSON)
    it.now_ms = it.due_ms
    with refused("MALFORMED"):
        it.clock(command=DeadlinePassed(moves=(SeatMove(seat=0, command=b""),)), decision_id=SEATING)


def test_after_three_missed_decisions_in_a_row_the_computer_takes_the_seat() -> None:
    it = absent()
    assert it.events[:2] == (DecisionMissed(seat=0), SeatTakenOver(seat=0, reason="absent"))
    assert it.log.count(DecisionMissed(seat=0)) == 3
    assert it.state.seats[0].computer_moves == 3
    with refused("WRONG_SEAT"):
        it.seat(0, SoundingDraw())


def test_an_act_of_its_own_starts_the_count_again() -> None:
    it = table()
    it.seat(1, FLIPS)
    let_pass(it, 0, lambda: it.state.seats[0].missed == 2)
    let_pass(it, -1, lambda: it.waiting_for == (0,))
    it.play_one()
    assert it.state.seats[0].missed == 0
    let_pass(it, 0, lambda: it.state.seats[0].missed == 2)
    assert it.state.seats[0].controller is PERSON


def test_a_silent_computer_is_counted_but_never_taken_over() -> None:
    it = Played.of(COMPUTER, COMPUTER)
    for _ in range(8):
        it.expire()
    assert not any(isinstance(event, SeatTakenOver) for event in it.log)
    assert max(seat.missed for seat in it.state.seats) > 3
    assert all(seat.computer_moves == 0 for seat in it.state.seats)


def test_at_a_casual_table_the_seat_is_given_back_at_the_next_deal() -> None:
    it = absent()
    to_next_deal(it)
    assert SeatReturned(seat=0) in it.events
    assert names(it.events)[-1] == "DecisionOpened"
    assert it.state.seats[0].controller is PERSON
    it.seat(0, FLIPS)


def test_in_a_tournament_the_computer_stays_until_the_player_is_back() -> None:
    it = absent(tournament=True)
    to_next_deal(it)
    assert it.state.seats[0].controller is COMPUTER


def test_who_asks_for_the_seat_has_it_from_the_next_deal_on() -> None:
    it = absent(tournament=True)
    it.seat(0, ReturnToSeat(), decision_id=0)
    assert it.log[-1] == SeatReturnRequested(seat=0)
    assert it.state.seats[0].controller is COMPUTER
    with refused("SEAT_TAKEN"):
        it.seat(0, ReturnToSeat(), decision_id=0)
    assert fold(it.stored) == it.state
    to_next_deal(it)
    assert SeatReturned(seat=0) in it.events
    assert it.state.seats[0].controller is PERSON


def never_seated() -> Played:
    it = Played.of(PERSON, PERSON)
    it.sit(1)
    it.expire()
    return it


def test_who_never_sat_down_is_not_given_the_seat_unasked() -> None:
    it = never_seated()
    to_next_deal(it)
    assert it.state.seats[0].controller is COMPUTER


def test_who_never_sat_down_comes_back_by_asking() -> None:
    it = never_seated()
    it.seat(0, ReturnToSeat(), decision_id=0)
    to_next_deal(it)
    assert it.state.seats[0].controller is PERSON
    assert it.state.seats[0].taken


def test_a_seat_that_is_its_holders_has_nothing_to_return_to() -> None:
    it = Played.of(PERSON, COMPUTER)
    it.sit()
    with refused("SEAT_TAKEN"):
        it.seat(0, ReturnToSeat())
    with refused("WRONG_SEAT"):
        it.seat(1, ReturnToSeat())


def test_whom_the_director_replaced_comes_back_by_the_director() -> None:
    it = table(tournament=True)
    it.director(SubstituteComputer(seat=0, reason="withdrawn"))
    assert it.events == (SeatTakenOver(seat=0, reason="substituted"),)
    with refused("WRONG_SEAT"):
        it.seat(0, ReturnToSeat())
    with refused("WRONG_SEAT"):
        it.director(ReturnToSeat(seat=5))
    it.director(ReturnToSeat(seat=0))
    to_next_deal(it)
    assert it.state.seats[0].controller is PERSON


def test_a_substitution_needs_a_reason_and_a_persons_seat() -> None:
    it = Played.of(PERSON, COMPUTER)
    it.sit()
    with refused("REASON_REQUIRED"):
        it.director(SubstituteComputer(seat=0, reason=" "))
    with refused("WRONG_SEAT"):
        it.director(SubstituteComputer(seat=1, reason="x"))
    with refused("WRONG_SEAT"):
        it.director(SubstituteComputer(seat=2, reason="x"))
    it.director(SubstituteComputer(seat=0, reason="x"))
    with refused("WRONG_SEAT"):
        it.director(SubstituteComputer(seat=0, reason="x"))


def test_a_substitute_goes_on_with_the_open_decision() -> None:
    it = table()
    it.seat(1, FLIPS)
    due_ms = it.due_ms
    it.director(SubstituteComputer(seat=0, reason="ill"))
    assert (it.waiting_for, it.due_ms) == ((0,), due_ms)
    it.computer(0, FLIPS)
    turn = it.waiting_for[0]
    if turn == 1:
        it.seat(1, SoundingFlip(cell=5))
    it.computer(0, SoundingFlip(cell=5))
    assert it.state.seats[0].computer_moves == 2
