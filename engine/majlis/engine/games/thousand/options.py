"""The options of Thousand: every ruling on what the source text leaves open (RULES §4.E), with its default."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Milliseconds = Annotated[int, Meta(ge=100, le=200_000)]
"""A time limit: 20 s by default, up to tenfold at casual tables, short in tests."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules version 1. Each value's meaning stands in this folder's RULES.md, under the ruling named here."""

    target: Literal[1000, 500] = 1000  # THO-33, THO-34
    deals_max: Annotated[int, Meta(ge=0, le=1000)] = 100  # ours: every match ends; 0 = without limit
    jump_bids: Literal["yes", "no"] = "yes"  # THO-O1
    bid_step: Literal[10, 5, 1] = 10  # THO-O2
    auction_limit: Literal["marriages", "none"] = "marriages"  # THO-O3
    auto_pass: Literal["no", "yes"] = "no"  # THO-O4
    contract_marriages: Literal["after_giving", "before_giving"] = "after_giving"  # THO-O6
    trumped_suit: Literal["free", "raise"] = "free"  # THO-O7
    first_trick_pair_lead: Literal["yes", "no"] = "yes"  # THO-O8
    marriage_declaration: Literal["automatic", "optional"] = "automatic"  # THO-O9
    defender_cap: Literal["below_target", "990"] = "below_target"  # THO-O10
    redeal_four_nines_needs_no_marriage: Literal["no", "yes"] = "no"  # THO-O11
    redeal_ms: Annotated[int, Meta(ge=100, le=50_000)] = 5_000  # THO-O12
    barrel_attempts: Annotated[int, Meta(ge=0, le=9)] = 0  # THO-O15; 0 = without limit
    past_tricks: Literal["last", "none"] = "last"  # THO-O21
    bid_ms: Milliseconds = 20_000  # THO-O22
    give_ms: Milliseconds = 20_000  # THO-O22
    contract_ms: Milliseconds = 20_000  # THO-O22
    play_ms: Milliseconds = 20_000  # THO-O22
    auto_play: Literal["no", "yes"] = "no"  # THO-O24


RULES_VERSIONS = {1: Options()}
