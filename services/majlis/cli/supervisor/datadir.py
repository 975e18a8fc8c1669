"""The data directory's owner: one supervisor at a time, found by a lock that dies with its process."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Final

from majlis.cli.exits import no

LOCK: Final = "lock"
RUNNING: Final = "running.json"


def prepare(data_dir: Path) -> None:
    """Makes the directory; raises Ending where it cannot be written."""
    try:
        (data_dir / "logs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise no(
            f"the data directory {data_dir} cannot be made: {error.strerror}",
            "choose another with --data-dir",
        ) from None


class Ownership:
    """Holds the data directory until `release` or the end of the process, however it ends."""

    def __init__(self, data_dir: Path) -> None:
        """Raises Ending where another process holds it."""
        self._running = data_dir / RUNNING
        self._file = (data_dir / LOCK).open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise no(
                f"{data_dir} is in use by process {_written(data_dir / LOCK) or 'unknown'}",
                f"`majlis down --data-dir {data_dir}` stops it; or choose another data directory with --data-dir",
            ) from None
        # A supervisor that was killed has left its own behind.
        self._running.unlink(missing_ok=True)
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def tell(self, running: dict[str, Any]) -> None:
        """Writes down what runs where, for other commands."""
        temporary = self._running.with_suffix(".new")
        temporary.write_text(json.dumps(running, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self._running)

    def release(self) -> None:
        self._running.unlink(missing_ok=True)
        self._file.close()


def owner(data_dir: Path) -> int | None:
    """The process that holds the directory; None where nobody does. A pid left by a dead process counts for nothing."""
    try:
        with (data_dir / LOCK).open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _written(data_dir / LOCK)
    except OSError:
        pass
    return None


def running(data_dir: Path) -> dict[str, Any]:
    """What the supervisor wrote down; empty before everything is up."""
    try:
        told = json.loads((data_dir / RUNNING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _written(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
