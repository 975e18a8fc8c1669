"""Match ids: `<shard>-<name>`, made from what the match is, so that opening it twice is opening it once."""

from __future__ import annotations

import re
from base64 import b32encode
from hashlib import sha256
from typing import Final

from majlis.engine.decider import Rejected
from majlis.engine.shuffle import frame
from majlis.engine.vocabulary.rejection import RejectionCode

_MATCH_ID: Final = re.compile(r"(0|[1-9][0-9]{0,4})-[a-z0-9]{4,32}", re.ASCII)


def match_id(shards: int, *parts: str | int) -> str:
    """The id of the match that these parts describe (a tournament's id, round and pod; a table request's id)."""
    digest = sha256(frame("majlis match 1", *parts)).digest()
    shard = int.from_bytes(digest[:8], "big") % shards
    return f"{shard}-{b32encode(digest[8:18]).decode().lower()}"


def shard_of(match_id: str) -> str:
    """The shard a match belongs to, as it is spelled in its id; raises Rejected(UNKNOWN_MATCH) when it is no id."""
    found = _MATCH_ID.fullmatch(match_id)
    if found is None:
        raise Rejected(
            RejectionCode.UNKNOWN_MATCH,
            f"{match_id[:80]!r} is not a match id",
            "Match ids look like 3-k7qd2m4xtcabcdef: copy it as the lobby gave it.",
        )
    return found[1]
