"""How a deal begins and ends: the pack, the redeal phase, the auction's start, the score."""

from __future__ import annotations

from majlis.engine.decider import Emitter
from majlis.engine.games.thousand.cards import MARRIAGES, PACK, cards_of, set_points
from majlis.engine.games.thousand.legal import bid_range
from majlis.engine.games.thousand.scoring import is_over, results
from majlis.engine.games.thousand.state import LEFT, OPENING_BID, REQUESTED, SEATS, State, declarer_of
from majlis.engine.vocabulary.thousand import (
    ThousandBidMade,
    ThousandDealerDrawn,
    ThousandDealScored,
    ThousandDealt,
    ThousandPassed,
    ThousandRedealGranted,
    ThousandTalonTaken,
)


def emit_first_deal(emit: Emitter[State]) -> None:
    """Draws who deals first, and deals (THO-O13)."""
    dealer = emit.state.frame.chance.stream(0, "dealer").below(SEATS)
    emit(ThousandDealerDrawn(dealer=dealer))
    emit(dealt(emit.state, 1, 0, dealer))


def dealt(state: State, deal: int, redeals: int, dealer: int) -> ThousandDealt:
    """All 24 cards, shuffled (THO-2)."""
    order = state.frame.chance.stream(deal, "pack", redeals).shuffle(PACK)
    return ThousandDealt(deal=deal, redeals=redeals, dealer=dealer, order=order)


def emit_after_answers(emit: Emitter[State]) -> None:
    """All have answered: the same dealer deals again, or the auction begins (THO-O12, THO-7)."""
    state = emit.state
    frame = state.frame
    if REQUESTED in frame.answers:
        seat = frame.answers.index(REQUESTED)
        emit(ThousandRedealGranted(seat=seat, hand=cards_of(state.hands[seat])))
        emit(dealt(state, frame.deal, frame.redeals + 1, frame.dealer))
        return
    emit(ThousandBidMade(seat=LEFT[frame.dealer], amount=OPENING_BID))
    emit_auction(emit)


def emit_auction(emit: Emitter[State]) -> None:
    """After a bid or a pass: who cannot bid passes, where that is not left to the seat (THO-O4); then the end."""
    if emit.state.frame.options.auto_pass == "yes":
        while emit.state.turn is not None and bid_range(emit.state, emit.state.turn) == (0, 0):
            emit(ThousandPassed(seat=emit.state.turn))
    state = emit.state
    if state.turn is None:
        frame = state.frame
        declarer = next(seat for seat in range(SEATS) if not frame.passed >> seat & 1)
        emit(ThousandTalonTaken(seat=declarer, bid=frame.bid, cards=cards_of(state.talon)))


def marriages_of(state: State, seat: int) -> list[int]:
    """The suits of the marriages that the seat has declared."""
    return [each % 4 for each in state.declared if each // 4 == seat]


def emit_end(emit: Emitter[State]) -> None:
    """The deal is scored, and the next one is dealt unless the match is over (THO-28 to THO-36)."""
    state = emit.state
    frame = state.frame
    declarer = declarer_of(frame)
    cards = [set_points(won) for won in state.won]
    marriages = [sum([MARRIAGES[suit] for suit in marriages_of(state, seat)]) for seat in range(SEATS)]
    totals = [own + married for own, married in zip(cards, marriages, strict=True)]
    changes = results(frame.options, frame.scores, totals, declarer, frame.contract, frame.attempts)
    scores = tuple([score + change for score, change in zip(frame.scores, changes, strict=True)])
    emit(
        ThousandDealScored(
            deal=frame.deal,
            declarer=declarer,
            contract=frame.contract,
            made=totals[declarer] >= frame.contract,
            card_points=tuple(cards),
            marriage_points=tuple(marriages),
            results=changes,
            scores=scores,
        )
    )
    if not is_over(frame.options, frame.deal, scores):
        emit(dealt(emit.state, frame.deal + 1, 0, LEFT[frame.dealer]))
