"""How a deal begins and ends: the pack, the opening card, the draw pile, the score."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from majlis.engine.decider import Emitter
from majlis.engine.games.numbers.cards import CHANGE_NUMBER, JOKERS, pack_of, top_place
from majlis.engine.games.numbers.evolve import evolve
from majlis.engine.games.numbers.scoring import (
    RANKED,
    best_of,
    is_round_over,
    open_dispute,
    places_of,
    points_of,
    ranks_of,
)
from majlis.engine.games.numbers.state import HAND, Frame, State, in_play, team_of
from majlis.engine.vocabulary.numbers import (
    NumbersDealerDrawn,
    NumbersDealScored,
    NumbersDealt,
    NumbersDrawn,
    NumbersOpened,
    NumbersPileShuffled,
    NumbersPlayerOut,
    NumbersRecycled,
    NumbersStuck,
    NumbersTurnEnded,
)


def emit_first_deal(emit: Emitter[State]) -> None:
    """Draws who deals first, and deals; the player on his left starts (NUM-6, NUM-O20)."""
    frame = emit.state.frame
    dealer = frame.chance.stream(0, "dealer").below(frame.seats)
    emit(NumbersDealerDrawn(dealer=dealer))
    players = play_order(frame, (dealer + 1) % frame.seats, range(frame.seats))
    emit_deal(emit, 1, dealer, players, extra=False)


def play_order(frame: Frame, starter: int, seats: Sequence[int]) -> tuple[int, ...]:
    """To the left from the starter; his team comes first, in its order from him on (NUM-42, NUM-O34)."""
    order = sorted(seats)
    place = order.index(starter)
    if not frame.options.teams:
        return tuple(order[place:] + order[:place])
    teams = sorted({team_of(frame, seat) for seat in order})
    first = teams.index(team_of(frame, starter))
    blocks = [
        [seat for seat in order if team_of(frame, seat) == team] for team in teams[first:] + teams[:first]
    ]
    mine = blocks[0].index(starter)
    blocks[0] = blocks[0][mine:] + blocks[0][:mine]
    return tuple([seat for block in blocks for seat in block])


def hand_size(frame: Frame, players: int) -> int:
    """NUM-6: seven; one less where no card would be left to open (NUM-O7)."""
    return HAND if HAND * players < len(pack_of(frame.options.level)) else HAND - 1


def emit_deal(emit: Emitter[State], deal: int, dealer: int, players: tuple[int, ...], *, extra: bool) -> None:
    """Shuffles, deals and opens the first card; again while only jokers are left to open (NUM-O4)."""
    frame = emit.state.frame
    pack, size = pack_of(frame.options.level), hand_size(frame, len(players))
    redeals = 0
    while True:
        order = frame.chance.stream(deal, "pack", redeals).shuffle(pack)
        emit(
            NumbersDealt(
                deal=deal,
                redeals=redeals,
                dealer=dealer,
                players=players,
                hand=size,
                order=order,
                extra=extra,
            )
        )
        if emit.state.pile.translate(None, JOKERS):
            emit_opened(emit, f"opening {redeals}")
            return
        redeals += 1


def emit_opened(emit: Emitter[State], purpose: str) -> None:
    """The first number card of the pile goes face up on the ground (NUM-6, NUM-O4)."""
    frame = emit.state.frame
    number = 0
    while frame.options.opening_joker == "reshuffle" and emit.state.pile[-1] >= CHANGE_NUMBER:
        pile = frame.chance.stream(frame.deal, purpose, number).shuffle(emit.state.pile)
        emit(NumbersPileShuffled(pile=pile))
        number += 1
    pile = emit.state.pile
    place = top_place(pile)
    emit(NumbersOpened(card=pile[place], jokers=pile[:place:-1]))


def can_draw(state: State) -> bool:
    """Whether there is a card to draw, in the pile or under the top card."""
    if state.pile:
        return True
    if state.frame.options.recycle_top == "reopen":
        return len(state.ground) > 1
    return top_place(state.ground) > 0


def emit_drawn(emit: Emitter[State], seat: int, cards: int, *, penalty: bool) -> None:
    """As many as there are (NUM-O6); the ground becomes the new pile where the old one is empty (NUM-9)."""
    while cards > 0 and can_draw(emit.state):
        if not emit.state.pile:
            _emit_recycled(emit)
        pile = emit.state.pile
        taken = pile[: -cards - 1 : -1]
        if not taken:
            break
        emit(NumbersDrawn(seat=seat, cards=taken, penalty=penalty))
        cards -= len(taken)
        if not penalty:
            return
    if not penalty:
        emit(NumbersDrawn(seat=seat))


def _emit_recycled(emit: Emitter[State]) -> None:
    """NUM-9, NUM-O5."""
    state = emit.state
    frame = state.frame
    reopens = frame.options.recycle_top == "reopen"
    rest = state.ground if reopens else state.ground[: top_place(state.ground)]
    if frame.options.recycle_shuffle == "yes":
        pile = frame.chance.stream(frame.deal, f"recycle {frame.redeals}", frame.recycled).shuffle(rest)
    else:
        pile = rest[::-1]  # turned over: what was put down first is drawn first
    emit(NumbersRecycled(pile=pile))
    if reopens:
        emit_opened(emit, f"reopen {frame.recycled}")


def emit_out(emit: Emitter[State], seat: int) -> None:
    """The hand is empty (NUM-7): the next player, or the end of the round."""
    emit(NumbersPlayerOut(seat=seat, rank=len(emit.state.frame.out) + 1))
    frame = emit.state.frame
    if is_round_over(frame, in_play(frame)):
        _emit_end(emit, _last_ranks(emit.state))
    else:
        emit(NumbersTurnEnded(seat=seat))


def emit_if_stuck(emit: Emitter[State]) -> None:
    """NUM-O35: after a turn of each player in which nothing moved, the round ends."""
    state = emit.state
    frame = state.frame
    remaining = in_play(frame)
    if state.idle < len(remaining) or can_draw(state):
        return
    lots = frame.chance.stream(frame.deal, "lots").shuffled(remaining)
    ranking = tuple(sorted(lots, key=lambda seat: len(state.hands[seat])))
    emit(NumbersStuck(ranking=ranking))
    _emit_end(emit, ranking)


def _last_ranks(state: State) -> Sequence[int]:
    """Who gets a rank without being out (NUM-44, NUM-46, NUM-O22): the fewest cards first."""
    frame = state.frame
    remaining = sorted(in_play(frame), key=lambda seat: (len(state.hands[seat]), seat))
    if len(frame.players) <= RANKED:
        return remaining
    is_one_team = len({team_of(frame, seat) for seat in remaining}) < 2
    return remaining if is_one_team and frame.options.team_last_ranks == "literal" else ()


def _emit_end(emit: Emitter[State], rest: Sequence[int]) -> None:
    """The deal is scored; the next one is dealt, an extra one where a place is disputed (NUM-50, NUM-O25)."""
    frame = emit.state.frame
    ranks = ranks_of(frame, rest)
    points = points_of(frame.options, ranks, frame.bonuses)
    totals = frame.totals
    if not frame.extra:
        totals = tuple([total + more for total, more in zip(totals, points, strict=True)])
    scored = NumbersDealScored(
        deal=frame.deal,
        extra=frame.extra,
        ranks=ranks,
        bonuses=frame.bonuses,
        points=points,
        totals=totals,
    )
    after = evolve(emit.state, scored).frame
    is_last = frame.deal >= frame.options.rounds
    over = is_last and not open_dispute(after)
    emit(replace(scored, places=places_of(after), over=over))
    if not over:
        _emit_next(emit, is_extra=is_last)


def _emit_next(emit: Emitter[State], *, is_extra: bool) -> None:
    """NUM-41; the dealer sits to the right of who starts (NUM-O20)."""
    frame = emit.state.frame
    seats: Sequence[int] = range(frame.seats)
    candidates = seats
    if is_extra:
        candidates = open_dispute(frame)
        seats = candidates if frame.options.extra_round == "tied" else seats
    starter = best_of(frame, candidates)
    players = play_order(frame, starter, seats)
    order = sorted(seats)
    dealer = order[order.index(starter) - 1]
    emit_deal(emit, frame.deal + 1, dealer, players, extra=is_extra)
