"""The Table service's gRPC face."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import grpc.aio

from majlis.chassis import metrics
from majlis.chassis.clock import Clock
from majlis.chassis.lookup import Lookup
from majlis.chassis.tokens import Verifier, bearer
from majlis.engine import match, options
from majlis.engine.decider import SPECTATOR, Rejected
from majlis.engine.match import Act as MatchAct
from majlis.engine.match import MatchState
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import ActorKind, Command
from majlis.engine.vocabulary.match import OpenMatch as OpenMatchCommand
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import COMMAND_NAMES, fill_match_ended, read_open_match
from majlis.v1 import table_pb2, table_pb2_grpc

from . import views
from .answers import moved
from .host import TableHost
from .live import LiveMatch
from .play import PlayStreams, command_of
from .seeds import Seeds

MAX_WAIT_MS: Final = 30_000
MAX_LISTED: Final = 1000
Context = grpc.aio.ServicerContext[Any, Any]


class TableServicer(table_pb2_grpc.TableServicer):
    """Checks who asks, converts, and hands on to the host."""

    def __init__(
        self, host: TableHost, verifier: Verifier, lookup: Lookup, seeds: Seeds, clock: Clock
    ) -> None:
        self.streams = PlayStreams(host, self._seat_of, clock)
        self._host = host
        self._verifier = verifier
        self._lookup = lookup
        self._seeds = seeds
        self._clock = clock

    # The stub knows generators only; here frames are written to the context.
    async def Play(self, request_iterator: Any, context: Context) -> None:  # type: ignore[override]
        await self.streams.serve(context)

    async def Act(self, request: table_pb2.ActRequest, context: Context) -> table_pb2.ActResponse:
        live = await self._stored_match(request.match_id)
        seat, player_id = self._seat_of(request.seat_token, live)
        if seat == SPECTATOR:
            raise Rejected(
                RejectionCode.UNAUTHENTICATED, "no seat token was sent", "send the one the lobby gave you"
            )
        command = command_of(request.command, request.command_id)
        answer = await self._host.ask(
            request.match_id,
            MatchAct(
                actor_kind=ActorKind.SEAT,
                actor_seat=seat,
                actor_id=player_id,
                command_id=request.command_id,
                decision_id=request.decision_id,
                command=command,
                observed=self._host.observed(),
            ),
        )
        return table_pb2.ActResponse(
            accepted=table_pb2.Accepted(entry=answer.entry, duplicate=answer.duplicate)
        )

    async def View(self, request: table_pb2.ViewRequest, context: Context) -> table_pb2.ViewResponse:
        live = await self._stored_match(request.match_id)
        seat, _ = self._seat_of(request.seat_token, live)
        await self._newer(live, seat, request.newer_than, min(request.wait_ms, MAX_WAIT_MS))
        assert live.stored is not None
        response = table_pb2.ViewResponse(
            info=views.info(live),
            public=views.public(live),
            private=views.private(live, seat),
            view_version=views.version(live.stored, seat),
            now_ms=self._clock.now_ms(),
        )
        if seat != SPECTATOR:
            response.seat = seat
        return response

    async def OpenMatch(
        self, request: table_pb2.OpenMatchRequest, context: Context
    ) -> table_pb2.OpenMatchResponse:
        self._verifier.service(bearer(context), {"lobby"})
        setup = self._open_match(request)
        act = self._act(ActorKind.LOBBY, "lobby", f"open-{request.match_id}", setup)
        answer, state = await self._host.open(request.match_id, act)
        if state is not None and answer.duplicate and not opened_alike(state, setup):
            raise Rejected(
                RejectionCode.MATCH_EXISTS,
                f"match {request.match_id} was opened with another setup",
                "a match id is made from what the match is: use another one",
            )
        commitment = state.facts.opened.commitment if state is not None else b""
        return table_pb2.OpenMatchResponse(
            match_id=request.match_id, existed=answer.duplicate, commitment=commitment
        )

    async def Direct(self, request: table_pb2.DirectRequest, context: Context) -> table_pb2.DirectResponse:
        claims = self._verifier.service(bearer(context), {"lobby", "director", "operator"})
        command = command_of(request.command, request.command_id)
        act = self._act(ActorKind.DIRECTOR, request.director_id or claims.name, request.command_id, command)
        answer = await self._host.ask(request.match_id, act)
        metrics.OPERATOR_ACTIONS.labels(COMMAND_NAMES[type(command)], claims.role).inc()
        return table_pb2.DirectResponse(
            accepted=table_pb2.Accepted(entry=answer.entry, duplicate=answer.duplicate)
        )

    async def ListMatches(
        self, request: table_pb2.ListMatchesRequest, context: Context
    ) -> table_pb2.ListMatchesResponse:
        found = [
            live
            for live in self._host.live_matches()
            if live.wake().number
            and live.stored is not None
            and not (request.live_only and live.stored.ended)
        ]
        limit = min(request.limit or 100, MAX_LISTED)
        return table_pb2.ListMatchesResponse(matches=map(summary, found[:limit]), total=len(found))

    async def ListShards(
        self, request: table_pb2.ListShardsRequest, context: Context
    ) -> table_pb2.ListShardsResponse:
        response = table_pb2.ListShardsResponse()
        for key, owner in sorted(self._lookup.owners().items()):
            if not key.startswith("match."):
                continue
            name = key.removeprefix("match.")
            status = response.shards.add(shard=name, owner="" if owner.released else owner.instance)
            status.address, status.epoch = owner.address, owner.epoch
            host = self._host.shards.get(name)
            if host is not None and host.shard is not None:
                status.epoch = host.shard.epoch
                status.stalled = host.shard.stalled
                status.live_matches = sum(1 for live in host.matches.values() if not live.published)
        return response

    # --- checks -----------------------------------------------------------------------------------------------------

    def _seat_of(self, token: str, live: LiveMatch) -> tuple[int, str]:
        """The seat and player a token stands for; without one, a spectator. Raises Rejected."""
        if not token:
            return SPECTATOR, ""
        claims = self._verifier.seat(token, live.id)
        seats = live.wake().facts.opened.seats
        if claims.seat >= len(seats) or seats[claims.seat].player_id != claims.player_id:
            raise Rejected(
                RejectionCode.WRONG_SEAT,
                f"seat {claims.seat} of match {live.id} is not that player's",
                "ask the lobby for a new seat token (GetSeat)",
            )
        return claims.seat, claims.player_id

    def _open_match(self, request: table_pb2.OpenMatchRequest) -> OpenMatchCommand:
        if request.setup.server_seed:
            raise Rejected(
                RejectionCode.MALFORMED, "the server seed is the table's to draw", "leave server_seed empty"
            )
        request.setup.server_seed = self._seeds.draw()
        try:
            return read_open_match(request.setup)
        except Unreadable as error:
            raise Rejected(RejectionCode.MALFORMED, str(error), "set every field of the setup") from error

    def _act(self, kind: ActorKind, actor_id: str, command_id: str, command: Command) -> MatchAct:
        return MatchAct(
            actor_kind=kind,
            actor_seat=None,
            actor_id=actor_id,
            command_id=command_id,
            decision_id=0,
            command=command,
            observed=self._host.observed(),
        )

    async def _stored_match(self, match_id: str) -> LiveMatch:
        """The match, once everything decided for it so far is stored. Raises Rejected."""
        future: asyncio.Future[LiveMatch] = asyncio.get_running_loop().create_future()

        def found(live: LiveMatch | None) -> None:
            if future.done():
                return
            if live is not None:
                future.set_result(live)
            else:
                future.set_exception(moved(match_id))

        self._host.when_stored(match_id, found)
        return await future

    async def _newer(self, live: LiveMatch, seat: int, than: int, wait_ms: int) -> None:
        """Returns when the seat's view is newer, the match has ended, or the time is over."""
        assert live.stored is not None
        if views.version(live.stored, seat) > than or live.stored.ended is not None or not wait_ms:
            return
        watcher = Once(seat, than)
        live.watchers.append(watcher)
        try:
            await asyncio.wait_for(watcher.done.wait(), wait_ms / 1000)
        except TimeoutError:
            return
        finally:
            if watcher in live.watchers:
                live.watchers.remove(watcher)
        if watcher.rejected is not None:
            raise watcher.rejected


class Once:
    """A watcher that waits for one newer view."""

    def __init__(self, seat: int, than: int) -> None:
        self.seat = seat
        self.rejected: Rejected | None = None
        self.done = asyncio.Event()
        self._than = than

    def show(self, shown: views.Shown) -> None:
        if shown.seen[self.seat].version > self._than:
            self.done.set()

    def lost(self, moved: Rejected) -> None:
        self.rejected = moved
        self.done.set()


def opened_alike(state: MatchState, setup: OpenMatchCommand) -> bool:
    """Whether a match was opened as this setup says: the same game for the same players in the same place."""
    opened = state.facts.opened
    same_place = (opened.tournament_id, opened.round, opened.pod) == (
        setup.tournament_id,
        setup.round,
        setup.pod,
    )
    same_seats = [(s.player_id, s.controller) for s in opened.seats] == [
        (s.player_id, s.controller) for s in setup.seats
    ]
    defaults = match.game_of(state).rules_versions[state.rules_version]
    same_options = opened.options == options.texts(options.complete(defaults, setup.options))
    return opened.game == setup.game and same_place and same_seats and same_options


def summary(live: LiveMatch) -> table_pb2.MatchSummary:
    """A match in a list."""
    state = live.stored
    assert state is not None
    message = table_pb2.MatchSummary(
        match_id=live.id,
        game=state.game,
        entries=state.number,
        player_ids=[seat.player_id for seat in state.facts.opened.seats],
        started=state.started,
        paused=state.paused,
    )
    decision = match.open_decision(state)
    if decision is not None:
        message.what_for = decision.what_for
        message.waiting_for.extend(match.waiting_for(state))
        message.due_ms = views.due_ms(state, live.credits)
    if state.ended is not None:
        fill_match_ended(message.ended, state.ended)
    return message
