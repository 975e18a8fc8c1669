"""Each test of this folder runs on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.chassis.journal.memory_store import CheckOrder, MemoryStore
from tests.support.stores import Rig, nats_rig

STORES = ("memory, expectation first", "memory, duplicate first", "one server", "cluster of three")


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest) -> tuple[CheckOrder, int, int]:
    """Check order, port of a broker (0: in memory), replicas. Starts what the test needs, and only that."""
    match request.param:
        case "one server":
            return CheckOrder.EXPECTATION_FIRST, request.getfixturevalue("shared_nats").port, 1
        case "cluster of three":
            return CheckOrder.DUPLICATE_FIRST, request.getfixturevalue("shared_cluster")[0].port, 3
        case "memory, expectation first":
            return CheckOrder.EXPECTATION_FIRST, 0, 0
        case _:
            return CheckOrder.DUPLICATE_FIRST, 0, 0


@pytest.fixture
async def rig(place: tuple[CheckOrder, int, int]) -> AsyncIterator[Rig]:
    order, port, replicas = place
    if not port:
        yield Rig(MemoryStore(order), "journal.one")
        return
    async with nats_rig(port, replicas) as made:
        yield made
