"""Logs as JSON lines, trace ids that travel with calls, and the event loop's own pulse."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import sys
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, Final

import structlog

from majlis.chassis import metrics

TRACE_HEADER: Final = "x-trace-id"
trace_id: ContextVar[str] = ContextVar("trace_id", default="")
"""The trace id of what is being served; empty outside a call."""

_TRACE: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")


def configure_logging(service: str, level: str = "info") -> None:
    """JSON lines on stderr, ours and those of libraries alike: `timestamp level service event trace_id …`."""

    def add_context(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["service"] = service
        if trace := trace_id.get():
            event["trace_id"] = trace
        return event

    shared: list[structlog.typing.Processor] = [
        add_context,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(number, logging.WARNING))


def new_trace(given: str = "") -> str:
    """Enters a trace: the given id where it is well-formed, a new one otherwise."""
    trace = given if _TRACE.fullmatch(given) else secrets.token_hex(8)
    trace_id.set(trace)
    return trace


def exemplar() -> dict[str, str] | None:
    """What links a measurement to its trace."""
    trace = trace_id.get()
    return {"trace_id": trace} if trace else None


async def probe_loop(
    on_gap: Callable[[float], None] | None = None, gap_s: float = 1.0, every_s: float = 0.1
) -> None:
    """Measures for ever how late the event loop wakes a sleeper; calls `on_gap(seconds)` after a standstill of `gap_s`
    or more (a stopped process, a blocked loop)."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every_s
        await asyncio.sleep(every_s)
        late = max(0.0, loop.time() - due)
        metrics.EVENT_LOOP_LAG.observe(late)
        if late >= gap_s and on_gap is not None:
            on_gap(late)
