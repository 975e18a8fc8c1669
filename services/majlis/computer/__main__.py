"""The computer service's process: `python -m majlis.computer`."""

from __future__ import annotations

from majlis.chassis.service import Service, run
from majlis.chassis.settings import Settings
from majlis.computer.worker import Worker


async def main(settings: Settings) -> None:
    service = Service("computer", settings)
    worker = Worker(settings.broker.urls, f"computer-{settings.instance}")
    await service.serve(worker.start, worker.drain)


if __name__ == "__main__":
    run(main, "computer")
