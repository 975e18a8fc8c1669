"""Why stored bytes could not be read: unknown fails closed."""

from __future__ import annotations


class Unreadable(Exception):
    """Stored bytes that are damaged, or written by newer code than this."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"cannot read {kind}: {why}")
        self.kind = kind


class UnknownKind(Unreadable):
    """A message whose ``oneof`` is not set: written by newer code, or empty."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind, "its kind is not set or not known to this version")


class UnspecifiedValue(Unreadable):
    """An enum that is unspecified, or holds a number this version does not know."""

    def __init__(self, field: str, number: int) -> None:
        super().__init__(field, f"{number} is not a value of it" if number else "it is unspecified")
        self.number = number
