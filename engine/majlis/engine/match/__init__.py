"""What every match has, whatever the game: seats, controllers, deadlines, absences, take-over, pause, endings.

In order of reading: `state`, `evolve` (the fold), `decide` (who may do what when; `opening`, `seats`, `clock` and
`direct` hold the commands, `flow` what follows by itself), `views`. `snapshot` makes bytes of a state, `recent`
remembers command ids, `folding` folds many entries at once.
"""

from majlis.engine.match.clock import moves_for_silent
from majlis.engine.match.decide import accepted_before, decide, prepared
from majlis.engine.match.evolve import Draft, apply, evolve, stamp
from majlis.engine.match.flow import game_of, position_hash, waiting_for
from majlis.engine.match.state import SEATING, Act, MatchState, Seat
from majlis.engine.match.views import (
    happening,
    happenings,
    info,
    open_decision,
    private_view,
    public_view,
    result,
    told_alone,
    view,
)

__all__ = [
    "SEATING",
    "Act",
    "Draft",
    "MatchState",
    "Seat",
    "accepted_before",
    "apply",
    "decide",
    "evolve",
    "game_of",
    "happening",
    "happenings",
    "info",
    "moves_for_silent",
    "open_decision",
    "position_hash",
    "prepared",
    "private_view",
    "public_view",
    "result",
    "stamp",
    "told_alone",
    "view",
    "waiting_for",
]
