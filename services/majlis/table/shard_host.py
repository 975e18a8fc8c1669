"""The matches of one shard: commands are decided here, stored by the journal, and answered when they are stored.

Everything between two awaits of the journal is plain synchronous code over immutable states: `decided` states run
ahead, `stored` states are what the log has acknowledged, and only those are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.journal.batches import SCHEMA
from majlis.chassis.journal.checkpoints import Checkpoints, Saved
from majlis.chassis.journal.shard import Shard, Stall
from majlis.chassis.journal.store import Store
from majlis.engine import match
from majlis.engine.decider import Rejected
from majlis.engine.history import Step, transact
from majlis.engine.match import Act, MatchState, snapshot
from majlis.engine.vocabulary.entry import ActorKind, Batch, Observed
from majlis.engine.vocabulary.match import CreditCause, CreditClock
from majlis.engine.vocabulary.wire import decode_batch
from majlis.v1 import entry_pb2

from .answers import Answer, Reply, being_folded, count_move, finished, moved, unknown
from .live import Credit, LiveMatch

log = structlog.get_logger(__name__)

TOMBSTONE_MS: Final = 24 * 3600 * 1000
"""How long a finished match is known (DESIGN: a day), after that it is unknown here and found in the archive."""
FORGET_AFTER_MS: Final = 60_000
"""How long a finished match is kept whole, for late retries and viewers."""


class Stored(Struct, frozen=True):
    """What has just been stored for a match."""

    live: LiveMatch
    step: Step
    received_at: float


class ShardHost:
    """One shard's matches. As a `Folder` it rebuilds them; as an owner it decides for them.

    `on_stored` is called for every stored step, inside the journal's release of a batch; `on_woken` for a match that
    was taken over, as soon as its state is at hand.
    """

    def __init__(self, name: str, store: Store, checkpoint_store: Store, instance: str, clock: Clock) -> None:
        self.name = name
        self.matches: dict[str, LiveMatch] = {}
        self.finished: dict[str, int] = {}  # match id -> when it ended, Unix ms
        self.shard: Shard | None = None
        self.on_stored: Callable[[Stored], None] = lambda stored: None
        self._store = store
        self._checkpoint_store = checkpoint_store
        self._checkpoints = Checkpoints(checkpoint_store, name)
        self._instance = instance
        self._clock = clock

    # --- recovery ---------------------------------------------------------------------------------------------------

    async def begin(self) -> int:
        """Loads the checkpoints; what they cannot give is folded from its first entry."""
        self.matches, self.finished = {}, {}
        self._checkpoints = Checkpoints(self._checkpoint_store, self.name)
        scan_from, saved = await self._checkpoints.load()
        for one in saved:
            if not one.state:
                self.finished[one.match_id] = one.first_sequence
                continue
            live = LiveMatch(one.match_id, one.first_sequence)
            if not self._chill(live, one):
                scan_from = min(scan_from, one.first_sequence - 1)
                continue
            self.matches[one.match_id] = live
        return scan_from

    def _chill(self, live: LiveMatch, saved: Saved) -> bool:
        """Whether this code can read the saved state."""
        try:
            live.chill(saved)
            assert live.cold is not None
            return snapshot.schema(live.cold.game) == saved.state_schema
        except (msgspec.DecodeError, Rejected) as error:
            log.warning(
                "state folded again", event_type="checkpoint_stale", match_id=saved.match_id, why=str(error)
            )
            return False

    def fold(self, sequence: int, batch: Batch) -> None:
        """Takes one stored batch: entries are kept as bytes until their match is touched."""
        if batch.shard_opened is not None:
            opened = batch.shard_opened
            if opened.outage_to_ms > opened.outage_from_ms:
                self._credit_all(Credit(opened.outage_from_ms, opened.outage_to_ms, CreditCause.TAKEOVER))
        for stored in batch.entries:
            entry = entry_pb2.Entry.FromString(stored)
            live = self.matches.get(entry.match_id)
            if live is None:
                if entry.number != 1:
                    continue  # finished and forgotten before the checkpoint
                live = self.matches[entry.match_id] = LiveMatch(entry.match_id, sequence)
            if entry.number == live.number + 1:
                live.tail.append(stored)
                live.number = entry.number
                live.credits = ()
                self._checkpoints.touch(entry.match_id, sequence)

    def _credit_all(self, credit: Credit) -> None:
        for live in self.matches.values():
            live.owe(credit)

    # --- ownership --------------------------------------------------------------------------------------------------

    def own(self, shard: Shard) -> None:
        """From here on this instance decides for the shard."""
        self.shard = shard
        shard.on_stall = self._stalled

    def _stalled(self, stall: Stall) -> None:
        self._credit_all(Credit(stall.from_ms, stall.to_ms, CreditCause.STALL))

    @property
    def can_decide_deadlines(self) -> bool:
        """No deadline is decided while the shard is not ours or its log does not answer."""
        return self.shard is not None and not self.shard.lost and not self.shard.stalled

    # --- the way of a command ---------------------------------------------------------------------------------------

    def submit(self, match_id: str, act: Act, reply: Reply) -> None:
        """Decides a command now and answers it once everything it rests on is stored."""
        received_at = self._clock.monotonic()
        shard = self.shard
        if shard is None or shard.lost:
            reply(Answer(rejected=moved(match_id)))
            return
        try:
            live = self.find(match_id)
            number = match.accepted_before(live.wake(), act)
            steps = self._decide(live, act) if number is None else []
        except Rejected as rejected:
            count_move(self.matches.get(match_id), "rejected")
            refusal = Answer(rejected=rejected)
            shard.when_stored(lambda ok: reply(refusal if ok else Answer(rejected=moved(match_id))))
            return
        if number is not None:
            count_move(live, "duplicate")
            again = Answer(number, duplicate=True)
            shard.when_stored(lambda ok: reply(again if ok else Answer(rejected=moved(match_id))))
            return
        for step in steps[:-1]:
            self._append(shard, live, step, received_at, None)
        self._append(shard, live, steps[-1], received_at, reply)

    def open(self, match_id: str, act: Act, reply: Callable[[Answer, MatchState | None], None]) -> None:
        """Opens a match; opening it again the same way answers as the first time."""
        shard = self.shard
        if shard is None or shard.lost:
            reply(Answer(rejected=moved(match_id)), None)
            return
        live = self.matches.get(match_id)
        if live is not None or match_id in self.finished:
            state = live.wake() if live is not None else None
            answer = Answer(1, duplicate=True)
            shard.when_stored(lambda ok: reply(answer if ok else Answer(rejected=moved(match_id)), state))
            return
        try:
            step = transact(None, act, match_id)
        except Rejected as rejected:
            reply(Answer(rejected=rejected), None)
            return
        # The first entry's sequence is known once it is stored; nothing is saved or shown before.
        live = self.matches[match_id] = LiveMatch(match_id, 0)
        self._append(shard, live, step, self._clock.monotonic(), lambda answer: reply(answer, step.state))

    def find(self, match_id: str) -> LiveMatch:
        """The match, its state at hand. Raises Rejected(UNKNOWN_MATCH, MATCH_FINISHED or UNAVAILABLE)."""
        live = self.matches.get(match_id)
        if live is not None:
            return self._awake(live)
        raise finished(match_id) if match_id in self.finished else unknown(match_id)

    def _awake(self, live: LiveMatch) -> LiveMatch:
        try:
            live.wake()
        except msgspec.DecodeError as error:
            raise being_folded(live.id) from error
        return live

    async def refold(self, live: LiveMatch) -> None:
        """Folds a match whose checkpoint cannot be read from its first entry on. Raises Unknown."""
        log.warning("state folded again", event_type="checkpoint_unreadable", match_id=live.id)
        assert self.shard is not None
        tail: list[bytes] = []
        subject = f"journal.match.{self.name}"
        async for stored in self._store.scan(subject, live.first_sequence - 1, self.shard.settled):
            entries = decode_batch(stored.data).entries
            tail += [entry for entry in entries if entry_pb2.Entry.FromString(entry).match_id == live.id]
        live.cold, live.tail = None, tail
        live.wake()

    def observed(self) -> Observed:
        """What a decision is told of the present."""
        return Observed(received_at_ms=self._clock.now_ms())

    def _decide(self, live: LiveMatch, act: Act) -> list[Step]:
        """The steps of a command: what the platform owes the clocks comes first. Raises Rejected."""
        state = live.wake()
        steps = []
        if live.owed and match.open_decision(state) is not None:
            for credit in live.owed:
                if credit.to_ms <= state.last_ms:
                    continue  # nothing of it fell on the open decision
                steps.append(transact(state, self._credit_act(state, credit), live.id))
                state = steps[-1].state
        return [*steps, transact(state, act, live.id)]

    def _credit_act(self, state: MatchState, credit: Credit) -> Act:
        begin = max(credit.from_ms, min(state.last_ms, credit.to_ms))
        return Act(
            actor_kind=ActorKind.PLATFORM,
            actor_seat=None,
            actor_id=self._instance,
            command_id=f"credit-{state.number + 1}",
            decision_id=0,
            command=CreditClock(from_ms=begin, to_ms=credit.to_ms, cause=credit.cause),
            observed=self.observed(),
        )

    def _append(
        self, shard: Shard, live: LiveMatch, step: Step, received_at: float, reply: Reply | None
    ) -> None:
        live.decided = step.state
        live.number = step.state.number
        is_credit = isinstance(step.entry.command, CreditClock)
        if is_credit:
            live.crediting += 1
        else:
            live.credits = live.credits[: live.crediting]  # where no clock runs, none is credited

        def then(ok: bool) -> None:
            if not ok:
                count_move(live, "moved")
                if reply is not None:
                    reply(Answer(rejected=moved(live.id)))
                return
            if is_credit:
                live.credits, live.crediting = live.credits[1:], live.crediting - 1
            else:
                count_move(live, "accepted")
            sequence = shard.head.sequence
            live.first_sequence = live.first_sequence or sequence
            live.stored = step.state
            self._checkpoints.touch(live.id, sequence)
            metrics.MOVE_COMMIT.observe(self._clock.monotonic() - received_at)
            self.on_stored(Stored(live, step, received_at))
            if reply is not None:
                reply(Answer(step.state.number))

        shard.append(step.stored, then)

    # --- checkpoints ------------------------------------------------------------------------------------------------

    @property
    def unsaved(self) -> int:
        """How many buckets of matches have entries that no checkpoint holds."""
        return self._checkpoints.dirty

    async def checkpoint(self) -> None:
        """Saves the bucket that has been dirty for longest."""
        if self.shard is not None and not self.shard.lost and self._checkpoints.dirty:
            await self._checkpoints.write_oldest(self.shard, self._save)

    def _save(self, match_id: str) -> Saved | None:
        live = self.matches.get(match_id)
        if live is not None:
            return live.freeze() if live.stored is not None or live.cold is not None or live.tail else None
        ended_ms = self.finished.get(match_id)
        return None if ended_ms is None else Saved(match_id, 0, ended_ms, SCHEMA, b"")

    def forget_finished(self) -> None:
        """Lets go of matches that ended long enough ago and whose result is published."""
        now = self._clock.now_ms()
        for live in [live for live in self.matches.values() if live.published and not live.watchers]:
            ended = live.wake().ended
            if ended is not None and now - ended.at_ms > FORGET_AFTER_MS:
                del self.matches[live.id]
                self.finished[live.id] = ended.at_ms
        for match_id in [m for m, ended_ms in self.finished.items() if now - ended_ms > TOMBSTONE_MS]:
            del self.finished[match_id]
