"""What one run of the command line works with: its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cached_property
from typing import Any, Final, TypeVar

from majlis.chassis.settings import BadSettings, Settings, load
from majlis.cli.exits import usage

T = TypeVar("T")


class Session:
    """One run. `flags` are the settings given on the command line, by dotted name."""

    def __init__(self) -> None:
        self.flags: dict[str, Any] = {}

    @cached_property
    def settings(self) -> Settings:
        try:
            return load(self.flags)
        except BadSettings as error:
            raise usage(
                f"the settings cannot be used: {error}", "`majlis config show` names each value's source"
            ) from None


SESSION: Final = Session()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a command's asynchronous part."""
    return asyncio.run(work)
