"""Names of people: one spelling for what looks alike, and nothing in them that disturbs the text around."""

from __future__ import annotations

import unicodedata
from typing import Final

from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

LONGEST: Final = 32
_REFUSED: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Control, formatting (also those that turn the direction of writing), private, unassigned, line breaks."""


def clean_name(name: str, longest: int = LONGEST) -> str:
    """The name in normal form (NFKC), single spaces. Raises Rejected(BAD_NAME)."""
    # No longer text is even looked at: normal form shortens what people write by far less than this.
    cleaned = " ".join(unicodedata.normalize("NFKC", name).split()) if len(name) <= 4 * longest else name
    if not 1 <= len(cleaned) <= longest:
        raise _bad(f"a name has 1 to {longest} characters, this one {len(cleaned)}")
    if any(unicodedata.category(character) in _REFUSED for character in cleaned):
        raise _bad("the name holds characters that are not for reading")
    if not any(character.isalnum() for character in cleaned):
        raise _bad("a name needs a letter or a digit")
    return cleaned


def _bad(detail: str) -> Rejected:
    return Rejected(RejectionCode.BAD_NAME, detail, "choose another name")
