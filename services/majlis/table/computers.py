"""Asks computer players for their moves, over NATS request and reply, and submits what they answer."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Final

import structlog
from google.protobuf.message import DecodeError
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from majlis.chassis.clock import Clock
from majlis.engine import match
from majlis.engine.decider import Rejected
from majlis.engine.match import Act, MatchState
from majlis.engine.shuffle import frame
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.computer import ComputerReply, ComputerRequest
from majlis.engine.vocabulary.entry import ActorKind
from majlis.engine.vocabulary.match import ComputerLevel, Controller
from majlis.engine.vocabulary.wire import decode_computer_reply, encode_computer_request

from . import views
from .host import TableHost
from .live import LiveMatch

log = structlog.get_logger(__name__)

ASK_AGAIN_MS: Final = 1500
"""A worker that was killed does not answer: another one is asked. The answer is a pure function, so both are the same."""


def key_of(state: MatchState, seat: int, decision_id: int) -> bytes:
    """A computer's only randomness for one decision. The match's secret seed makes it unpredictable to others."""
    seed = state.facts.opened.server_seed
    return sha256(frame("majlis computer 1", seed, state.match_id, seat, decision_id)).digest()


class ComputerDesk:
    """Asks for each (match, decision, seat) until an answer is decided or the decision is closed."""

    def __init__(self, host: TableHost, client: Client, clock: Clock, instance: str) -> None:
        self._host = host
        self._client = client
        self._clock = clock
        self._inbox = f"computers.{instance}"
        self._pending: dict[str, tuple[LiveMatch, int, int]] = {}
        self._number = 0
        self._outbox: asyncio.Queue[tuple[str, bytes, str]] = asyncio.Queue()

    async def run(self) -> None:
        """Sends questions for as long as the process lives."""
        await self._client.subscribe(f"{self._inbox}.*", cb=self._answered)
        while True:
            subject, data, reply = await self._outbox.get()
            try:
                await self._client.publish(subject, data, reply=reply)
            except (NatsError, OSError) as error:
                log.info("question not sent", event_type="computer_unreachable", why=repr(error))

    def ask(self, live: LiveMatch) -> None:
        state = live.stored
        if state is None or not any(seat.controller is Controller.COMPUTER for seat in state.seats):
            return
        decision = match.open_decision(state)
        if decision is None:
            return
        wanted = frozenset(
            (decision.decision_id, seat)
            for seat in match.waiting_for(state)
            if state.seats[seat].controller is Controller.COMPUTER
        )
        fresh, live.asked = wanted - live.asked, wanted
        for decision_id, seat in fresh:
            self._ask(live, decision_id, seat)

    def _ask(self, live: LiveMatch, decision_id: int, seat: int) -> None:
        """Asks now, and again later unless the decision has been closed meanwhile."""
        if (decision_id, seat) not in live.asked or not self._is_ours(live):
            return
        self._number += 1
        inbox = f"{self._inbox}.{self._number}"
        self._pending[inbox] = (live, decision_id, seat)
        state = live.stored
        assert state is not None
        self._outbox.put_nowait((f"computer.{state.game}", self._request(live, decision_id, seat), inbox))

        def again() -> None:
            if self._pending.pop(inbox, None) is not None:
                self._ask(live, decision_id, seat)

        self._host.later(self._clock.now_ms() + ASK_AGAIN_MS, again)

    def _is_ours(self, live: LiveMatch) -> bool:
        host = self._host.shards.get(live.id.split("-", 1)[0])
        return host is not None and host.matches.get(live.id) is live

    def _request(self, live: LiveMatch, decision_id: int, seat: int) -> bytes:
        state = live.stored
        assert state is not None
        info = match.info(state)
        return encode_computer_request(
            ComputerRequest(
                match_id=live.id,
                game=state.game,
                rules_version=state.rules_version,
                options=info.options,
                seat=seat,
                decision_id=decision_id,
                level=state.seats[seat].level or ComputerLevel.CLUB,
                key=key_of(state, seat, decision_id),
                public=views.public(live),
                private=views.private(live, seat),
                history=tuple(live.history),
            )
        )

    async def _answered(self, message: Msg) -> None:
        pending = self._pending.pop(message.subject, None)
        if pending is None:
            return
        live, decision_id, seat = pending
        try:
            reply = decode_computer_reply(message.data)
        except (Unreadable, DecodeError) as error:
            log.error("unreadable answer of a computer", event_type="computer_unreadable", why=str(error))
            return
        state = live.stored
        assert state is not None
        pause_ms = reply.thinking_ms * state.facts.opened.thinking_percent // 100
        if pause_ms:
            self._host.later(
                self._clock.now_ms() + pause_ms, lambda: self._move(live, decision_id, seat, reply)
            )
        else:
            self._move(live, decision_id, seat, reply)

    def _move(self, live: LiveMatch, decision_id: int, seat: int, reply: ComputerReply) -> None:
        if (decision_id, seat) not in live.asked or reply.command is None:
            return
        act = Act(
            actor_kind=ActorKind.COMPUTER,
            actor_seat=seat,
            actor_id="computer",
            command_id=f"computer-{decision_id}",
            decision_id=decision_id,
            command=reply.command,
            observed=self._host.observed(),
        )
        self._host.submit(live.id, act, lambda answer: self._told(live, answer.rejected))

    def _told(self, live: LiveMatch, rejected: Rejected | None) -> None:
        if rejected is not None:
            # Closed meanwhile by the clock or the director: normal. Anything else is a fault of the computer player.
            log.info(
                "computer's move refused", event_type="computer_refused", match_id=live.id, why=str(rejected)
            )
