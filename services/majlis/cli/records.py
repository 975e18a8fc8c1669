"""Records of finished matches: from the archive, or from a file that somebody exported."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from majlis.cli.exits import no, usage
from majlis.engine.decider import Rejected
from majlis.engine.evidence import read_record
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.result import Record
from majlis.engine.vocabulary.wire import decode_archive_file

FILE_LIMIT: Final = 2**31


def is_file(name: str) -> bool:
    """Whether the argument means a file rather than an id."""
    return Path(name).is_file() or "/" in name or "." in name


def read_file(name: str) -> bytes:
    path = Path(name)
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise no(f"{path} is too large to be an archive file")
        return path.read_bytes()
    except OSError as error:
        raise usage(f"{path} cannot be read: {error.strerror}") from None


def record_from_file(name: str, match_id: str) -> Record:
    """The record in an archive file; which one must be said where there are several."""
    try:
        records = [read_record(packed) for packed in decode_archive_file(read_file(name)).records]
    except Unreadable as error:
        raise no(f"{name} is no archive file: {error}") from None
    except Rejected as rejected:
        raise no(f"{name}: {rejected.detail}", rejected.remedy) from None
    wanted = [record for record in records if match_id in {"", record.match_id}]
    if len(wanted) == 1:
        return wanted[0]
    held = ", ".join(record.match_id for record in records[:5]) or "none"
    raise usage(f"{name} holds {len(records)} records: say which with --match", f"it holds {held}, …")


async def record_from_archive(match_id: str) -> Record:
    from majlis.cli.calls import channel, token
    from majlis.v1 import archive_pb2
    from majlis.v1.archive_pb2_grpc import ArchiveStub

    async with channel("archive") as opened:
        request = archive_pb2.GetRecordRequest(match_id=match_id)
        packed = (await ArchiveStub(opened).GetRecord(request, metadata=token())).record
    try:
        return read_record(packed)
    except Rejected as rejected:
        raise no(f"the archive's record of {match_id}: {rejected.detail}", rejected.remedy) from None
