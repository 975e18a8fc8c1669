"""Who is told when a match changes."""

from __future__ import annotations

from typing import Protocol

from majlis.engine.decider import Rejected

from .views import Shown


class Watcher(Protocol):
    """One viewer of one match."""

    seat: int

    def show(self, shown: Shown) -> None:
        """Takes the newest view."""

    def lost(self, moved: Rejected) -> None:
        """The match has gone to another instance: this watcher is not told anything any more."""
