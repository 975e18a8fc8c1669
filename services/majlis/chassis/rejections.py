"""Refusals at the gRPC edge: one code everywhere, in status details on the way out and read back from them by clients."""

from __future__ import annotations

import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NoReturn, TypeAlias

import grpc
import grpc.aio
import structlog
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, status_pb2

from majlis.chassis import metrics, telemetry
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import rejection_pb2

log = structlog.get_logger()

DETAILS_KEY: Final = "grpc-status-details-bin"
# In quotes: at run time grpc's classes take no type parameters.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

_STATUS: Final = {
    RejectionCode.UNSPECIFIED: code_pb2.UNKNOWN,
    RejectionCode.MALFORMED: code_pb2.INVALID_ARGUMENT,
    RejectionCode.TOO_LARGE: code_pb2.RESOURCE_EXHAUSTED,
    RejectionCode.UNKNOWN_GAME: code_pb2.NOT_FOUND,
    RejectionCode.BAD_OPTION: code_pb2.INVALID_ARGUMENT,
    RejectionCode.UNKNOWN_RULES_VERSION: code_pb2.NOT_FOUND,
    RejectionCode.BAD_SEATS: code_pb2.INVALID_ARGUMENT,
    RejectionCode.UNAUTHENTICATED: code_pb2.UNAUTHENTICATED,
    RejectionCode.FORBIDDEN: code_pb2.PERMISSION_DENIED,
    RejectionCode.RATE_LIMITED: code_pb2.RESOURCE_EXHAUSTED,
    RejectionCode.UNKNOWN_MATCH: code_pb2.NOT_FOUND,
    RejectionCode.MATCH_EXISTS: code_pb2.ALREADY_EXISTS,
    RejectionCode.MOVED: code_pb2.UNAVAILABLE,
    RejectionCode.WRONG_SEAT: code_pb2.PERMISSION_DENIED,
    RejectionCode.SEAT_TAKEN: code_pb2.ALREADY_EXISTS,
    RejectionCode.DUPLICATE_COMMAND: code_pb2.ALREADY_EXISTS,
    RejectionCode.UNKNOWN_TOURNAMENT: code_pb2.NOT_FOUND,
    RejectionCode.TOURNAMENT_EXISTS: code_pb2.ALREADY_EXISTS,
    RejectionCode.UNKNOWN_ENTRANT: code_pb2.NOT_FOUND,
    RejectionCode.ALREADY_REGISTERED: code_pb2.ALREADY_EXISTS,
    RejectionCode.UNKNOWN_POD: code_pb2.NOT_FOUND,
    RejectionCode.REASON_REQUIRED: code_pb2.INVALID_ARGUMENT,
    RejectionCode.UNKNOWN_PLAYER: code_pb2.NOT_FOUND,
    RejectionCode.NAME_TAKEN: code_pb2.ALREADY_EXISTS,
    RejectionCode.BAD_NAME: code_pb2.INVALID_ARGUMENT,
    RejectionCode.UNKNOWN_RECORD: code_pb2.NOT_FOUND,
    RejectionCode.CORRUPT_RECORD: code_pb2.DATA_LOSS,
    RejectionCode.UNAVAILABLE: code_pb2.UNAVAILABLE,
    RejectionCode.DRAINING: code_pb2.UNAVAILABLE,
}
"""The gRPC status of a code; those not listed are about the present state of things: FAILED_PRECONDITION."""
_CODES: Final = {number: code for code in grpc.StatusCode for number in [code.value[0]]}


def to_proto(rejected: Rejected) -> rejection_pb2.Rejection:
    return rejection_pb2.Rejection(code=int(rejected.code), detail=rejected.detail, remedy=rejected.remedy)  # type: ignore[arg-type]


def from_proto(rejection: rejection_pb2.Rejection) -> Rejected:
    """A code that this program does not know yet reads as UNSPECIFIED; its text is kept."""
    try:
        code = RejectionCode(rejection.code)
    except ValueError:
        code = RejectionCode.UNSPECIFIED
    return Rejected(code, rejection.detail, rejection.remedy)


def status_of(code: RejectionCode) -> grpc.StatusCode:
    return _CODES[_STATUS.get(code, code_pb2.FAILED_PRECONDITION)]


async def abort(context: Context, rejected: Rejected) -> NoReturn:
    """Ends a call with the rejection in its status details."""
    metrics.REJECTIONS.labels(rejected.code.name).inc()
    code = status_of(rejected.code)
    packed = any_pb2.Any()
    packed.Pack(to_proto(rejected))
    status = status_pb2.Status(
        code=code.value[0], message=f"{rejected.code.name}: {rejected.detail}", details=[packed]
    )
    trailing = ((DETAILS_KEY, status.SerializeToString()), (telemetry.TRACE_HEADER, telemetry.trace_id.get()))
    await context.abort(code, status.message, trailing)
    raise AssertionError("abort returned")


def rejected_from(error: grpc.RpcError) -> Rejected | None:
    """The rejection that a failed call carries; None where it failed otherwise (not reachable, cancelled, a fault)."""
    if not isinstance(error, grpc.aio.AioRpcError | grpc.Call):
        return None
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            try:
                status = status_pb2.Status.FromString(value)
                for packed in status.details:
                    rejection = rejection_pb2.Rejection()
                    if packed.Unpack(rejection):
                        return from_proto(rejection)
            except DecodeError:
                return None
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        # gRPC itself refuses an oversized message before any code of ours sees it.
        return Rejected(
            RejectionCode.TOO_LARGE, error.details() or "the message is too large", "send less at once"
        )
    return None


class Edge(grpc.aio.ServerInterceptor):
    """What every call passes: it enters a trace, is measured, and whatever it raises becomes a status.

    Rejected → its code; anything else → INTERNAL, logged with its traceback. The process lives. While `ready()` is
    False calls are refused as UNAVAILABLE, except health and reflection.
    """

    def __init__(self, ready: Callable[[], bool]) -> None:
        self._ready = ready

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        # None stands for an unknown method: gRPC answers UNIMPLEMENTED itself.
        if handler is None or method.startswith("/grpc."):
            return handler
        return self._wrap(handler, method)

    def _wrap(self, handler: Any, method: str) -> Handler:
        kind = f"{'stream' if handler.request_streaming else 'unary'}_{'stream' if handler.response_streaming else 'unary'}"
        behaviour = getattr(handler, kind)
        if not handler.response_streaming:
            wrapped = self._unary(behaviour, method, measured=not handler.request_streaming)
        elif inspect.isasyncgenfunction(behaviour):
            wrapped = self._generator(behaviour, method)
        else:
            wrapped = self._unary(behaviour, method, measured=False)
        make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
        made: Handler = make(wrapped, handler.request_deserializer, handler.response_serializer)
        return made

    def _unary(
        self, behaviour: Callable[..., Awaitable[Any]], method: str, *, measured: bool
    ) -> Callable[..., Any]:
        duration = metrics.RPC_SECONDS.labels(method)

        async def call(request: Any, context: Context) -> Any:
            self._enter(context)
            began = time.perf_counter()
            try:
                self._check_ready()
                return await behaviour(request, context)
            except Exception as error:  # noqa: BLE001 - the edge: nothing a call does may end the process
                await _answer(context, error, method)
            finally:
                if measured:
                    duration.observe(time.perf_counter() - began, telemetry.exemplar())

        return call

    def _generator(self, behaviour: Callable[..., AsyncIterator[Any]], method: str) -> Callable[..., Any]:
        async def call(request: Any, context: Context) -> AsyncIterator[Any]:
            self._enter(context)
            try:
                self._check_ready()
                async for response in behaviour(request, context):
                    yield response
            except Exception as error:  # noqa: BLE001 - the edge: nothing a call does may end the process
                await _answer(context, error, method)

        return call

    def _enter(self, context: Context) -> None:
        metadata = context.invocation_metadata() or ()
        given = next((value for key, value in metadata if key == telemetry.TRACE_HEADER), "")
        telemetry.new_trace(given if isinstance(given, str) else "")

    def _check_ready(self) -> None:
        if not self._ready():
            raise Rejected(RejectionCode.UNAVAILABLE, "the service is starting", "try again in a moment")


async def _answer(context: Context, error: Exception, method: str) -> NoReturn:
    if isinstance(error, Rejected):
        await abort(context, error)
    if isinstance(error, grpc.aio.AbortError):
        raise error
    metrics.INTERNAL_ERRORS.labels(method).inc()
    log.error("call failed", method=method, exc_info=error)
    trailing = ((telemetry.TRACE_HEADER, telemetry.trace_id.get()),)
    await context.abort(
        grpc.StatusCode.INTERNAL, "a fault of ours; the trace id finds it in the logs", trailing
    )
    raise AssertionError("abort returned")
