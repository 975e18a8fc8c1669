"""What the archive gives out: records of finished matches, verdicts, and files that prove themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from nats.aio.client import Client

from majlis.chassis import broker
from majlis.engine.evidence import key_id, read_record, verify_archive_file, verify_record
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import archive_pb2, result_pb2
from tests.support.archive import EVENING, Archive, Log, archive, finished
from tests.support.nats import Server
from tests.support.serving import refused

KEY = Ed25519PrivateKey.generate()
POD = [finished(number, EVENING, shard=number % 2) for number in range(1, 5)]
CASUAL = finished(10)


@pytest.fixture
async def client(nats_server: Server) -> AsyncIterator[Client]:
    client = await broker.connect([nats_server.url], "test")
    await broker.ensure_streams(client.jetstream(), 1)
    yield client
    await client.close()


@pytest.fixture
async def full(client: Client, nats_server: Server, database_url: str) -> AsyncIterator[Archive]:
    """An archive that has recorded a tournament's four matches and a casual one."""
    await Log(client).write(*POD, CASUAL)
    async with archive(nats_server.url, database_url, KEY) as made:
        await made.settled()
        yield made


async def verdict(made: Archive, **ids: str) -> archive_pb2.VerifyResponse:
    told = [each async for each in made.stub.Verify(archive_pb2.VerifyRequest(**ids))]
    assert [each.done for each in told] == [False] * (len(told) - 1) + [True]
    return told[-1]


async def exported(made: Archive, **ids: str) -> bytes:
    chunks = [each.chunk async for each in made.stub.Export(archive_pb2.ExportRequest(**ids))]
    assert all(len(chunk) <= 48 * 1024 for chunk in chunks)
    return b"".join(chunks)


async def listed(made: Archive, **request: object) -> list[str]:
    answer = await made.stub.ListRecords(archive_pb2.ListRecordsRequest(**request))  # type: ignore[arg-type]
    assert answer.total >= len(answer.records)
    return [record.match_id for record in answer.records]


async def test_every_finished_match_becomes_one_signed_record_that_holds_its_history(full: Archive) -> None:
    for match in [*POD, CASUAL]:
        answer = await full.stub.GetRecord(archive_pb2.GetRecordRequest(match_id=match.match_id))
        assert list(read_record(answer.record).entries) == match.stored
        assert verify_record(answer.record, KEY.public_key()).ok
    assert set((await full.published()).values()) == {1}
    assert await full.pending() == 0


async def test_the_summary_says_what_the_history_says(full: Archive) -> None:
    answer = await full.stub.ListRecords(archive_pb2.ListRecordsRequest(tournament_id=EVENING))
    assert answer.total == 4
    by_id = {record.match_id: record for record in answer.records}
    for match in POD:
        record = by_id[match.match_id]
        assert (record.game, record.tournament_id, record.round) == ("sounding", EVENING, 1)
        assert record.pod == int(match.match_id[-3:])
        assert (record.entries, record.history_hash) == (len(match.stored), match.state.head_hash)
        assert record.ended_at_ms == match.ended.at_ms
        assert list(record.player_ids) == ["player-0", "player-1"]


async def test_records_are_found_by_tournament_game_and_player_newest_first(full: Archive) -> None:
    newest_first = sorted([*POD, CASUAL], key=lambda match: (-match.ended.at_ms, match.match_id))
    assert await listed(full) == [match.match_id for match in newest_first]
    assert await listed(full, limit=2) == [match.match_id for match in newest_first[:2]]
    assert len(await listed(full, tournament_id=EVENING)) == 4
    assert len(await listed(full, game="sounding", player_id="player-1")) == 5
    assert await listed(full, player_id="player-7") == await listed(full, game="thousand") == []


async def test_nothing_of_a_match_that_goes_on_is_given_out(full: Archive, client: Client) -> None:
    going_on = finished(20, "live", shard=5)
    await Log(client).append("5", going_on.stored[:-1], schema=1)
    await full.settled()
    assert await full.pending() == len(going_on.stored) - 1
    for match_id in (going_on.match_id, "5-never", ""):
        with refused(RejectionCode.UNKNOWN_RECORD):
            await full.stub.GetRecord(archive_pb2.GetRecordRequest(match_id=match_id))
    for match_id in (going_on.match_id, "5-never"):
        with refused(RejectionCode.UNKNOWN_RECORD):
            await verdict(full, match_id=match_id)
    for tournament_id in ("live", "never"):
        with refused(RejectionCode.UNKNOWN_TOURNAMENT):
            await exported(full, tournament_id=tournament_id)
    assert going_on.match_id not in await listed(full)


async def test_a_match_and_a_tournament_are_decided_again_on_request(full: Archive) -> None:
    told = await verdict(full, tournament_id=EVENING)
    assert told.verified
    assert (told.matches, told.of_matches) == (4, 4)
    assert told.entries == sum(len(match.stored) for match in POD)
    told = await verdict(full, match_id=CASUAL.match_id)
    assert (told.verified, told.matches, told.entries) == (True, 1, len(CASUAL.stored))


async def test_an_exported_tournament_proves_itself_by_the_public_key_alone(full: Archive) -> None:
    told = await full.stub.GetPublicKey(archive_pb2.GetPublicKeyRequest())
    public_key = Ed25519PublicKey.from_public_bytes(told.public_key)
    assert told.key_id == key_id(KEY.public_key())
    file = await exported(full, tournament_id=EVENING)
    checked = verify_archive_file(file, public_key)
    assert (checked.ok, checked.matches) == (True, 4)
    checkpoint = result_pb2.ArchiveFile.FromString(file).checkpoint
    assert [leaf.match_id for leaf in checkpoint.leaves] == sorted(match.match_id for match in POD)
    # The chunks join to the very bytes that serialising the file at once gives.
    assert result_pb2.ArchiveFile.FromString(file).SerializeToString(deterministic=True) == file
    spoilt = bytearray(file)
    spoilt[len(file) // 2] ^= 1
    assert not verify_archive_file(bytes(spoilt), public_key).ok
    assert not verify_archive_file(file[:-10], public_key).ok


async def test_an_exported_match_proves_itself(full: Archive) -> None:
    file = await exported(full, match_id=CASUAL.match_id)
    assert verify_archive_file(file, KEY.public_key()).ok
    assert not verify_archive_file(file, Ed25519PrivateKey.generate().public_key()).ok


async def test_exactly_one_of_match_and_tournament_is_named(full: Archive) -> None:
    for ids in ({}, {"match_id": CASUAL.match_id, "tournament_id": EVENING}, {"match_id": "a\x00b"}):
        with refused(RejectionCode.MALFORMED):
            await verdict(full, **ids)
        with refused(RejectionCode.MALFORMED):
            await exported(full, **ids)
    with refused(RejectionCode.MALFORMED):
        await listed(full, player_id="\x00")


async def test_a_record_changed_in_the_log_of_records_is_noticed(full: Archive) -> None:
    victim, other = POD[0], POD[1]
    theirs = await full.stub.GetRecord(archive_pb2.GetRecordRequest(match_id=other.match_id))
    await full.client.jetstream().publish(f"record.sounding.{victim.match_id}", theirs.record)
    told = await verdict(full, match_id=victim.match_id)
    assert not told.verified
    assert (told.fault_match_id, other.match_id in told.fault) == (victim.match_id, True)
    await full.client.jetstream().publish(f"record.sounding.{victim.match_id}", b"no record")
    told = await verdict(full, tournament_id=EVENING)
    assert (told.verified, told.fault_match_id) == (False, victim.match_id)
