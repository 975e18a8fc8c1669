"""All matches of this instance: routes commands to their shard, and follows up what has been stored.

Following up means: viewers are shown the newest view, the open decision's deadline is armed, computers are asked,
and a finished match's result is published. It happens once for each match and batch, after the journal's answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import msgspec
import structlog
from msgspec import Struct

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.engine import match
from majlis.engine.decider import Rejected
from majlis.engine.ids import shard_of
from majlis.engine.match import Act, MatchState
from majlis.engine.vocabulary.entry import ActorKind, Event, Observed
from majlis.engine.vocabulary.match import ClockCredited as ClockCreditedEvent
from majlis.engine.vocabulary.match import Controller, DecisionMissed, SeatTakenOver
from majlis.engine.vocabulary.rejection import RejectionCode

from . import views
from .answers import Answer, Reply, moved
from .deadlines import RETRY_MS, Deadlines
from .live import LiveMatch
from .shard_host import ShardHost, Stored

log = structlog.get_logger(__name__)

WAKE_SLICE: Final = 64
"""Matches woken after a take-over before the event loop gets a turn."""


class Change(Struct):
    """What one batch changed in a match."""

    events: list[Event]
    told: list[bytes]
    received_at: float


class Computers(Protocol):
    def ask(self, live: LiveMatch) -> None:
        """Asks for the move of every computer's seat that the open decision waits for."""


class Results(Protocol):
    def publish(self, live: LiveMatch) -> None:
        """Publishes the result of a finished match, sooner or later."""


class TableHost:
    """The shards this instance owns at the moment."""

    def __init__(self, clock: Clock) -> None:
        self.shards: dict[str, ShardHost] = {}
        self.computers: Computers | None = None
        self.results: Results | None = None
        self._clock = clock
        self._changes: dict[LiveMatch, Change] = {}
        self._flush_due = False
        self._deadlines = Deadlines(clock, metrics.TIMER_LATENESS.labels("deadline").observe)

    # --- shards -----------------------------------------------------------------------------------------------------

    async def adopt(self, host: ShardHost) -> None:
        """Takes over a shard that has just been opened: its matches go on."""
        host.on_stored = self._stored
        self.shards[host.name] = host
        for count, live in enumerate(list(host.matches.values())):
            if count % WAKE_SLICE == 0:
                await asyncio.sleep(0)
            if self.shards.get(host.name) is not host:
                return
            try:
                live.wake()
            except msgspec.DecodeError:
                await host.refold(live)
            self._follow_up(live)

    def drop(self, host: ShardHost) -> None:
        """Lets go of a shard: whoever watches one of its matches is told that it has moved."""
        if self.shards.get(host.name) is host:
            del self.shards[host.name]
        for live in host.matches.values():
            for watcher in list(live.watchers):
                watcher.lost(moved(live.id))

    def close(self) -> None:
        self._deadlines.close()

    def live_matches(self) -> Iterator[LiveMatch]:
        """Every match this instance knows whole."""
        for host in self.shards.values():
            yield from host.matches.values()

    # --- commands ---------------------------------------------------------------------------------------------------

    def observed(self) -> Observed:
        """What a decision is told of the present."""
        return Observed(received_at_ms=self._clock.now_ms())

    def host_of(self, match_id: str) -> ShardHost:
        """Raises Rejected(UNKNOWN_MATCH for what is no id, MOVED where another instance owns the shard)."""
        host = self.shards.get(shard_of(match_id))
        if host is None or host.shard is None:
            raise moved(match_id)
        return host

    def submit(self, match_id: str, act: Act, reply: Reply) -> None:
        """Decides a command; `reply` is called once it, or what its refusal rests on, is stored."""
        try:
            host = self.host_of(match_id)
        except Rejected as rejected:
            reply(Answer(rejected=rejected))
            return
        host.submit(match_id, act, reply)

    async def ask(self, match_id: str, act: Act) -> Answer:
        """Submits a command and waits for its answer. Raises Rejected."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.submit(match_id, act, lambda answer: None if future.done() else future.set_result(answer))
        answer = await future
        if answer.rejected is not None:
            raise answer.rejected
        return answer

    async def open(self, match_id: str, act: Act) -> tuple[Answer, MatchState | None]:
        """Opens a match; answers once it is stored. Raises Rejected."""
        future: asyncio.Future[tuple[Answer, MatchState | None]] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer, state: MatchState | None) -> None:
            if not future.done():
                future.set_result((answer, state))

        self.host_of(match_id).open(match_id, act, reply)
        answer, state = await future
        if answer.rejected is not None:
            raise answer.rejected
        return answer, state

    def when_stored(self, match_id: str, then: Callable[[LiveMatch | None], None]) -> None:
        """Calls `then` with the match when all that was decided for it is stored, with None when its shard was lost.

        Raises Rejected.
        """
        host = self.host_of(match_id)
        live = host.find(match_id)
        live.wake()
        assert host.shard is not None
        host.shard.when_stored(lambda ok: then(live if ok else None))

    # --- following up -----------------------------------------------------------------------------------------------

    def _stored(self, stored: Stored) -> None:
        live, step = stored.live, stored.step
        told = live.tell(step)
        change = self._changes.get(live)
        if change is None:
            self._changes[live] = Change(list(step.entry.events), told, stored.received_at)
        else:
            change.events.extend(step.entry.events)
            change.told.extend(told)
        if not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        changes, self._changes = self._changes, {}
        now = self._clock.monotonic()
        for live, change in changes.items():
            try:
                self._show(live, change, now)
                count(live, change.events)
                self._follow_up(live)
            except Exception:  # the fault of one match must not stop the others
                log.exception("match not shown", event_type="match_not_shown", match_id=live.id)

    def _show(self, live: LiveMatch, change: Change, now: float) -> None:
        if not live.watchers:
            return
        shown = views.show(live, [w.seat for w in live.watchers], change.events, change.told)
        for watcher in live.watchers:
            watcher.show(shown)
        metrics.MOVE_BROADCAST.observe(now - change.received_at)

    def _follow_up(self, live: LiveMatch) -> None:
        state = live.stored
        if state is None:
            return
        if state.ended is not None:
            if not live.published and self.results is not None:
                self.results.publish(live)
            return
        due = views.due_ms(state, live.credits)
        if due and not 0 < live.alarm_ms <= due:
            self._set_alarm(live, due)
        if self.computers is not None:
            self.computers.ask(live)

    def later(self, due_ms: int, act: Callable[[], None]) -> None:
        """Calls `act` at Unix time `due_ms`: thinking times and repeated questions share the deadlines' timer."""
        self._deadlines.at(due_ms, act)

    def _set_alarm(self, live: LiveMatch, at_ms: int) -> None:
        """A match has one alarm, and usually a decision is closed long before: then it is only set anew."""
        live.alarm_ms = at_ms
        self._deadlines.at(at_ms, lambda: self._ring(live, at_ms))

    def _ring(self, live: LiveMatch, at_ms: int) -> None:
        if live.alarm_ms == at_ms:  # otherwise an earlier one has been set since
            live.alarm_ms = 0
            self._close_due(live)

    def _close_due(self, live: LiveMatch) -> None:
        """Makes a command of the open decision's deadline, if it has passed."""
        host = self.shards.get(shard_of(live.id))
        state = live.decided
        if host is None or state is None or host.matches.get(live.id) is not live:
            return
        decision, due = match.open_decision(state), views.due_ms(state, live.owed)
        if decision is None or not due:
            return
        now = self._clock.now_ms()
        if not host.can_decide_deadlines or due > now:
            self._set_alarm(live, max(due, now + RETRY_MS))
            return
        act = Act(
            actor_kind=ActorKind.CLOCK,
            actor_seat=None,
            actor_id="",
            command_id=f"deadline-{decision.decision_id}",
            decision_id=decision.decision_id,
            command=match.moves_for_silent(state, {}),
            observed=self.observed(),
        )
        host.submit(live.id, act, lambda answer: self._clock_answered(live, answer))

    def _clock_answered(self, live: LiveMatch, answer: Answer) -> None:
        rejected = answer.rejected
        if rejected is not None and rejected.code not in _CLOSED:
            log.error("deadline refused", event_type="deadline_refused", match_id=live.id, why=str(rejected))


_CLOSED: Final = frozenset(
    {
        RejectionCode.STALE_DECISION,
        RejectionCode.MOVED,
        RejectionCode.MATCH_FINISHED,
        RejectionCode.MATCH_PAUSED,
    }
)


def count(live: LiveMatch, events: list[Event]) -> None:
    """Counts what the operations page asks for."""
    assert live.stored is not None
    state = live.stored
    for event in events:
        if isinstance(event, DecisionMissed):
            metrics.TURN_TIMEOUTS.labels(state.game).inc()
            if state.seats[event.seat].controller is Controller.COMPUTER:
                metrics.COMPUTER_FALLBACKS.labels(state.game).inc()
        elif isinstance(event, SeatTakenOver):
            metrics.SEAT_TAKEOVERS.labels(event.reason).inc()
        elif isinstance(event, ClockCreditedEvent):
            metrics.CLOCK_CREDITED.labels(event.cause.name.lower()).inc((event.to_ms - event.from_ms) / 1000)
