"""An archive that meets a damaged log, dies at any point, or is not alone: evidence is never wrong and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats.aio.client import Client

from majlis.archive.tables import QUARANTINED
from majlis.chassis import broker, metrics
from majlis.chassis.projection import Unfoldable
from majlis.chassis.tokens import load_private_key, make_keys
from majlis.engine.evidence import verify_record
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import archive_pb2, entry_pb2
from majlis.v1.archive_pb2_grpc import ArchiveStub
from tests.services.test_archive import exported, listed, verdict
from tests.support.archive import EVENING, Log, Spoil, archive, finished
from tests.support.nats import Server
from tests.support.serving import eventually, refused, service_process

KEY = Ed25519PrivateKey.generate()
GOOD, BAD = finished(1, EVENING), finished(2, EVENING)


@pytest.fixture
async def client(nats_server: Server) -> AsyncIterator[Client]:
    client = await broker.connect([nats_server.url], "test")
    await broker.ensure_streams(client.jetstream(), 1)
    yield client
    await client.close()


class Killed(BaseException):
    """The process is gone: nothing after this line runs."""


def alarms() -> float:
    return float(metrics.AUDIT_CHAIN_FAILURES._value.get())


def mismatches() -> float:
    return float(metrics.REPLAY_MISMATCHES._value.get())


def flipped(stored: bytes, at: int) -> bytes:
    changed = bytearray(stored)
    changed[at] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("point", ["verified", "published"])
async def test_killed_at_any_point_each_match_is_recorded_once(
    client: Client, nats_server: Server, database_url: str, point: str
) -> None:
    def strike(passed: str) -> None:
        if passed == point:
            raise Killed

    await Log(client).write(GOOD)
    async with archive(nats_server.url, database_url, KEY, strike) as dying:
        (recording,) = dying.tasks
        await asyncio.wait({recording}, timeout=30)
        assert isinstance(recording.exception(), Killed)
        assert await dying.pending() == len(GOOD.stored)
        assert bool(await dying.published()) == (point == "published")
        assert await listed(dying) == []
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert await made.published() == {f"record.sounding.{GOOD.match_id}": 1}
        assert await made.pending() == 0
        assert (await verdict(made, match_id=GOOD.match_id)).verified


async def test_two_instances_record_each_match_once(
    client: Client, nats_server: Server, database_url: str
) -> None:
    matches = [finished(number) for number in range(30, 34)]
    async with (
        archive(nats_server.url, database_url, KEY) as one,
        archive(nats_server.url, database_url, KEY) as other,
    ):
        await Log(client).write(*matches)
        await one.settled()
        await other.settled()
        assert len(await one.published()) == 4
        assert set((await one.published()).values()) == {1}
        assert {row[1] for row in await one.index()} == {"published"}


async def test_a_history_changed_in_the_log_is_quarantined_with_its_fault_and_never_published(
    client: Client, nats_server: Server, database_url: str
) -> None:
    """The batches chain, so only deciding the history again can tell."""
    before = mismatches()
    entry = entry_pb2.Entry.FromString(BAD.stored[9])
    entry.observed.received_at_ms += 1
    forged = [*BAD.stored[:9], entry.SerializeToString(deterministic=True), *BAD.stored[10:]]
    log = Log(client)
    await log.append("0", forged, schema=1)
    await log.write(GOOD)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert mismatches() == before + 1
        assert list(await made.published()) == [f"record.sounding.{GOOD.match_id}"]
        assert await listed(made) == [GOOD.match_id]
        with refused(RejectionCode.CORRUPT_RECORD) as told:
            await made.stub.GetRecord(archive_pb2.GetRecordRequest(match_id=BAD.match_id))
        assert "entry 10" in told[0].detail
        found = await verdict(made, tournament_id=EVENING)
        assert (found.verified, found.fault_match_id, found.fault_entry) == (False, BAD.match_id, 10)
        with refused(RejectionCode.CORRUPT_RECORD):
            await exported(made, tournament_id=EVENING)
        assert (await verdict(made, match_id=GOOD.match_id)).verified
        assert await made.pending() == len(BAD.stored)  # kept: it is the evidence


@pytest.mark.parametrize(("at", "harmed"), [(30, False), (400, True), (-30, True)])
async def test_one_flipped_bit_in_the_log_raises_the_alarm_and_harms_no_other_match(
    client: Client, nats_server: Server, database_url: str, at: int, harmed: bool
) -> None:
    """In the head of a batch it harms no history at all; in an entry, that match's only."""
    before = alarms()
    log = Log(client)
    await log.append("1", [], schema=1)
    await log.append("1", BAD.stored[:40])
    await log.append("1", BAD.stored[40:], spoil=lambda data: flipped(data, at))
    await log.write(GOOD)
    await log.append("1", finished(3).stored)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert alarms() > before
        sound = {GOOD.match_id, finished(3).match_id} | (set() if harmed else {BAD.match_id})
        assert set(await listed(made)) == sound
        assert set(await made.published()) == {f"record.sounding.{match_id}" for match_id in sound}


def rewritten(**fields: object) -> Spoil:
    def rewrite(data: bytes) -> bytes:
        batch = entry_pb2.Batch.FromString(data)
        for name, value in fields.items():
            setattr(batch, name, value)
        return batch.SerializeToString(deterministic=True)

    return rewrite


@pytest.mark.parametrize("fields", [{"number": 9}, {"prev_hash": b"\0" * 32}, {"epoch": 6}])
async def test_every_break_of_the_batches_chain_is_an_alarm_and_the_archive_goes_on(
    client: Client, nats_server: Server, database_url: str, fields: dict[str, object]
) -> None:
    before = alarms()
    log = Log(client)
    await log.append("0", [], schema=1, epoch=7)
    await log.append("0", GOOD.stored, epoch=7, spoil=rewritten(**fields))
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert alarms() == before + 1
        assert await listed(made) == [GOOD.match_id]


async def test_a_shard_that_does_not_begin_with_its_first_batch_is_an_alarm(
    client: Client, nats_server: Server, database_url: str
) -> None:
    before = alarms()
    await Log(client).append("0", GOOD.stored, spoil=rewritten(number=2))
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert alarms() == before + 1


async def test_a_log_in_order_raises_no_alarm_and_a_new_owners_epoch_is_none(
    client: Client, nats_server: Server, database_url: str
) -> None:
    before = alarms()
    log = Log(client)
    await log.append("0", [], schema=1, epoch=7)
    await log.append("0", GOOD.stored[:20], epoch=7)
    await log.append("0", [], schema=1, epoch=9)
    await log.append("0", GOOD.stored[20:], epoch=9)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert await listed(made) == [GOOD.match_id]
    assert alarms() == before


async def test_what_was_repeated_in_the_log_changes_no_record(
    client: Client, nats_server: Server, database_url: str
) -> None:
    log = Log(client)
    await log.append("0", [*GOOD.stored[:30], *GOOD.stored[10:30]], schema=1)
    await log.append("0", [*GOOD.stored[20:], GOOD.stored[0], GOOD.stored[-1]])
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert (await verdict(made, match_id=GOOD.match_id)).entries == len(GOOD.stored)


async def test_a_shard_of_a_newer_schema_stops_it_and_what_is_recorded_is_still_given_out(
    client: Client, nats_server: Server, database_url: str
) -> None:
    log = Log(client)
    await log.write(GOOD)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        await log.append("0", [], schema=99, epoch=2)
        await log.append("0", BAD.stored, epoch=2)
        with pytest.raises(Unfoldable, match="schema 99"):
            await made.settled()
        assert (await verdict(made, match_id=GOOD.match_id)).verified
        with refused(RejectionCode.UNAVAILABLE):
            await verdict(made, tournament_id=EVENING)  # whose other match may be behind that


async def test_another_record_of_a_match_in_the_log_is_never_taken_for_ours(
    client: Client, nats_server: Server, database_url: str
) -> None:
    await client.jetstream().publish(f"record.sounding.{GOOD.match_id}", b"somebody else's")
    await Log(client).write(GOOD)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        assert [row[1] for row in await made.index()] == [QUARANTINED]
        with refused(RejectionCode.CORRUPT_RECORD) as told:
            await made.stub.GetRecord(archive_pb2.GetRecordRequest(match_id=GOOD.match_id))
        assert "another record" in told[0].detail


async def test_folded_anew_the_index_is_the_same_and_no_record_is_stored_again(
    client: Client, nats_server: Server, database_url: str
) -> None:
    await Log(client).write(GOOD, finished(5))
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        before = await made.index()
        await made.projection.rebuild()
        await made.settled()
        assert await made.index() == before
        assert set((await made.published()).values()) == {1}


async def test_a_broker_that_restarts_in_between_costs_nothing(
    client: Client, nats_server: Server, database_url: str
) -> None:
    log = Log(client)
    async with archive(nats_server.url, database_url, KEY) as made:
        await log.write(GOOD)
        await nats_server.restart()
        await log.write(finished(6))
        await made.settled()
        assert len(await listed(made)) == 2


async def test_the_process_killed_while_it_records_goes_on_where_it_was(
    client: Client, nats_server: Server, tmp_path: Path
) -> None:
    make_keys(tmp_path / "keys")
    matches = [finished(number, EVENING, shard=number % 3) for number in range(40, 52)]
    async with service_process("archive", tmp_path, nats_server.url) as process:
        await Log(client).write(*matches)
        await asyncio.sleep(0.3)
        await process.kill()
        await process.start()
        async with process.channel() as channel:
            stub = ArchiveStub(channel)

            async def all_there() -> bool:
                answer = await stub.ListRecords(archive_pb2.ListRecordsRequest(tournament_id=EVENING))
                return answer.total == len(matches)

            await eventually(all_there)
            key = load_private_key(tmp_path / "keys" / "archive.key").public_key()
            for match in matches:
                answer = await stub.GetRecord(archive_pb2.GetRecordRequest(match_id=match.match_id))
                assert verify_record(answer.record, key).entries == len(match.stored)
        assert await process.terminate() == 0
    state = (await client.jetstream().stream_info(broker.RECORDS)).state
    assert state.messages == len(matches)
