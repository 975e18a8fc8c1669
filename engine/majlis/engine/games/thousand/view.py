"""What may be seen: a hand by its owner, a gift by giver and receiver, the talon by all once it is taken (THO-T8, THO-T31)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.thousand.cards import cards_of, set_points
from majlis.engine.games.thousand.deals import marriages_of
from majlis.engine.games.thousand.legal import (
    bid_range,
    contract_range,
    declaring,
    may_request,
    playable,
    waiting,
)
from majlis.engine.games.thousand.scoring import read_sheet
from majlis.engine.games.thousand.state import (
    AUCTION,
    CONTRACT,
    GIVE_LEFT,
    GIVE_RIGHT,
    HAND,
    LEFT,
    NOT_STARTED,
    REDEAL,
    REQUESTED,
    SEATS,
    TRICK,
    State,
)
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.thousand import (
    ThousandBidMade,
    ThousandCardGiven,
    ThousandCardPlayed,
    ThousandContractFixed,
    ThousandDealerDrawn,
    ThousandDealScored,
    ThousandDealt,
    ThousandHappening,
    ThousandMarriageDeclared,
    ThousandPassed,
    ThousandPrivateView,
    ThousandRedealDeclined,
    ThousandRedealGranted,
    ThousandRedealRequested,
    ThousandSeatView,
    ThousandTalonTaken,
    ThousandTrickTaken,
    ThousandView,
)
from majlis.engine.vocabulary.thousand import ThousandHappeningKind as Kind


def public_view(state: State) -> ThousandView:
    """What a spectator sees."""
    frame, phase = state.frame, state.phase
    sheet = read_sheet(frame.sheet)
    sees_last = frame.options.past_tricks == "last" and state.tricks > 0
    return ThousandView(
        phase=phase,
        deal=frame.deal,
        redeals=frame.redeals,
        dealer=None if phase is NOT_STARTED else frame.dealer,
        turn=state.turn,
        seats=tuple([_seat_view(state, seat) for seat in range(SEATS)]),
        declarer=frame.declarer,
        bid=frame.bid or None,
        contract=frame.contract or None,
        talon=cards_of(frame.shown_talon),
        leader=state.leader if phase is TRICK else None,
        trick=state.trick,
        trump=None if state.trump < 0 else state.trump,
        last_trick=state.last_trick if sees_last else b"",
        last_leader=state.last_leader if sees_last else None,
        scores=frame.scores,
        sheet_declarers=sheet.declarers,
        sheet_contracts=sheet.contracts,
        sheet_results=sheet.results,
        last_deal=frame.last,
        shown=frame.shown,
    )


def _seat_view(state: State, seat: int) -> ThousandSeatView:
    won = state.won[seat]
    return ThousandSeatView(
        cards=state.hands[seat].bit_count(),
        bid=state.frame.bids[seat] or None,
        passed=state.frame.passed >> seat & 1 == 1,
        tricks=won.bit_count() // SEATS,
        card_points=set_points(won),
        marriages=tuple(marriages_of(state, seat)) if state.declared else (),
    )


def private_view(state: State, seat: int) -> ThousandPrivateView:
    """What the seat sees on top: its hand, its gifts, and what it may do."""
    frame = state.frame
    received = given_left = given_right = None
    if frame.declarer == seat:
        given_left, given_right = (*frame.given, None, None)[:2]
    elif frame.declarer is not None:
        place = 0 if LEFT[frame.declarer] == seat else 1
        received = frame.given[place] if len(frame.given) > place else None
    return ThousandPrivateView(
        hand=cards_of(state.hands[seat]),
        received=received,
        given_left=given_left,
        given_right=given_right,
        requested_redeal=state.phase is REDEAL and frame.answers[seat] == REQUESTED,
        **_allowed(state, seat),
    )


def _allowed(state: State, seat: int) -> dict[str, Any]:
    phase = state.phase
    if phase is REDEAL and seat in waiting(state):
        return {"may_request_redeal": may_request(state, seat), "may_decline_redeal": True}
    if seat != state.turn:
        return {}
    if phase is TRICK:
        cards = playable(state, seat)
        return {"may_play": cards_of(cards), "declares": cards_of(cards & declaring(state, seat))}
    if phase is AUCTION:
        least, most = bid_range(state, seat)
        return {"may_pass": True, "min_amount": least, "max_amount": most}
    if phase is GIVE_LEFT or phase is GIVE_RIGHT:
        return {"may_give": cards_of(state.hands[seat])}
    if phase is CONTRACT:
        least, most = contract_range(state, seat)
        return {"min_amount": least, "max_amount": most}
    return {}


def happening(event: Event, viewer: int) -> ThousandHappening | None:
    """What everybody may be told of an event, or what one seat alone is told instead: its hand, its gift."""
    if viewer == SPECTATOR:
        tell = _PUBLIC.get(type(event))
        return None if tell is None else tell(event)
    if isinstance(event, ThousandDealt) and 0 <= viewer < SEATS:
        hand = bytes(sorted(event.order[HAND * viewer : HAND * (viewer + 1)]))
        return ThousandHappening(kind=Kind.DEALT, seat=event.dealer, cards=hand)
    if isinstance(event, ThousandCardGiven) and viewer in (event.seat, event.receiver):
        return ThousandHappening(kind=Kind.GIVEN, seat=event.seat, receiver=event.receiver, card=event.card)
    return None


def _answered(event: ThousandRedealRequested | ThousandRedealDeclined) -> ThousandHappening:
    return ThousandHappening(kind=Kind.REDEAL_ANSWERED, seat=event.seat)


def _granted(event: ThousandRedealGranted) -> ThousandHappening:
    return ThousandHappening(kind=Kind.REDEAL_GRANTED, seat=event.seat, cards=event.hand)


def _talon_taken(event: ThousandTalonTaken) -> ThousandHappening:
    return ThousandHappening(kind=Kind.TALON_TAKEN, seat=event.seat, amount=event.bid, cards=event.cards)


def _marriage(event: ThousandMarriageDeclared) -> ThousandHappening:
    return ThousandHappening(kind=Kind.MARRIAGE, seat=event.seat, suit=event.suit, amount=event.points)


def _scored(event: ThousandDealScored) -> ThousandHappening:
    return ThousandHappening(
        kind=Kind.SCORED, seat=event.declarer, amount=event.contract, results=event.results
    )


_PUBLIC: Final[dict[type, Callable[[Any], ThousandHappening]]] = {
    ThousandDealerDrawn: lambda event: ThousandHappening(kind=Kind.DEALER_DRAWN, seat=event.dealer),
    ThousandDealt: lambda event: ThousandHappening(kind=Kind.DEALT, seat=event.dealer),
    ThousandRedealRequested: _answered,
    ThousandRedealDeclined: _answered,
    ThousandRedealGranted: _granted,
    ThousandBidMade: lambda event: ThousandHappening(kind=Kind.BID, seat=event.seat, amount=event.amount),
    ThousandPassed: lambda event: ThousandHappening(kind=Kind.PASSED, seat=event.seat),
    ThousandTalonTaken: _talon_taken,
    ThousandCardGiven: lambda event: ThousandHappening(
        kind=Kind.GIVEN, seat=event.seat, receiver=event.receiver
    ),
    ThousandContractFixed: lambda event: ThousandHappening(
        kind=Kind.CONTRACT, seat=event.seat, amount=event.amount
    ),
    ThousandCardPlayed: lambda event: ThousandHappening(kind=Kind.PLAYED, seat=event.seat, card=event.card),
    ThousandMarriageDeclared: _marriage,
    ThousandTrickTaken: lambda event: ThousandHappening(
        kind=Kind.TRICK_TAKEN, seat=event.seat, amount=event.points
    ),
    ThousandDealScored: _scored,
}
