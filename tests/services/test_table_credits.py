"""What a table owes the clocks of a match, before it is written to the log."""

from __future__ import annotations

from majlis.engine.vocabulary.match import CreditCause
from majlis.table.live import JOINED_MS, Credit, LiveMatch

STALL, TAKEOVER = CreditCause.STALL, CreditCause.TAKEOVER


def owing(*credits: Credit) -> LiveMatch:
    live = LiveMatch("0-abcdefgh", 1)
    for credit in credits:
        live.owe(credit)
    return live


def test_stalls_in_a_row_are_one_credit() -> None:
    live = owing(*(Credit(start, start + 400, STALL) for start in range(0, 4000, 500)))
    assert live.credits == (Credit(0, 3900, STALL),)


def test_stalls_far_apart_and_other_causes_stay_apart() -> None:
    first, later = Credit(0, 300, STALL), Credit(300 + JOINED_MS + 1, 2000, STALL)
    assert owing(first, later).credits == (first, later)
    taken_over = Credit(300, 900, TAKEOVER)
    assert owing(first, taken_over).credits == (first, taken_over)


def test_a_credit_on_its_way_to_the_log_is_not_changed_any_more() -> None:
    live = owing(Credit(0, 300, STALL))
    live.crediting = 1
    live.owe(Credit(350, 700, STALL))
    assert live.credits == (Credit(0, 300, STALL), Credit(350, 700, STALL))
    assert live.owed == (Credit(350, 700, STALL),)
