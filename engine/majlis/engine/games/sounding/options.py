"""The options of Sounding: every ruling on what the source text leaves open (RULES §1.E), with its default."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Milliseconds = Annotated[int, Meta(ge=100, le=300_000)]
"""A time limit: 30 s by default, up to tenfold at casual tables, short in tests."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules version 1. Each value's meaning stands in this folder's RULES.md, under the ruling named here."""

    max_seats: Annotated[int, Meta(ge=2, le=12)] = 8  # SND-O1
    initial_flips: Literal["simultaneous", "in_order"] = "simultaneous"  # SND-O2
    opener_tie: Literal["draw", "lowest_seat", "left_of_opener"] = "draw"  # SND-O3
    swallow_order: Literal["replaced_first", "column_first"] = "replaced_first"  # SND-O4
    reshuffle_cards: Literal["keep_top", "all"] = "keep_top"  # SND-O5
    reshuffle_time: Literal["lazy", "eager"] = "lazy"  # SND-O5
    place_in_swallowed: Literal["no", "yes"] = "no"  # SND-O6
    swallow_at_reveal: Literal["yes", "no"] = "yes"  # SND-O7
    reveal: Literal["at_end", "after_last_turn"] = "at_end"  # SND-O8
    direction: Literal["clockwise", "counterclockwise"] = "clockwise"  # SND-O9
    drawn_card: Literal["private", "public"] = "private"  # SND-O10
    new_deck: Literal["each_deal", "continue"] = "each_deal"  # SND-O11
    stall_limit: Annotated[int, Meta(ge=0, le=250)] = 0  # SND-O12; 0 = off
    undo_take: Literal["never", "once"] = "never"  # SND-O13
    initial_flips_ms: Milliseconds = 30_000  # SND-O14
    turn_ms: Milliseconds = 30_000  # SND-O14
    drawn_ms: Milliseconds = 30_000  # SND-O14: a card is in hand
    close_by_flip: Literal["yes", "no"] = "yes"  # SND-O18


RULES_VERSIONS = {1: Options()}
