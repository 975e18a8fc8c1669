"""The options of Numbers: every ruling on what the source text leaves open (RULES §2.E), with its default."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Milliseconds = Annotated[int, Meta(ge=100, le=600_000)]
"""A time limit: up to tenfold at casual tables, short in tests."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules version 1. Each value's meaning stands in this folder's RULES.md, under the ruling named here."""

    level: Literal["beginner", "intermediate", "expert"] = "beginner"  # NUM-2
    rounds: Literal[3, 1, 5] = 3  # NUM-37
    teams: Literal[0, 2, 3, 4, 5, 6] = 0  # NUM-42; 0 = everybody for himself
    operations: Literal["all", "add_subtract_multiply", "add_subtract"] = "all"  # NUM-21
    penalties: Literal["on", "off"] = "on"  # NUM-O1
    draw_when: Literal["freely", "no_play"] = "freely"  # NUM-O2
    drawn_play: Literal["containing", "any"] = "containing"  # NUM-O3
    opening_joker: Literal["bury", "reshuffle", "set_aside"] = "bury"  # NUM-O4
    recycle_top: Literal["keep", "reopen"] = "keep"  # NUM-O5
    recycle_shuffle: Literal["yes", "no"] = "yes"  # NUM-O5
    full_table: Literal["forbid", "fewer_cards"] = "forbid"  # NUM-O7
    minimum_scope: Literal["thrown", "hand"] = "thrown"  # NUM-O8
    smallest_set: Literal["first", "player"] = "first"  # NUM-O9
    several_compatible: Literal["first", "player"] = "first"  # NUM-O10
    after_correction: Literal["pass", "go_on"] = "pass"  # NUM-O12
    corrected_bonus: Literal["no", "yes"] = "no"  # NUM-O12
    wrong_joker: Literal["return", "joker_stays"] = "return"  # NUM-O13
    last_again: Literal["out", "not_out"] = "out"  # NUM-O15
    again_first: Literal["yes", "no"] = "yes"  # NUM-O16
    again_chain: Literal["forbid", "allow"] = "forbid"  # NUM-O18
    nonfinisher_bonus: Literal["no", "yes"] = "no"  # NUM-O21
    team_last_ranks: Literal["literal", "first_five"] = "literal"  # NUM-O22
    team_open_hands: Literal["yes", "no"] = "yes"  # NUM-O23
    extra_round: Literal["tied", "all"] = "tied"  # NUM-O25
    turn_ms: Milliseconds = 60_000  # NUM-O27
    correction_ms: Milliseconds = 30_000  # NUM-O27
    correction: Literal["player", "server"] = "player"  # NUM-O28
    calculation_on_one: Literal["rule", "example"] = "rule"  # NUM-O29
    unfit_plays: Literal["refuse", "punish"] = "refuse"  # NUM-O31
    draws: Literal["separate", "one"] = "separate"  # NUM-O32


RULES_VERSIONS = {1: Options()}
