"""`majlis verify` and `majlis export`: evidence, checked by the archive or offline with nothing but a public key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from rich.progress import Progress

from majlis.chassis.tokens import load_public_key
from majlis.cli.calls import channel, token
from majlis.cli.exits import NO, Ending, no, usage
from majlis.cli.output import Json, err, note, out, print_json, show_facts
from majlis.cli.records import is_file, read_file
from majlis.cli.session import SESSION, run
from majlis.engine.evidence import key_id, verifying_archive_file
from majlis.v1 import archive_pb2
from majlis.v1.archive_pb2_grpc import ArchiveStub

UNKNOWN = frozenset({"UNKNOWN_MATCH", "UNKNOWN_RECORD", "MALFORMED"})


def register(app: typer.Typer) -> None:
    app.command()(verify)
    app.command()(export)


def verify(
    what: Annotated[
        str, typer.Argument(metavar="MATCH|TOURNAMENT|FILE", help="An id, or an exported archive file.")
    ],
    public_key: Annotated[
        str, typer.Option(help="For a file: the archive's public key, as a PEM file or 64 hex digits.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Check hash chains, signatures and shuffles, and decide every command again; exit code 1 at the first fault."""
    told = _verify_file(what, public_key) if is_file(what) else run(verify_in_archive(what))
    if as_json:
        print_json(told)
    elif told["verified"]:
        out.print(f"verified: {told['matches']} matches, {told['entries']} entries")
    else:
        place = f"match {told['fault_match']}, entry {told['fault_entry']}: " if told["fault_entry"] else ""
        place = place or (f"match {told['fault_match']}: " if told["fault_match"] else "")
        out.print(f"NOT verified: {place}{told['fault']}", markup=False)
    if not told["verified"]:
        raise typer.Exit(NO)


def export(
    what: Annotated[str, typer.Argument(metavar="MATCH|TOURNAMENT", help="What to export.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    as_json: Json = False,
) -> None:
    """Write a file that `majlis verify` checks offline."""
    export_to(what, output, as_json=as_json)


def export_to(what: str, output: Path, *, as_json: bool) -> None:
    size, key = run(export_quietly(what, output))
    note(f"verify it anywhere: majlis verify {output} --public-key {key.hex()}")
    show_facts({"file": str(output), "bytes": size, "public_key": key.hex()}, as_json=as_json)


async def verify_in_archive(what: str) -> dict[str, Any]:
    """The archive's verdict on a match, or else a tournament, of that id."""
    try:
        return await _stream_verdict(archive_pb2.VerifyRequest(match_id=what))
    except Ending as ending:
        if ending.rejection not in UNKNOWN:
            raise
    return await _stream_verdict(archive_pb2.VerifyRequest(tournament_id=what))


async def _stream_verdict(request: archive_pb2.VerifyRequest) -> dict[str, Any]:
    async with channel("archive") as opened:
        with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
            task = progress.add_task("verifying", total=None)
            async for told in ArchiveStub(opened).Verify(request, metadata=token()):
                progress.update(task, completed=told.matches, total=told.of_matches or None)
                if told.done:
                    return {
                        "verified": told.verified,
                        "matches": told.matches,
                        "entries": told.entries,
                        "fault": told.fault,
                        "fault_match": told.fault_match_id,
                        "fault_entry": told.fault_entry,
                    }
    raise no("the archive ended its answer without a verdict", "try again; look into the log archive.log")


def _verify_file(name: str, given_key: str) -> dict[str, Any]:
    data, key = read_file(name), _public_key(given_key)
    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task("verifying", total=None)
        for verdict in verifying_archive_file(data, key):
            progress.update(task, completed=verdict.matches, total=verdict.of_matches or None)
    return {
        "verified": verdict.ok,
        "matches": verdict.matches,
        "entries": verdict.entries,
        "fault": verdict.fault,
        "fault_match": verdict.fault_match_id,
        "fault_entry": verdict.fault_entry,
        "key_id": key_id(key),
    }


def _public_key(given: str) -> Ed25519PublicKey:
    try:
        if len(given) == 64 and not Path(given).exists():
            return Ed25519PublicKey.from_public_bytes(bytes.fromhex(given))
        path = Path(given) if given else SESSION.settings.keys_dir / "archive.pub"
        return load_public_key(path)
    except (OSError, ValueError) as error:
        raise usage(
            f"the public key cannot be read: {error}",
            "--public-key takes a PEM file or 64 hex digits; `majlis export` prints them",
        ) from None


async def export_quietly(what: str, output: Path) -> tuple[int, bytes]:
    """Writes the archive file of a match or tournament; returns its size and the archive's public key."""
    try:
        return await _stream_export(archive_pb2.ExportRequest(match_id=what), output)
    except Ending as ending:
        if ending.rejection not in UNKNOWN:
            raise
    return await _stream_export(archive_pb2.ExportRequest(tournament_id=what), output)


async def _stream_export(request: archive_pb2.ExportRequest, output: Path) -> tuple[int, bytes]:
    """Writes the file whole or not at all; returns its size and the archive's public key."""
    temporary = output.with_name(output.name + ".part")
    async with channel("archive") as opened:
        archive = ArchiveStub(opened)
        key = await archive.GetPublicKey(archive_pb2.GetPublicKeyRequest())
        try:
            with temporary.open("wb") as file:
                async for told in archive.Export(request, metadata=token()):
                    file.write(told.chunk)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            temporary.replace(output)
        except OSError as error:
            raise usage(f"{output} cannot be written: {error.strerror}") from None
        finally:
            temporary.unlink(missing_ok=True)
    return size, key.public_key
