"""The computer player of Thousand. It receives what its seat may see, never a state, and answers the same request alike.

`novice` follows the text's tips; `club` estimates and counts; `expert` tries its choices out on arrangements of the unseen cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from majlis.engine.games.thousand.computer import club, novice
from majlis.engine.games.thousand.computer.expert import Expert
from majlis.engine.games.thousand.computer.reading import Knowledge, read
from majlis.engine.games.thousand.legal import DECLINE, PASS, REQUEST
from majlis.engine.games.thousand.options import Options
from majlis.engine.games.thousand.state import LEFT
from majlis.engine.shuffle import Stream
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.match import ComputerLevel
from majlis.engine.vocabulary.thousand import (
    ThousandBid,
    ThousandContract,
    ThousandGive,
    ThousandPhase,
    ThousandPlay,
    ThousandPrivateView,
    ThousandView,
)
from majlis.engine.vocabulary.view import Happening, MatchView, SeatPrivateView


class ThousandComputer:
    """As `computer.Computer` wants it."""

    def choose(
        self,
        public: MatchView,
        private: SeatPrivateView,
        history: Sequence[Happening],
        options: Any,
        level: ComputerLevel,
        key: bytes,
    ) -> tuple[Command, int]:
        """The move, and a human pace for it: 1 to 4 s, drawn from the key; less where there is no choice."""
        view, may = public.game_view, private.game_view
        if not isinstance(view, ThousandView) or not isinstance(may, ThousandPrivateView):
            raise ValueError("a computer player of Thousand needs views of Thousand")
        stream = Stream(sha256(b"majlis thousand computer 1" + key).digest())
        thinking_ms = 1000 + stream.below(1500) + stream.below(1500)
        if view.phase is ThousandPhase.REDEAL:
            # Always after the same time: how long this phase lasts tells nothing (THO-O12).
            return (REQUEST if may.may_request_redeal else DECLINE), 1000
        if len(may.may_play) == 1:
            return ThousandPlay(card=may.may_play[0]), 600
        knowledge = read(view, may, private.seat, history)
        return _choose(knowledge, options, level, stream), thinking_ms


def _choose(knowledge: Knowledge, options: Options, level: ComputerLevel, stream: Stream) -> Command:
    phase = knowledge.view.phase
    if phase is ThousandPhase.AUCTION:
        return _bid(knowledge, options, level, stream)
    if phase is ThousandPhase.CONTRACT:
        return _contract(knowledge, options, level, stream)
    if level is ComputerLevel.EXPERT:
        expert = Expert(knowledge, options, stream)
        if phase is ThousandPhase.TRICK:
            return ThousandPlay(card=expert.play())
        is_first = phase is ThousandPhase.GIVE_LEFT
        receiver = LEFT[knowledge.seat] if is_first else LEFT[LEFT[knowledge.seat]]
        return ThousandGive(card=expert.gift(receiver, is_first=is_first))
    player = novice if level is ComputerLevel.NOVICE else club
    if phase is ThousandPhase.TRICK:
        return ThousandPlay(card=player.play(knowledge))
    return ThousandGive(card=player.gift(knowledge.hand))


def _bid(knowledge: Knowledge, options: Options, level: ComputerLevel, stream: Stream) -> Command:
    """The least bid, as long as it is worth it: a jump would only tell."""
    amount = knowledge.may.min_amount
    if not amount:
        return PASS
    if level is ComputerLevel.EXPERT:
        bids = Expert(knowledge, options, stream).bids(amount)
    else:
        player = novice if level is ComputerLevel.NOVICE else club
        bids = amount <= player.limit(knowledge.hand)
    return ThousandBid(amount=amount) if bids else PASS


def _contract(knowledge: Knowledge, options: Options, level: ComputerLevel, stream: Stream) -> Command:
    least, most = knowledge.may.min_amount, knowledge.may.max_amount
    amount = least
    if level is ComputerLevel.EXPERT:
        amount = Expert(knowledge, options, stream).contract(least, most, options.bid_step)
    elif level is ComputerLevel.CLUB:
        amount = min(most, max(least, club.contract(knowledge.hand)))
    return ThousandContract(amount=amount - (amount - least) % options.bid_step)
