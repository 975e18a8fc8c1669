"""`bench engine`: how fast the rules are, without any service around them, for every registered game."""

from __future__ import annotations

import random
import statistics
import time
from array import array
from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import Struct

from majlis.engine import match
from majlis.engine.decider import Game, Setup
from majlis.engine.history import Step, fold, transact
from majlis.engine.match import SEATING, Act, MatchState, snapshot
from majlis.engine.registry import GAMES
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import ActorKind, Command, Observed
from majlis.engine.vocabulary.match import Controller, OpenMatch, SeatSetup, TakeSeat
from majlis.engine.vocabulary.wire import encode_match_view, encode_seat_private_view
from majlis.loadtest.measure import machine, spread

T = TypeVar("T")
_SEATS: Final = (4, 3, 2)
"""The first number of these that a game can be played by."""
_MATCH_ID: Final = "0-benchmark"
_OBSERVED: Final = Observed(received_at_ms=1)


def engine(*, runs: int = 5, seconds: float = 2.0, rng_seed: int = 1) -> dict[str, Any]:
    """Random legal play of every registered game; each figure is the median of `runs` of about `seconds`.

    Seconds are the processor's, so that a machine that others use too measures the same.
    decisions_per_s: legal list, choice, decide and evolve of one decision. fold_entries_per_s: matches folded from
    their stored bytes. view_us: everybody's and one seat's view of a position, made and serialised. state_bytes: a
    match in a checkpoint. decide_p99_us: decide and evolve alone.
    """
    return {
        "games": {key: _measured(one.game, runs, seconds, rng_seed) for key, one in GAMES.items()},
        "runs": runs,
        "machine": machine(),
    }


def _measured(game: Game[Any], runs: int, seconds: float, rng_seed: int) -> dict[str, Any]:
    rng = random.Random(rng_seed)
    decisions = [_decisions_per_s(game, rng, seconds) for _ in range(runs)]
    histories = [history(game, rng, number) for number in range(10)]
    folds = [_fold_entries_per_s(histories, seconds / 2) for _ in range(runs)]
    states = [step.state for history in histories for step in history if step.state.started]
    views = [_view_us(rng.sample(states, min(len(states), 500)), seconds / 4) for _ in range(runs)]
    figures = {"decisions_per_s": decisions, "fold_entries_per_s": folds, "view_us": views}
    spreads = {name: spread(values) for name, values in figures.items()}
    return {
        **{name: told["median"] for name, told in spreads.items()},
        "state_bytes": round(sum(len(snapshot.dump(state)) for state in states) / len(states)),
        "decide_p99_us": _decide_p99_us(game, rng, seconds),
        "spread": spreads,
    }


def _seats(game: Game[Any]) -> tuple[int, Any]:
    """How many play, and the newest rules version's options."""
    options = game.rules_versions[max(game.rules_versions)]
    for seats in _SEATS:
        try:
            game.check_setup(seats, options)
        except Exception as refused:  # noqa: BLE001 - whatever it is, another number may do
            last: Exception = refused
        else:
            return seats, options
    raise last


# --- the game alone -------------------------------------------------------------------------------------------------


def _initial(game: Game[Any], rng: random.Random) -> Any:
    seats, options = _seats(game)
    chance = Chance(rng.randbytes(32), b"", _MATCH_ID)
    return game.start(game.initial(Setup(seats, options, chance))).state


def _decisions_per_s(game: Game[Any], rng: random.Random, seconds: float) -> float:
    number, chance = 0, rng.random
    began = time.process_time()
    end = began + seconds
    state = _initial(game, rng)
    while time.process_time() < end:
        # The clock is read once for many decisions: it is no part of one.
        for _ in range(100):
            open_now = game.deadline(state)
            if open_now is None:
                state = _initial(game, rng)
                continue
            seat = open_now.seats[0]
            legal = tuple(game.legal(state, seat))
            state = game.decide(state, seat, legal[int(chance() * len(legal))], _OBSERVED).state
            number += 1
    return number / (time.process_time() - began)


def _decide_p99_us(game: Game[Any], rng: random.Random, seconds: float) -> float:
    taken = array("Q")
    state = _initial(game, rng)
    end = time.process_time() + seconds
    while time.process_time() < end:
        open_now = game.deadline(state)
        if open_now is None:
            state = _initial(game, rng)
            continue
        seat = open_now.seats[0]
        command = rng.choice(tuple(game.legal(state, seat)))
        began = time.thread_time_ns()
        state = game.decide(state, seat, command, _OBSERVED).state
        taken.append(time.thread_time_ns() - began)
    return round(statistics.quantiles(taken, n=100)[98] / 1000, 1)


# --- the match around it --------------------------------------------------------------------------------------------


class _Clock(Struct):
    """A match's time, 300 ms to a move."""

    now_ms: int = 1_700_000_000_000

    def tick(self) -> Observed:
        self.now_ms += 300
        return Observed(received_at_ms=self.now_ms)


def history(game: Game[Any], rng: random.Random, number: int) -> list[Step]:
    """One match between persons, from its opening to its end."""
    seats, _ = _seats(game)
    clock = _Clock()
    setup = OpenMatch(
        game=game.key,
        seats=tuple(
            SeatSetup(player_id=f"player-{seat}", controller=Controller.PERSON) for seat in range(seats)
        ),
        server_seed=rng.randbytes(32),
    )
    opening = _act(ActorKind.LOBBY, None, 0, setup, clock)
    steps = [transact(None, opening, f"{_MATCH_ID}{number}")]
    for seat in range(seats):
        steps.append(
            transact(steps[-1].state, _act(ActorKind.SEAT, seat, SEATING, TakeSeat(), clock), _MATCH_ID)
        )
    while (decision := match.open_decision(steps[-1].state)) is not None:
        state, seat = steps[-1].state, decision.seats[0]
        command = rng.choice(tuple(game.legal(state.game_state, seat)))
        act = _act(ActorKind.SEAT, seat, decision.decision_id, command, clock)
        steps.append(transact(state, act, state.match_id))
    return steps


def _act(kind: ActorKind, seat: int | None, decision_id: int, command: Command, clock: _Clock) -> Act:
    observed = clock.tick()
    return Act(
        actor_kind=kind,
        actor_seat=seat,
        actor_id="lobby" if seat is None else f"player-{seat}",
        command_id=f"command-{clock.now_ms}",
        decision_id=decision_id,
        command=command,
        observed=observed,
    )


def _fold_entries_per_s(histories: list[list[Step]], seconds: float) -> float:
    stored = [[step.stored for step in history] for history in histories]
    entries = sum(map(len, stored))
    return entries * _rate(lambda: [fold(one) for one in stored], seconds)


def _view_us(states: list[MatchState], seconds: float) -> float:
    def show() -> None:
        for state in states:
            public, private = match.public_view(state), match.private_view(state, 0)
            encode_match_view(public)
            encode_seat_private_view(private)

    return 1e6 / (len(states) * _rate(show, seconds))


def _rate(work: Callable[[], object], seconds: float) -> float:
    """How often a second it can be done; at least once."""
    times, began = 0, time.process_time()
    while True:
        work()
        times += 1
        took = time.process_time() - began
        if took >= seconds:
            return times / took
