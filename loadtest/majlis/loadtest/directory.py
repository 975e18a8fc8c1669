"""Which table instance has which shard, as the instances themselves say (ListShards)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import grpc.aio

from majlis.chassis.service import open_channel
from majlis.engine.ids import shard_of
from majlis.v1 import table_pb2
from majlis.v1.table_pb2_grpc import TableStub

if TYPE_CHECKING:
    from majlis.v1.table_pb2_grpc import TableAsyncStub

_TIMEOUT_S = 2.0


class Directory:
    """Owners of shards, as of the last `refresh`. `addresses`: of every table instance."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.owners: dict[str, str] = {}
        """Shard -> address."""
        self._channels = {address: open_channel(address) for address in addresses}

    def stub(self, address: str) -> TableAsyncStub:
        """For unary calls to that instance."""
        if address not in self._channels:
            self._channels[address] = open_channel(address)
        return TableStub(self._channels[address])

    def address_of(self, match_id: str) -> str | None:
        """None while nobody is known to own the match's shard."""
        return self.owners.get(shard_of(match_id))

    async def refresh(self) -> None:
        """Asks every instance until one answers; keeps what is known where none does."""
        for address in list(self._channels):
            try:
                answer = await self.stub(address).ListShards(
                    table_pb2.ListShardsRequest(), timeout=_TIMEOUT_S
                )
            except grpc.aio.AioRpcError:
                continue
            self.owners = {shard.shard: shard.address for shard in answer.shards if shard.owner}
            return

    async def until_owned(self, shards: int, timeout_s: float = 30.0) -> None:
        """Returns when every shard has an owner. Raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while len(self.owners) < shards:
                await self.refresh()
                await asyncio.sleep(0.05)

    async def close(self) -> None:
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))
