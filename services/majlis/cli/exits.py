"""How a command ends: exit codes, and one way to say why."""

from __future__ import annotations

from typing import Final

OK: Final = 0
NO: Final = 1
"""The answer is no: a check failed, a request was refused."""
USAGE: Final = 2
UNREACHABLE: Final = 3


class Ending(Exception):
    """Ends the command: the exit code, what happened, and what to do about it."""

    def __init__(self, code: int, detail: str, remedy: str = "", rejection: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.remedy = remedy
        self.rejection = rejection
        """The rejection code's name, where a service refused."""


def no(detail: str, remedy: str = "") -> Ending:
    return Ending(NO, detail, remedy)


def usage(detail: str, remedy: str = "") -> Ending:
    return Ending(USAGE, detail, remedy)


def unreachable(
    detail: str, remedy: str = "is the platform running? `majlis up` starts it, `majlis doctor` looks"
) -> Ending:
    return Ending(UNREACHABLE, detail, remedy)
