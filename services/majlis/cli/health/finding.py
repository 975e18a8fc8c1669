"""One line of the doctor's report."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Level = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """What was looked at, how it stands, and what to do where it does not stand well."""

    level: Level
    check: str
    detail: str
    remedy: str = ""


def ok(check: str, detail: str) -> Finding:
    return Finding("ok", check, detail)


def warn(check: str, detail: str, remedy: str = "") -> Finding:
    return Finding("warn", check, detail, remedy)


def fail(check: str, detail: str, remedy: str = "") -> Finding:
    return Finding("fail", check, detail, remedy)
