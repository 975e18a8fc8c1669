"""Events folded into the state: total and silent. What an event means is decided in `rules`, not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from majlis.engine.games.numbers.cards import AGAIN as AGAIN_CARD
from majlis.engine.games.numbers.cards import RIGHTS_OF, top_place, without
from majlis.engine.games.numbers.scoring import bonus, resolved
from majlis.engine.games.numbers.state import (
    AGAIN,
    CORRECTION,
    DREW,
    DREW_AGAIN,
    NOTHING,
    OVER,
    PLAYED,
    TURN,
    State,
    next_player,
    put,
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
    NumbersFault,
    NumbersFaulted,
    NumbersGaveUp,
    NumbersJokerPlayed,
    NumbersKept,
    NumbersOpened,
    NumbersPileShuffled,
    NumbersPlayed,
    NumbersPlayerOut,
    NumbersRecycled,
    NumbersTurnEnded,
)

NO_FAULT: Final = NumbersFault.UNSPECIFIED


def evolve(state: State, event: Event) -> State:
    """The state after the event; events of other kinds leave it as it is."""
    fold = _FOLDS.get(type(event))
    return state if fold is None else fold(state, event)


def _dealer_drawn(state: State, event: NumbersDealerDrawn) -> State:
    return replace(state, frame=replace(state.frame, dealer=event.dealer))


def _dealt(state: State, event: NumbersDealt) -> State:
    frame, size = state.frame, event.hand
    hands = [b""] * frame.seats
    for place, seat in enumerate(event.players):
        if seat < frame.seats:
            hands[seat] = bytes(sorted(event.order[place * size : (place + 1) * size]))
    frame = replace(
        frame,
        deal=event.deal,
        extra=event.extra,
        redeals=event.redeals,
        recycled=0,
        dealer=event.dealer,
        players=event.players,
        out=(),
        bonuses=(0,) * frame.seats,
        aside=b"",
        totals=frame.totals or (0,) * frame.seats,
        recent=frame.recent or (0,) * frame.seats,
        ranks=frame.ranks or (0,) * frame.seats,
    )
    return State(
        frame,
        TURN,
        state.decision_id + 1,
        event.players[0] if event.players else 0,
        tuple(hands),
        event.order[len(event.players) * size :],
    )


def _pile_shuffled(state: State, event: NumbersPileShuffled) -> State:
    return replace(state, pile=event.pile)


def _opened(state: State, event: NumbersOpened) -> State:
    """The jokers go to the bottom or aside; under `reshuffle` they have gone into the pile before (NUM-O4)."""
    pile = state.pile[: len(state.pile) - len(event.jokers) - 1]
    frame = state.frame
    if frame.options.opening_joker == "set_aside":
        frame = replace(frame, aside=frame.aside + event.jokers)
    else:
        pile = event.jokers[::-1] + pile
    return replace(
        state,
        frame=frame,
        pile=pile,
        ground=state.ground + bytes([event.card]),
        target=event.card,
        rights=0,
    )


def _put_down(state: State, seat: int, cards: bytes, target: int, rights: int) -> State:
    """The seat's play stands: it may go on with the joker play-again, or end its turn."""
    return State(
        state.frame,
        PLAYED,
        state.decision_id + 1,
        seat,
        put(state.hands, seat, without(state.hands[seat], cards)),
        state.pile,
        state.ground + cards,
        target,
        rights,
        NOTHING,
        state.has_drawn,
        True,
    )


def _played(state: State, event: NumbersPlayed) -> State:
    return _put_down(state, event.seat, bytes([event.card]), event.card, 0)


def _with_bonus(state: State, seat: int, points: int) -> State:
    if not points:
        return state
    bonuses = list(state.frame.bonuses)
    bonuses[seat] += points
    return replace(state, frame=replace(state.frame, bonuses=tuple(bonuses)))


def _calculated(state: State, event: NumbersCalculated) -> State:
    after = _put_down(state, event.seat, event.cards, event.cards[-1], 0)
    return _with_bonus(after, event.seat, event.bonus)


def _joker_played(state: State, event: NumbersJokerPlayed) -> State:
    if event.cover is None:
        rights = RIGHTS_OF.get(event.joker, 0)
        return _put_down(state, event.seat, bytes([event.joker]), state.target, rights)
    return _put_down(state, event.seat, bytes([event.joker, event.cover]), event.cover, 0)


def _again_played(state: State, event: NumbersAgainPlayed) -> State:
    after = _put_down(state, event.seat, bytes([AGAIN_CARD]), state.target, 0)
    return replace(after, phase=AGAIN)


def _drawn(state: State, event: NumbersDrawn) -> State:
    seat, cards = event.seat, event.cards
    left = len(state.pile) - len(cards)
    hand = bytes(sorted(state.hands[seat] + cards)) if cards else state.hands[seat]
    if event.penalty:
        return replace(
            state,
            hands=put(state.hands, seat, hand),
            pile=state.pile[:left],
            moved=state.moved or bool(cards),
        )
    return State(
        state.frame,
        DREW_AGAIN if state.phase is AGAIN else DREW,
        state.decision_id + 1,
        seat,
        put(state.hands, seat, hand),
        state.pile[:left],
        state.ground,
        state.target,
        state.rights,
        cards[0] if cards and state.frame.options.drawn_play == "containing" else NOTHING,
        True,
        state.moved or bool(cards),
        state.idle,
    )


def _recycled(state: State, event: NumbersRecycled) -> State:
    """The top number card and the jokers on it stay (NUM-O5); or a card is opened anew."""
    frame = replace(state.frame, recycled=state.frame.recycled + 1)
    reopens = frame.options.recycle_top == "reopen"
    ground = b"" if reopens else state.ground[top_place(state.ground) :]
    return replace(state, frame=frame, pile=event.pile, ground=ground)


def _turn_ended(state: State, event: NumbersTurnEnded | NumbersKept) -> State:
    return State(
        state.frame,
        TURN,
        state.decision_id + 1,
        next_player(state.frame, event.seat),
        state.hands,
        state.pile,
        state.ground,
        state.target,
        state.rights,
        idle=0 if state.moved else state.idle + 1,
    )


def _faulted(state: State, event: NumbersFaulted) -> State:
    """What stays lies on the ground; what may be corrected waits; the rest is in the hand as before."""
    seat, stays = event.seat, event.stays
    if event.correctable:
        return replace(
            state,
            phase=CORRECTION,
            decision_id=state.decision_id + 1,
            hands=put(state.hands, seat, without(state.hands[seat], event.cards)),
            drawn=NOTHING,
            thrown=event.cards,
            fault=event.fault,
        )
    if not stays:
        return replace(state, drawn=NOTHING, fault=event.fault)
    after = replace(_stays(state, seat, stays), fault=event.fault)
    return _with_bonus(after, seat, bonus(len(stays)) if state.frame.options.corrected_bonus == "yes" else 0)


def _stays(state: State, seat: int, cards: bytes) -> State:
    """What is left of a punished play: number cards, or a bare joker."""
    last = cards[-1]
    rights = RIGHTS_OF.get(last, 0)
    return _put_down(state, seat, cards, state.target if rights else last, rights)


def _returned(state: State, seat: int) -> State:
    hand = bytes(sorted(state.hands[seat] + state.thrown))
    return replace(state, hands=put(state.hands, seat, hand), thrown=b"", fault=NO_FAULT)


def _corrected(state: State, event: NumbersCorrected) -> State:
    after = _put_down(_returned(state, event.seat), event.seat, event.cards, event.cards[-1], 0)
    return _with_bonus(after, event.seat, event.bonus)


def _gave_up(state: State, event: NumbersGaveUp) -> State:
    return replace(_returned(state, event.seat), phase=PLAYED)


def _player_out(state: State, event: NumbersPlayerOut) -> State:
    return replace(state, frame=replace(state.frame, out=(*state.frame.out, event.seat)))


def _deal_scored(state: State, event: NumbersDealScored) -> State:
    frame, counts = state.frame, state.frame.players
    took_part = [seat in counts for seat in range(frame.seats)]
    frame = replace(
        frame,
        totals=event.totals,
        recent=tuple(
            [new if t else old for t, new, old in zip(took_part, event.points, frame.recent, strict=False)]
        ),
        ranks=tuple(
            [new if t else old for t, new, old in zip(took_part, event.ranks, frame.ranks, strict=False)]
        ),
        last=event,
    )
    frame = replace(
        frame, standing=resolved(frame, event.points if event.extra else event.totals, extra=event.extra)
    )
    return replace(state, frame=frame, phase=OVER if event.over else state.phase)


_FOLDS: Final[dict[type, Callable[[State, Any], State]]] = {
    NumbersDealerDrawn: _dealer_drawn,
    NumbersDealt: _dealt,
    NumbersPileShuffled: _pile_shuffled,
    NumbersOpened: _opened,
    NumbersPlayed: _played,
    NumbersCalculated: _calculated,
    NumbersJokerPlayed: _joker_played,
    NumbersAgainPlayed: _again_played,
    NumbersDrawn: _drawn,
    NumbersRecycled: _recycled,
    NumbersKept: _turn_ended,
    NumbersTurnEnded: _turn_ended,
    NumbersFaulted: _faulted,
    NumbersCorrected: _corrected,
    NumbersGaveUp: _gave_up,
    NumbersPlayerOut: _player_out,
    NumbersDealScored: _deal_scored,
}
