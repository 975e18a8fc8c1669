"""What may be seen: a hand by its owner and, if the match says so, by his team; what was drawn by its owner; the ground by all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from majlis.engine.decider import SPECTATOR
from majlis.engine.games.numbers.cards import PICTURE_KIND, SYMBOL_KIND
from majlis.engine.games.numbers.legal import may_again, may_draw, may_keep
from majlis.engine.games.numbers.state import (
    AGAIN,
    CORRECTION,
    NOT_STARTED,
    NOTHING,
    OVER,
    PLAYED,
    TURN,
    State,
    team_of,
)
from majlis.engine.vocabulary.entry import Event
from majlis.engine.vocabulary.numbers import (
    NumbersAgainPlayed,
    NumbersCalculated,
    NumbersCorrected,
    NumbersDealerDrawn,
    NumbersDealScored,
    NumbersDealt,
    NumbersDrawn,
    NumbersFaulted,
    NumbersGaveUp,
    NumbersHappening,
    NumbersJokerPlayed,
    NumbersKept,
    NumbersOpened,
    NumbersPartnerHand,
    NumbersPileShuffled,
    NumbersPlayed,
    NumbersPlayerOut,
    NumbersPrivateView,
    NumbersRecycled,
    NumbersSeatView,
    NumbersStuck,
    NumbersTurnEnded,
    NumbersView,
)
from majlis.engine.vocabulary.numbers import NumbersHappeningKind as Kind


def public_view(state: State) -> NumbersView:
    """What a spectator sees."""
    frame, phase = state.frame, state.phase
    return NumbersView(
        phase=phase,
        deal=frame.deal,
        extra=frame.extra,
        dealer=None if phase is NOT_STARTED else frame.dealer,
        turn=state.turn if TURN <= phase < OVER else None,
        players=frame.players,
        seats=tuple([_seat_view(state, seat) for seat in range(frame.seats)]),
        ground=state.ground,
        target=None if state.target == NOTHING else state.target,
        any_symbol=bool(state.rights & SYMBOL_KIND),
        any_picture=bool(state.rights & PICTURE_KIND),
        pile=len(state.pile),
        thrown=state.thrown,
        fault=state.fault if phase is CORRECTION else None,
        last_deal=frame.last,
    )


def _seat_view(state: State, seat: int) -> NumbersSeatView:
    frame = state.frame
    if not state.hands:
        return NumbersSeatView(team=team_of(frame, seat))
    return NumbersSeatView(
        cards=len(state.hands[seat]),
        plays=seat in frame.players,
        rank=frame.out.index(seat) + 1 if seat in frame.out else 0,
        bonus=frame.bonuses[seat],
        total=frame.totals[seat],
        team=team_of(frame, seat),
    )


def private_view(state: State, seat: int) -> NumbersPrivateView:
    """What the seat sees on top: its hand, its partners' (NUM-O23), and what kinds of command it may give."""
    frame, phase = state.frame, state.phase
    if not state.hands:
        return NumbersPrivateView()
    partners = partners_of(state, seat)
    hand = state.hands[seat]
    if seat != state.turn or not TURN <= phase < OVER:
        return NumbersPrivateView(hand=hand, partners=partners)
    options = frame.options
    return NumbersPrivateView(
        hand=hand,
        drawn=None if state.drawn == NOTHING else state.drawn,
        may_play=phase not in (PLAYED, CORRECTION),
        may_draw=(options.draw_when == "freely" and phase is TURN)
        or (phase is AGAIN and may_draw(state, seat)),
        may_keep=may_keep(state),
        may_again=may_again(state, seat),
        may_end=phase is PLAYED,
        may_correct=phase is CORRECTION,
        partners=partners,
    )


def partners_of(state: State, seat: int) -> tuple[NumbersPartnerHand, ...]:
    """NUM-O23: the hands of the seat's team, where they are open to it."""
    frame = state.frame
    if not frame.options.teams or frame.options.team_open_hands == "no":
        return ()
    team = team_of(frame, seat)
    return tuple(
        [
            NumbersPartnerHand(seat=other, hand=state.hands[other])
            for other in range(frame.seats)
            if other != seat and team_of(frame, other) == team
        ]
    )


def happening(event: Event, viewer: int) -> NumbersHappening | None:
    """What everybody may be told of an event, or what one seat alone is told instead: its cards."""
    if viewer == SPECTATOR:
        tell = _PUBLIC.get(type(event))
        return None if tell is None else tell(event)
    if isinstance(event, NumbersDealt) and viewer in event.players:
        start = event.players.index(viewer) * event.hand
        hand = bytes(sorted(event.order[start : start + event.hand]))
        return NumbersHappening(kind=Kind.DEALT, seat=event.dealer, cards=hand, seats=event.players)
    if isinstance(event, NumbersDrawn) and viewer == event.seat:
        kind = Kind.PENALTY if event.penalty else Kind.DRAWN
        return NumbersHappening(kind=kind, seat=viewer, cards=event.cards, amount=len(event.cards))
    return None


def _told(kind: Kind, event: Any, **fields: Any) -> NumbersHappening:
    return NumbersHappening(kind=kind, seat=event.seat, **fields)


def _joker(event: NumbersJokerPlayed) -> NumbersHappening:
    cards = [event.joker] if event.cover is None else [event.joker, event.cover]
    return _told(Kind.JOKER, event, cards=bytes(cards))


def _faulted(event: NumbersFaulted) -> NumbersHappening:
    return _told(
        Kind.FAULTED,
        event,
        cards=event.cards,
        operations=event.operations,
        stays=event.stays,
        fault=event.fault,
    )


def _drawn(event: NumbersDrawn) -> NumbersHappening:
    return _told(Kind.PENALTY if event.penalty else Kind.DRAWN, event, amount=len(event.cards))


def _reckoned(kind: Kind) -> Callable[[Any], NumbersHappening]:
    return lambda event: _told(
        kind, event, cards=event.cards, operations=event.operations, amount=getattr(event, "bonus", None)
    )


_PUBLIC: Final[dict[type, Callable[[Any], NumbersHappening]]] = {
    NumbersDealerDrawn: lambda event: NumbersHappening(kind=Kind.DEALER_DRAWN, seat=event.dealer),
    NumbersDealt: lambda event: NumbersHappening(kind=Kind.DEALT, seat=event.dealer, seats=event.players),
    NumbersPileShuffled: lambda event: NumbersHappening(kind=Kind.PILE_SHUFFLED),
    NumbersOpened: lambda event: NumbersHappening(kind=Kind.OPENED, cards=event.jokers + bytes([event.card])),
    NumbersPlayed: lambda event: _told(Kind.PLAYED, event, cards=bytes([event.card])),
    NumbersCalculated: _reckoned(Kind.CALCULATED),
    NumbersJokerPlayed: _joker,
    NumbersAgainPlayed: lambda event: _told(Kind.AGAIN, event),
    NumbersDrawn: _drawn,
    NumbersRecycled: lambda event: NumbersHappening(kind=Kind.RECYCLED, amount=len(event.pile)),
    NumbersKept: lambda event: _told(Kind.KEPT, event),
    NumbersTurnEnded: lambda event: _told(Kind.TURN_ENDED, event),
    NumbersFaulted: _faulted,
    NumbersCorrected: _reckoned(Kind.CORRECTED),
    NumbersGaveUp: _reckoned(Kind.GAVE_UP),
    NumbersPlayerOut: lambda event: _told(Kind.OUT, event, amount=event.rank),
    NumbersStuck: lambda event: NumbersHappening(kind=Kind.STUCK, seats=event.ranking),
    NumbersDealScored: lambda event: NumbersHappening(kind=Kind.SCORED, points=event.points),
}
