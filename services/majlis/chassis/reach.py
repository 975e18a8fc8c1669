"""Whether anybody listens at an address."""

from __future__ import annotations

import asyncio
from typing import Final

PATIENCE_S: Final = 0.5


async def is_refused(address: str) -> bool:
    """Whether `host:port` refuses connections: nobody listens there. Silence is no refusal."""
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), PATIENCE_S)
    except ConnectionRefusedError:
        return True
    except (OSError, TimeoutError):
        return False
    writer.close()
    return False
