"""Players that sit at many matches, see only what their seats are shown, and play random legal moves.

All seats of a match are held here, so that the time from sending a move until every seat's view holds it can be
measured. A lost stream or an answer MOVED changes nothing: the seats attach again, at the new owner if there is one,
from the view they have, and repeat what is unanswered under the same command ids.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from majlis.engine.match import SEATING
from majlis.loadtest.choices import CHOOSERS, Options
from majlis.loadtest.directory import Directory
from majlis.loadtest.link import Link
from majlis.loadtest.measure import Latencies
from majlis.loadtest.seats import Seat, SeatedMatch, Sent, find
from majlis.loadtest.tally import Tally
from majlis.v1 import entry_pb2, match_pb2, rejection_pb2, table_pb2, view_pb2

RETRY_S: Final = 0.1
_ELSEWHERE: Final = frozenset(
    {
        rejection_pb2.REJECTION_CODE_MOVED,
        rejection_pb2.REJECTION_CODE_UNAVAILABLE,
        rejection_pb2.REJECTION_CODE_DRAINING,
    }
)
_GONE: Final = frozenset(
    {rejection_pb2.REJECTION_CODE_MATCH_FINISHED, rejection_pb2.REJECTION_CODE_UNKNOWN_MATCH}
)
_SIT_DOWN: Final = entry_pb2.Command(take_seat=match_pb2.TakeSeat())


class Players:
    """Everybody at some matches. `on_ended` is called for each match that ends.

    Closed loop: whoever may move does so at once. `paced`: only when a move is due (`SeatedMatch.dues`).
    """

    def __init__(
        self, directory: Directory, on_ended: Callable[[SeatedMatch], None] = lambda match: None
    ) -> None:
        self.matches: dict[str, SeatedMatch] = {}
        self.playing = False
        self.paced = False
        self.tally = Tally()
        self.latencies = Latencies()
        self._began = time.perf_counter()
        self._directory = directory
        self._on_ended = on_ended
        self._routes: dict[int, Seat] = {}
        self._last_route = 0
        self._last_command = 0
        self._homeless: dict[str, SeatedMatch] = {}
        self._search = asyncio.Event()
        self._links: dict[str, Link] = {}
        self._tasks: list[asyncio.Task[None]] = []

    # --- from outside -----------------------------------------------------------------------------------------------

    def join(self, match_id: str, game: str, tokens: Sequence[str], options: Options) -> SeatedMatch:
        """Takes all seats of a match, one token each."""
        match = self.matches[match_id] = SeatedMatch(match_id, game, options)
        for number, token in enumerate(tokens):
            self._last_route += 1
            seat = self._routes[self._last_route] = Seat(match, number, self._last_route, token)
            match.seats.append(seat)
        self._lose(match)
        return match

    def play(self, match: SeatedMatch) -> None:
        """Makes the moves that a match waits for now: all of them, or as many as are due."""
        view = match.view
        if view is None or match.link is None or match.ended:
            return
        for number in view.waiting_for:
            if any(sent.seat.number == number for sent in match.sent):
                continue
            seat = match.seats[number]
            if view.decision_id == SEATING:
                self._send(seat, SEATING, _SIT_DOWN, time.perf_counter())
            elif not self.playing:
                return
            elif not self.paced:
                self._move(seat, view, time.perf_counter())
            elif match.dues:
                self._move(seat, view, match.dues.popleft())

    def begin_tally(self) -> None:
        """Counts from zero again; moves under way count when they are done."""
        self.tally, self.latencies, self._began = Tally(), Latencies(), time.perf_counter()

    def tallied(self) -> Tally:
        """What was counted since `begin_tally`, and what is under way now."""
        waiting = [sent for match in self.matches.values() for sent in match.sent]
        self.tally.unanswered = sum(1 for sent in waiting if not sent.accepted)
        self.tally.unseen = sum(1 for sent in waiting if sent.accepted)
        self.tally.seconds = time.perf_counter() - self._began
        self.tally.latencies = self.latencies.counts
        return self.tally

    async def settled(self, timeout_s: float) -> bool:
        """Whether everything sent was answered and seen within that time. To be called when nobody plays any more."""
        deadline = time.perf_counter() + timeout_s
        while any(match.sent for match in self.matches.values()):
            if time.perf_counter() > deadline:
                return False
            await asyncio.sleep(0.02)
        return True

    def cut(self) -> None:
        """Breaks every stream, as a network would."""
        for link in self._links.values():
            link.cut()

    async def run(self) -> None:
        """Keeps the seats attached until cancelled."""
        try:
            while True:
                await self._search.wait()
                self._search.clear()
                while self._homeless:
                    await self._directory.refresh()
                    self._attach_homeless()
                    if self._homeless:
                        await asyncio.sleep(RETRY_S)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- attaching --------------------------------------------------------------------------------------------------

    def _attach_homeless(self) -> None:
        for match in list(self._homeless.values()):
            address = self._directory.address_of(match.id)
            link = self._link_to(address) if address is not None else None
            if link is not None and link.open:
                del self._homeless[match.id]
                match.link = link
                for seat in match.seats:
                    # In case the instance still holds it there: it may have lost the match and have it again.
                    link.detach(seat.route)
                    link.send(
                        table_pb2.Attach(
                            route=seat.route,
                            match_id=match.id,
                            seat_token=seat.token,
                            have_view_version=seat.version,
                        )
                    )

    def _link_to(self, address: str) -> Link:
        link = self._links.get(address)
        if link is None:
            link = Link(address, self._take, self._search.set, lambda: self._broken(address))
            self._links[address] = link
            self._tasks.append(asyncio.create_task(link.run()))
        return link

    def _broken(self, address: str) -> None:
        self.tally.breaks += 1
        for match in self.matches.values():
            if match.link is self._links[address]:
                self._lose(match)

    def _lose(self, match: SeatedMatch) -> None:
        """The match has to be looked for."""
        if not match.ended:
            match.link = None
            self._homeless[match.id] = match
            self._search.set()

    # --- what comes in ----------------------------------------------------------------------------------------------

    def _take(self, link: Link, frame: table_pb2.PlayDown) -> None:
        for attached in frame.attached:
            self._attached(link, attached)
        for answer in frame.answers:
            self._answered(link, answer)
        for update in frame.updates:
            self._updated(update)

    def _attached(self, link: Link, attached: table_pb2.Attached) -> None:
        seat = self._routes.get(attached.route)
        if seat is None or seat.match.link is not link:
            return  # we are elsewhere by now
        match, code = seat.match, attached.rejected.code
        if not attached.HasField("rejected"):
            for sent in match.sent:
                if sent.seat is seat and not sent.accepted:
                    link.send(sent.act)
        elif code in _ELSEWHERE:
            self._lose(match)
        elif code in _GONE:
            self._end(match)
        else:
            self.tally.refuse(rejection_pb2.RejectionCode.Name(code))

    def _answered(self, link: Link, answer: table_pb2.Answer) -> None:
        seat = self._routes.get(answer.route)
        sent = find(seat, answer.command_id)
        if seat is None or sent is None:
            self.tally.strange += 1
            return
        if answer.HasField("accepted"):
            self.tally.accepted += 1
            self.tally.duplicates += answer.accepted.duplicate
            sent.accepted = True
            if not sent.unseen:
                seat.match.sent.remove(sent)
        elif answer.rejected.code in _ELSEWHERE:
            self.tally.moved += 1
            if seat.match.link is link:
                self._lose(seat.match)
        else:
            self.tally.refuse(rejection_pb2.RejectionCode.Name(answer.rejected.code))
            seat.match.sent.remove(sent)

    def _updated(self, update: table_pb2.Update) -> None:
        match = self.matches.get(update.match_id)
        if match is None:
            self.tally.strange += 1
            return
        view = match.view = view_pb2.MatchView.FromString(update.public)
        self.tally.views += len(update.routes)
        for shown in update.routes:
            seat = self._routes[shown.route]
            self.tally.strange += shown.view_version < seat.version
            seat.version, seat.private = shown.view_version, shown.private
        for sent in list(match.sent):
            if sent.is_held_by(view):
                self._seen(sent, update)
        if view.HasField("ended"):
            self._end(match)
        else:
            self.play(match)

    def _seen(self, sent: Sent, update: table_pb2.Update) -> None:
        if not sent.unseen:
            return
        sent.unseen.difference_update([shown.route for shown in update.routes])
        if not sent.unseen:
            if not sent.sits_down:
                self.tally.seen += 1
                self.latencies.add(time.perf_counter() - sent.began)
            if sent.accepted:
                sent.seat.match.sent.remove(sent)

    def _end(self, match: SeatedMatch) -> None:
        if not match.ended:
            match.ended = True
            self.tally.ended += 1
            self._homeless.pop(match.id, None)
            self._on_ended(match)

    def leave(self, match: SeatedMatch) -> None:
        """Forgets a match."""
        self.matches.pop(match.id, None)
        for seat in match.seats:
            self._routes.pop(seat.route, None)
            if match.link is not None:
                match.link.detach(seat.route)

    # --- what goes out ----------------------------------------------------------------------------------------------

    def _move(self, seat: Seat, view: view_pb2.MatchView, began: float) -> None:
        private = view_pb2.SeatPrivateView.FromString(seat.private)
        command = CHOOSERS[seat.match.game](view, private, seat.match.options)
        if command is None:
            self.tally.strange += 1
            return
        self._send(seat, view.decision_id, command, began)

    def _send(self, seat: Seat, decision_id: int, command: entry_pb2.Command, began: float) -> None:
        self._last_command += 1
        act = table_pb2.Act()
        act.route, act.command_id, act.decision_id = seat.route, f"{self._last_command:x}", decision_id
        act.command.CopyFrom(command)
        seat.match.sent.append(Sent(seat, act, began))
        self.tally.sent += 1
        if seat.match.link is not None:
            seat.match.link.send(act)
