"""Who may open a shard: claims on a real broker, under leases of two seconds."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import nats.errors
import pytest
from nats.js.kv import KeyValue

from majlis.chassis import broker
from majlis.chassis.clock import SystemClock
from majlis.chassis.journal.lease import Claim, Owner, Taken, claim, read_owner, seize
from majlis.chassis.journal.memory_store import Fault
from majlis.chassis.lookup import Lookup
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from tests.support.nats import Server
from tests.support.proxy import Proxy, broker_proxy

LEASE_S = 2.0
KEY = "match.3"
MATCH = "3-abcdefghijklmnop"
clock = SystemClock()
numbers = itertools.count()


@pytest.fixture
async def proxy(shared_nats: Server) -> AsyncIterator[Proxy]:
    async with broker_proxy(shared_nats.port) as made:
        yield made


@pytest.fixture
async def bucket(proxy: Proxy) -> AsyncIterator[KeyValue]:
    """A bucket of leases, through a proxy that can lose answers; whoever is not answered for 0.5 s gives up."""
    client = await broker.connect([proxy.url], "lease")
    js = client.jetstream(timeout=0.5)
    yield await js.create_key_value(bucket=f"LEASES{next(numbers)}", ttl=LEASE_S)
    await client.close()


async def claim_as(bucket: KeyValue, instance: str) -> Claim:
    return await claim(bucket, KEY, instance, f"{instance}:7480", clock)


async def owner(bucket: KeyValue) -> Owner:
    found = await read_owner(bucket, KEY)
    assert found is not None
    return found[0]


async def test_a_key_is_claimed_once(bucket: KeyValue) -> None:
    assert await read_owner(bucket, KEY) is None
    mine = await claim_as(bucket, "a")
    assert (mine.epoch > 0, mine.previous_alive_ms) == (True, 0)
    assert (await owner(bucket)).address == "a:7480"
    with pytest.raises(Taken):
        await claim_as(bucket, "b")


async def test_of_many_who_claim_at_once_one_gets_it(bucket: KeyValue) -> None:
    answers = await asyncio.gather(*(claim_as(bucket, f"i{n}") for n in range(10)), return_exceptions=True)
    won = [answer for answer in answers if isinstance(answer, Claim)]
    assert len(won) == 1
    assert sum(isinstance(answer, Taken) for answer in answers) == 9


async def test_a_claim_that_is_renewed_lasts_and_keeps_its_epoch(bucket: KeyValue) -> None:
    mine = await claim_as(bucket, "a")
    epoch = mine.epoch
    for _ in range(3):
        await asyncio.sleep(LEASE_S / 2)
        await mine.renew(clock)
    with pytest.raises(Taken):
        await claim_as(bucket, "b")
    assert (mine.epoch, (await owner(bucket)).epoch) == (epoch, epoch)


async def test_a_claim_that_is_not_renewed_is_forgotten_and_cannot_be_renewed_afterwards(
    bucket: KeyValue,
) -> None:
    former = await claim_as(bucket, "a")
    await asyncio.sleep(LEASE_S + 0.3)
    assert await read_owner(bucket, KEY) is None
    with pytest.raises(Taken):
        await former.renew(clock)
    following = await claim_as(bucket, "b")
    assert following.epoch > former.epoch
    with pytest.raises(Taken):
        await former.renew(clock)
    await former.release(clock)
    assert (await owner(bucket)).instance == "b"


async def test_a_released_claim_is_free_at_once_and_tells_when_its_owner_was_alive(bucket: KeyValue) -> None:
    former = await claim_as(bucket, "a")
    before_ms = clock.now_ms()
    await former.release(clock)
    following = await claim_as(bucket, "b")
    assert following.epoch > former.epoch
    assert before_ms <= following.previous_alive_ms <= clock.now_ms()


async def test_the_claim_of_an_owner_that_is_gone_is_seized_by_one(bucket: KeyValue) -> None:
    former = await claim_as(bucket, "a")
    await former.renew(clock)
    gone = await owner(bucket)
    answers = await asyncio.gather(
        *(seize(bucket, KEY, name, name, clock, gone) for name in "bcd"), return_exceptions=True
    )
    won = [answer for answer in answers if isinstance(answer, Claim)]
    assert len(won) == 1
    assert won[0].epoch > former.epoch
    assert won[0].previous_alive_ms == gone.renewed_ms
    with pytest.raises(Taken):
        await former.renew(clock)
    with pytest.raises(Taken):
        await seize(bucket, KEY, "e", "e", clock, gone)


async def test_epochs_only_grow(bucket: KeyValue) -> None:
    epochs = []
    for number in range(10):
        mine = await claim_as(bucket, f"i{number}")
        await mine.renew(clock)
        await mine.release(clock)
        epochs.append(mine.epoch)
    assert epochs == sorted(set(epochs))


async def test_a_renewal_whose_answer_was_lost_loses_nothing(bucket: KeyValue, proxy: Proxy) -> None:
    mine = await claim_as(bucket, "a")
    proxy.next_fault = Fault.LOSE_ACKNOWLEDGEMENT
    with pytest.raises(nats.errors.Error):
        await mine.renew(clock)
    await mine.renew(clock)
    with pytest.raises(Taken):
        await claim_as(bucket, "b")


async def test_a_claim_is_released_also_when_the_last_renewal_s_answer_was_lost(
    bucket: KeyValue, proxy: Proxy
) -> None:
    mine = await claim_as(bucket, "a")
    proxy.next_fault = Fault.LOSE_ACKNOWLEDGEMENT
    with pytest.raises(nats.errors.Error):
        await mine.renew(clock)
    await mine.release(clock)
    assert (await claim_as(bucket, "b")).epoch > mine.epoch


async def test_a_claim_whose_answer_was_lost_is_claimed_anew_by_the_same_instance_only(
    bucket: KeyValue, proxy: Proxy
) -> None:
    proxy.next_fault = Fault.LOSE_ACKNOWLEDGEMENT
    with pytest.raises(nats.errors.Error):
        await claim_as(bucket, "a")
    lost = await read_owner(bucket, KEY)
    assert lost is not None
    with pytest.raises(Taken):
        await claim_as(bucket, "b")
    mine = await claim_as(bucket, "a")
    assert mine.epoch > lost[1]
    assert mine.previous_alive_ms == 0


async def test_a_renewal_that_arrives_late_does_not_disturb_the_next_owner(
    bucket: KeyValue, proxy: Proxy
) -> None:
    former = await claim_as(bucket, "a")
    gone = await owner(bucket)
    proxy.next_fault = Fault.WRITE_LATE
    with pytest.raises(nats.errors.Error):
        await former.renew(clock)
    following = await seize(bucket, KEY, "b", "b:7480", clock, gone)
    await proxy.deliver_late()
    await following.renew(clock)
    assert (await owner(bucket)).instance == "b"


# --- looking an owner up ---------------------------------------------------------------------------------------------


async def until_found(lookup: Lookup, address: str | None, within_s: float = 8.0) -> None:
    """Waits until the match is at `address`; None: until nobody owns its shard."""
    async with asyncio.timeout(within_s):
        while found_by(lookup) != address:
            await asyncio.sleep(0.01)


def found_by(lookup: Lookup) -> str | None:
    try:
        return lookup.address_of(MATCH)
    except Rejected as rejected:
        return None if rejected.code == RejectionCode.UNAVAILABLE else str(rejected)


@pytest.fixture
async def lookup(bucket: KeyValue) -> AsyncIterator[Lookup]:
    made = Lookup(bucket, LEASE_S)
    watching = asyncio.create_task(made.run())
    yield made
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching


async def test_a_lookup_follows_the_owners(bucket: KeyValue, lookup: Lookup) -> None:
    await until_found(lookup, None)
    former = await claim_as(bucket, "a")
    await until_found(lookup, "a:7480", within_s=2)
    await former.release(clock)
    await until_found(lookup, None, within_s=0.5)
    await claim_as(bucket, "b")
    await until_found(lookup, "b:7480", within_s=0.5)
    assert {key: owner.instance for key, owner in lookup.owners().items()} == {KEY: "b"}


async def test_a_lookup_does_not_send_anybody_to_an_owner_whose_lease_is_over(
    bucket: KeyValue, lookup: Lookup
) -> None:
    await claim_as(bucket, "a")
    await until_found(lookup, "a:7480")
    await until_found(lookup, None, within_s=LEASE_S + 1)


async def test_a_lookup_is_not_stopped_by_what_it_cannot_read(bucket: KeyValue, lookup: Lookup) -> None:
    await bucket.put("match.4", b"\xff")
    await claim_as(bucket, "a")
    await until_found(lookup, "a:7480")


async def test_a_lookup_survives_a_restart_of_the_broker(nats_server: Server) -> None:
    client = await broker.connect([nats_server.url], "lookup")
    bucket = await client.jetstream(timeout=1).create_key_value(bucket="LEASES", ttl=LEASE_S)
    lookup = Lookup(bucket, LEASE_S)
    watching = asyncio.create_task(lookup.run())
    await claim_as(bucket, "a")
    await until_found(lookup, "a:7480")
    await nats_server.restart()
    await asyncio.sleep(LEASE_S)
    async with asyncio.timeout(10):
        while True:
            try:
                await claim_as(bucket, "b")
                break
            except (Taken, nats.errors.Error):
                await asyncio.sleep(0.1)
    await until_found(lookup, "b:7480")
    watching.cancel()
    await client.close()
