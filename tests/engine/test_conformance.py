"""What every registered game must do: registering it is what tests it (DESIGN §5)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from majlis.engine import match, options, registry
from majlis.engine.decider import SPECTATOR, Rejected
from majlis.engine.history import fold
from majlis.engine.redecide import verify_history
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Event, Observed
from majlis.engine.vocabulary.match import ComputerLevel, Controller
from majlis.engine.vocabulary.view import MatchView, SeatPrivateView
from majlis.engine.vocabulary.wire import (
    COMMAND_NAMES,
    EVENT_NAMES,
    decode_event,
    encode_event,
    encode_happening,
    encode_match_view,
    encode_seat_private_view,
)
from tests.support.conformance import CLOCK_EVENTS, SHAPES, Shape, Walk, any_command, foreign_events
from tests.support.matches import COMPUTER, Played, played, seed

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
every_game = pytest.mark.parametrize("key", sorted(registry.GAMES))


def seen(state: Any, shape: Shape, viewer: int) -> bytes:
    """All that the viewer is shown, as it is sent."""
    public = encode_match_view(MatchView(game_view=shape.game.view(state, SPECTATOR)))
    if viewer == SPECTATOR:
        return public
    return public + encode_seat_private_view(SeatPrivateView(game_view=shape.game.view(state, viewer)))


@every_shape
def test_random_legal_play_ends_and_no_card_appears_or_vanishes(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    assert game.deal(walk.initial) == 0
    assert game.deal(walk.state) == 1
    decision_id = 0
    for state in walk.positions():
        assert game.conserved(state)
        deadline, outcome = game.deadline(state), game.outcome(state)
        assert (deadline is None) == (outcome is not None)
        if deadline is None or outcome is not None:
            break
        assert deadline.decision_id >= decision_id
        decision_id = deadline.decision_id
        assert deadline.seats
        assert deadline.timeout_ms is not None or deadline.due_ms is not None
        for seat in range(shape.seats):
            legal = walk.legal(seat)
            assert bool(legal) == (seat in deadline.seats)
            assert len(set(legal)) == len(legal)
    outcome = game.outcome(walk.state)
    assert outcome is not None
    assert len(outcome.places) == len(outcome.totals) == shape.seats
    assert outcome.places == tuple(1 + sum(o < p for o in outcome.places) for p in outcome.places)


@every_shape
def test_the_log_gives_the_same_position_and_its_events_survive_the_wire(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    for _ in walk.positions():
        pass
    state = walk.initial
    for event in walk.events:
        assert EVENT_NAMES[type(event)].startswith(f"{shape.key}_")
        state = game.evolve(state, decode_event(encode_event(event)))
    assert state == walk.state
    assert game.position(state) == game.position(walk.state)


@every_shape
def test_every_legal_command_is_accepted_and_the_fallback_is_legal(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    for state in walk.positions(every=7):
        for seat in walk.waiting():
            legal = walk.legal(seat)
            assert game.fallback(state, seat) in legal
            for command in legal:
                emitted = game.decide(state, seat, command, Observed())
                assert emitted
                after = state
                for event in emitted:
                    after = game.evolve(after, event)
                assert after == emitted.state
        assert walk.state == state


@every_game
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_command_that_is_not_legal_is_rejected_without_change(key: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([shape for shape in SHAPES if shape.key == key]))
    walk, game = Walk(shape, data.draw(st.integers(0, 50))), shape.game
    for _ in range(data.draw(st.integers(0, 60))):
        if walk.waiting():
            walk.step()
    position, state = game.position(walk.state), walk.state
    for command in data.draw(st.lists(any_command(key), min_size=10, max_size=30)):
        for seat in range(shape.seats):
            if command in game.legal(walk.state, seat):
                continue
            with pytest.raises(Rejected) as caught:
                game.decide(walk.state, seat, command, Observed())
            assert caught.value.detail
            assert caught.value.remedy
    assert walk.state is state
    assert game.position(state) == position


@every_shape
def test_evolve_neither_heeds_nor_fears_events_that_are_not_its_own(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    foreign = foreign_events(shape.key)
    assert len(foreign) > 10
    for state in walk.positions(every=29):
        for event in foreign:
            after = game.evolve(state, event)
            assert after == state or isinstance(event, CLOCK_EVENTS)


@every_shape
def test_views_show_nothing_that_the_viewer_may_not_know(shape: Shape) -> None:
    """Two positions that differ only in what a viewer may not know look the same to it, byte for byte."""
    walk, game = Walk(shape), shape.game
    rearranged = registry.registered(shape.key).notation.rearranged
    differing = compared = 0
    for number, state in enumerate(walk.positions(every=5)):
        for viewer in (SPECTATOR, *range(shape.seats)):
            other = rearranged(state, viewer, Stream(seed(f"{number}/{viewer}")))
            assert game.conserved(other)
            assert seen(other, shape, viewer) == seen(state, shape, viewer)
            if viewer != SPECTATOR:
                assert list(game.legal(other, viewer)) == list(game.legal(state, viewer))
            differing += game.position(other) != game.position(state)
            compared += 1
    assert differing > compared / 2, "the positions compared are the same: nothing was tested"


@every_shape
def test_what_is_told_can_be_sent(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    told = 0
    for _ in walk.positions():
        pass
    for event in walk.events:
        for viewer in (SPECTATOR, *range(shape.seats)):
            happening = game.happening(event, viewer)
            if happening is not None:
                assert encode_happening(happening)
                told += viewer == SPECTATOR
    assert told > 10


@every_shape
def test_a_state_survives_a_checkpoint(shape: Shape) -> None:
    walk, game = Walk(shape), shape.game
    for state in walk.positions(every=11):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=game.state_type) == state


@every_game
def test_options_survive_being_written_down(key: str) -> None:
    for defaults in registry.game(key).rules_versions.values():
        assert options.complete(defaults, options.texts(defaults)) == defaults
    for shape in SHAPES:
        if shape.key == key:
            newest = registry.game(key).rules_versions[max(registry.game(key).rules_versions)]
            assert options.complete(newest, options.texts(shape.options)) == shape.options


@every_game
def test_the_registry_knows_the_game_by_its_own_key_and_vocabulary(key: str) -> None:
    game = registry.game(key)
    assert game.key == key
    assert min(game.rules_versions) == 1
    assert game.state_schema >= 1
    for names in (COMMAND_NAMES, EVENT_NAMES):
        assert any(name.startswith(f"{key}_") for name in names.values())


@every_game
def test_a_whole_match_is_folded_verified_and_hashed(key: str) -> None:
    shape = next(shape for shape in SHAPES if shape.key == key)
    it = played(*[COMPUTER] * shape.seats, game=key)
    assert fold(it.stored) == it.state
    verdict = verify_history(it.stored)
    assert (verdict.ok, verdict.fault) == (True, "")
    assert it.ended.position_hash == match.position_hash(it.state)
    assert match.result(it.state).entries == len(it.steps)


# --- computers -----------------------------------------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("level", [ComputerLevel.NOVICE, ComputerLevel.CLUB, ComputerLevel.EXPERT])
def test_a_computer_plays_legal_moves_from_its_view_and_plays_them_again_alike(
    key: str, level: ComputerLevel
) -> None:
    shape = next(shape for shape in SHAPES if shape.key == key)
    computer = registry.registered(key).computer
    it = Played.of(*[Controller.COMPUTER] * shape.seats, game=key, server_seed=seed(f"{key}{level}"))
    told: list[Event] = list(it.events)
    for _ in range(60):
        if it.state.ended is not None:
            break
        seat = it.waiting_for[0]
        history = [happening for event in told if (happening := match.happening(it.state, event, SPECTATOR))]
        request = (match.public_view(it.state), match.private_view(it.state, seat), history, it.state.options)
        command, thinking_ms = computer.choose(*request, level, b"key")
        assert command in it.legal(seat)
        assert 0 <= thinking_ms <= 60_000
        assert computer.choose(*request, level, b"key") == (command, thinking_ms)
        it.computer(seat, command)
        told += it.events
