"""Every metric of the platform: names, labels and buckets stand in the operations page and nowhere else in code.

Label values are few and fixed: never a match, player, tournament or address (those go into logs and exemplars).
"""

from __future__ import annotations

from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

FINE: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Seconds; bucket list F of the operations page."""
RECOVERY: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY: Final = CollectorRegistry(auto_describe=True)
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)


def _counter(name: str, about: str, *labels: str) -> Counter:
    return Counter(name, about, labels, namespace="majlis", registry=REGISTRY)


def _gauge(name: str, about: str, *labels: str) -> Gauge:
    return Gauge(name, about, labels, namespace="majlis", registry=REGISTRY)


def _histogram(name: str, about: str, *labels: str, buckets: tuple[float, ...] = FINE) -> Histogram:
    return Histogram(name, about, labels, namespace="majlis", registry=REGISTRY, buckets=buckets)


# --- moves -----------------------------------------------------------------------------------------------------------

MOVES = _counter(
    "moves_total", "Commands answered; result = accepted, duplicate, rejected, moved.", "game", "result"
)
MOVE_COMMIT = _histogram(
    "move_commit_seconds", "From a command's arrival to its entry's acknowledgement by the log."
)
MOVE_BROADCAST = _histogram(
    "move_broadcast_seconds", "From a command's arrival to the last seat's view being sent."
)
TURN_TIMEOUTS = _counter("turn_timeouts_total", "Deadlines that passed without a decision.", "game")
SEAT_TAKEOVERS = _counter("seat_takeovers_total", "Seats that the computer took over.", "reason")
SEAT_RTT = _histogram("seat_rtt_seconds", "Round trip of pings between the table and a client.")
MATCHES_ACTIVE = _gauge("matches_active", "Matches that have not ended.", "game")
TABLES_STALLED = _gauge("tables_stalled", "Matches whose log has not acknowledged for 250 ms.", "game")

# --- the log ---------------------------------------------------------------------------------------------------------

SHARDS_OWNED = _gauge("shards_owned", "Shards that this instance writes.")
SHARDS_STALLED = _gauge("shards_stalled", "Owned shards whose append is unacknowledged for 250 ms.")
TABLE_RECOVERY = _histogram(
    "table_recovery_seconds", "From claiming a shard to its barrier.", buckets=RECOVERY
)
TABLE_FENCED_APPENDS = _counter(
    "table_fenced_appends_total", "Appends refused because another instance owns the shard."
)
CLOCK_CREDITED = _counter("clock_credited_seconds_total", "Time given back to running deadlines.", "cause")

# --- evidence and read models ----------------------------------------------------------------------------------------

AUDIT_CHAIN_FAILURES = _counter(
    "audit_chain_failures_total", "Histories whose hash chain or signature is broken."
)
REPLAY_MISMATCHES = _counter(
    "replay_mismatches_total", "Histories that re-deciding does not reproduce byte for byte."
)
AUDIT_LAG = _gauge("audit_lag_entries", "Entries of the log that the archive has not verified yet.")
PROJECTION_LAG = _gauge(
    "projection_lag_entries", "Messages that a projection has not applied yet.", "projection"
)
PROJECTION_GAPS = _counter(
    "projection_gap_total", "Gaps met in a projection's stream: it has stopped.", "projection"
)
RESULTS_SKIPPED = _counter(
    "results_skipped_total", "Messages among the results that are no result of a match."
)

# --- computers -------------------------------------------------------------------------------------------------------

COMPUTER_DECISION = _histogram("computer_decision_seconds", "Time a computer player took to choose.", "game")
COMPUTER_FALLBACKS = _counter(
    "computer_fallbacks_total", "Decisions of computers that the fallback made because no reply came.", "game"
)
COMPUTER_BAD_REQUESTS = _counter(
    "computer_bad_requests_total", "Requests a worker could not answer.", "reason"
)

# --- processes and edges ---------------------------------------------------------------------------------------------

EVENT_LOOP_LAG = _histogram(
    "event_loop_lag_seconds", "How much later than asked the event loop woke a sleeper."
)
TIMER_LATENESS = _histogram(
    "timer_lateness_seconds", "How much later than due a deadline was acted on.", "kind"
)
NODE_DRAINING = _gauge("node_draining", "1 while this process is stopping.")
RPC_SECONDS = _histogram("rpc_seconds", "Duration of unary calls served.", "method")
REJECTIONS = _counter("rejections_total", "Calls refused, by rejection code.", "code")
INTERNAL_ERRORS = _counter("internal_errors_total", "Calls that failed by a fault of ours.", "method")
AUTH_FAILURES = _counter("auth_failures_total", "Tokens refused.", "reason")
OPERATOR_ACTIONS = _counter("operator_actions_total", "Acts of operators and directors.", "action", "role")


def names() -> set[str]:
    """The names of all sample series that a process can expose (`_total`, `_bucket`, … included)."""
    told: set[str] = set()
    for family in REGISTRY.collect():
        kind, name = family.type, family.name
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(kind, ("",))
        told.update(name + suffix for suffix in suffixes)
    return told
