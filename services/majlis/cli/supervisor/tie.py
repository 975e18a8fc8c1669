"""Runs a program so that it ends when its supervisor does: `python tie.py PARENT PROGRAM ARGUMENTS...`.

A file to be run by path, with nothing but the standard library, since it stands between the supervisor and each process.
Without Linux's parent-death signal the program simply runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    # The supervisor may have died before the line above.
    if os.getppid() == parent:
        os.execv(program[0], program)


if __name__ == "__main__":
    main()
