"""A tournament as a pure decider: registration, rounds, pairing, results, standings.

Reads in the order state, evolve, decide; `history` numbers and chains the entries.
"""

from majlis.engine.tournament.decide import decide
from majlis.engine.tournament.evolve import evolve
from majlis.engine.tournament.history import SCHEMA, Step, accepted_before, apply, fold, transact
from majlis.engine.tournament.standings import standings
from majlis.engine.tournament.state import (
    ENTRANTS_MAX,
    POD_SIZES,
    Act,
    EntrantState,
    PodState,
    RoundState,
    TournamentState,
)

__all__ = [
    "ENTRANTS_MAX",
    "POD_SIZES",
    "SCHEMA",
    "Act",
    "EntrantState",
    "PodState",
    "RoundState",
    "Step",
    "TournamentState",
    "accepted_before",
    "apply",
    "decide",
    "evolve",
    "fold",
    "standings",
    "transact",
]
