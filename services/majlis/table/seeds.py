"""Where server seeds come from: the operating system's randomness, injected so that tests can repeat it."""

from __future__ import annotations

import secrets
from typing import Protocol

from majlis.engine.shuffle import SEED_BYTES


class Seeds(Protocol):
    def draw(self) -> bytes:
        """A fresh secret seed of 32 bytes."""


class SystemSeeds:
    def draw(self) -> bytes:
        return secrets.token_bytes(SEED_BYTES)
