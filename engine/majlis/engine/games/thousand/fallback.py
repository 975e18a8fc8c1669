"""The move made for a silent seat (THO-O22): always legal, and never better informed than the seat."""

from __future__ import annotations

from majlis.engine.games.thousand.cards import lowest, pairs_in
from majlis.engine.games.thousand.legal import CONTRACTS, DECLINE, PASS, contract_range, playable
from majlis.engine.games.thousand.state import AUCTION, CONTRACT, GIVE_LEFT, GIVE_RIGHT, TRICK, State
from majlis.engine.vocabulary.entry import Command
from majlis.engine.vocabulary.thousand import ThousandGive, ThousandPlay


def fallback(state: State, seat: int) -> Command:
    """No new deal; pass; give the lowest card outside a marriage; contract = bid; play the lowest legal card."""
    phase = state.phase
    if phase is TRICK:
        return ThousandPlay(card=lowest(playable(state, seat)))
    if phase is AUCTION:
        return PASS
    if phase is GIVE_LEFT or phase is GIVE_RIGHT:
        hand = state.hands[seat]
        return ThousandGive(card=lowest(hand & ~pairs_in(hand) or hand))
    return CONTRACTS[contract_range(state, seat)[0]] if phase is CONTRACT else DECLINE
