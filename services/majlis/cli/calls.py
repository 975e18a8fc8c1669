"""Calls to the services, as an operator: channels, tokens, and what a failed call means for the command."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import grpc
import grpc.aio

from majlis.chassis.rejections import rejected_from
from majlis.chassis.service import open_channel
from majlis.chassis.tokens import Role, Signer, credentials, load_signer
from majlis.cli.exits import NO, UNREACHABLE, Ending, no, unreachable
from majlis.cli.session import SESSION

T = TypeVar("T")
AGAIN_S: Final = 0.25
PASSING: Final = frozenset({"UNAVAILABLE", "DRAINING", "MOVED"})
"""Rejections after which the same call may succeed."""


def token(role: Role = "operator") -> tuple[tuple[str, str], ...]:
    """Call metadata of a service token, signed with the key in the data directory."""
    return credentials(signer().service(role, "cli", ttl_s=3600))


def signer() -> Signer:
    """The lobby's key. Raises Ending where it cannot be read."""
    path = SESSION.settings.keys_dir / "lobby.key"
    try:
        return load_signer(SESSION.settings.keys_dir)
    except OSError as error:
        raise unreachable(
            f"the key {path} cannot be read: {error.strerror}",
            "give the platform's data directory with --data-dir; `majlis up` makes the keys",
        ) from None
    except ValueError as error:
        raise no(f"the key {path} is damaged: {error}") from None


@contextlib.asynccontextmanager
async def channel(service: str) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a service of this platform; failed calls end the command in the agreed way."""
    address = SESSION.settings.address_of(service)
    async with open_channel(address) as opened:
        try:
            yield opened
        except grpc.RpcError as error:
            raise ending_of(error, service, address) from None


def ending_of(error: grpc.RpcError, service: str, address: str) -> Ending:
    """A failed call as an ending: refusals say no (1), everything that keeps us from an answer is 3."""
    rejected = rejected_from(error)
    if rejected is not None:
        code = UNREACHABLE if rejected.code.name in PASSING else NO
        return Ending(code, rejected.detail, rejected.remedy, rejected.code.name)
    status = error.code() if isinstance(error, grpc.aio.AioRpcError) else None
    if status is grpc.StatusCode.INTERNAL:
        return Ending(
            UNREACHABLE, f"{service} failed: {_details(error)}", "look into its log in the data directory"
        )
    return unreachable(f"{service} at {address} does not answer: {_details(error)}")


def unavailable(error: grpc.RpcError) -> bool:
    """Whether the same call may succeed a moment later: the service is restarting, or the match has moved."""
    rejected = rejected_from(error)
    if rejected is not None:
        return rejected.code.name in PASSING
    passing = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
    return isinstance(error, grpc.aio.AioRpcError) and error.code() in passing


async def persist(call: Callable[[], Awaitable[T]], for_s: float = 60.0) -> T:
    """Repeats an idempotent call while its service is away, for at most so long."""
    deadline = time.monotonic() + for_s
    while True:
        try:
            return await call()
        except grpc.RpcError as error:
            if not unavailable(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(AGAIN_S)


def _details(error: grpc.RpcError) -> str:
    return (error.details() or error.code().name) if isinstance(error, grpc.aio.AioRpcError) else repr(error)
