"""What one run of the command line works with: its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from majlis.chassis.settings import BadSettings, Settings, load
from majlis.cli.exits import usage

T = TypeVar("T")


class Session:
    """One run. `flags` are the settings given on the command line, by dotted name."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forgets whatever an earlier run in this process was given."""
        self.flags: dict[str, Any] = {}
        self._settings: Settings | None = None

    @property
    def settings(self) -> Settings:
        """Raises Ending where they cannot be used."""
        if self._settings is None:
            try:
                self._settings = load(self.flags)
            except BadSettings as error:
                raise usage(
                    f"the settings cannot be used: {error}", "`majlis config show` names each value's source"
                ) from None
        return self._settings


SESSION: Final = Session()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs a command's asynchronous part."""
    return asyncio.run(work)
