"""Old matches keep their course: see README.md in this folder."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from majlis.engine import registry
from majlis.engine.history import fold
from majlis.engine.match import position_hash, snapshot
from majlis.engine.redecide import verify_history

FILES = sorted(Path(__file__).parent.glob("*.jsonl"))
HISTORIES: list[dict[str, Any]] = [json.loads(line) for path in FILES for line in path.open()]


@pytest.mark.parametrize("history", HISTORIES, ids=[f"{h['match_id']} {h['about']}" for h in HISTORIES])
def test_a_recorded_match_keeps_its_course(history: dict[str, Any]) -> None:
    stored = [base64.b64decode(entry) for entry in history["entries"]]
    state = fold(stored)
    assert state.head_hash.hex() == history["history_hash"]
    assert position_hash(state).hex() == history["position_hash"]
    assert state.ended is not None
    assert state.ended.position_hash.hex() == history["position_hash"]
    verdict = verify_history(stored)
    assert (verdict.ok, verdict.fault, verdict.fault_entry) == (True, "", 0)
    assert snapshot.load(snapshot.dump(state)) == state


def test_every_rules_version_of_every_game_has_its_histories() -> None:
    wanted = {
        f"{key}-{version}" for key, entry in registry.GAMES.items() for version in entry.game.rules_versions
    }
    assert {path.stem for path in FILES} >= wanted
