"""Claims that arrive together: one transaction for all, a verdict for each; and new consumers in one statement."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest
from sqlalchemy import text

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest, Conflict, OverCapacity, StaleGeneration
from kilonova.domain.ledger import ANY, ConsumerWrite, Expected, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations.ledger import Asked, Claimer, write_allocations
from kilonova.placement import claims
from kilonova.storage import ledger, new_claims
from kilonova.storage.database import Database, Transaction
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.provider_contents import edit_inventories
from kilonova.storage.provider_trees import create_provider
from kilonova.storage.statement import Statement
from tests.conftest import TEMPLATE, copy_of

SECONDS = 30.0
LOOKS, LOOK_SECONDS = 3000, 0.01


async def host(database: Database, **inventories: Inventory) -> Provider:
    async def work(transaction: Transaction) -> Provider:
        made = await create_provider(transaction, NewProvider(new_uuid(), f"host-{new_uuid()}", None, "cell1"))
        return await edit_inventories(transaction, made.id, 0, lambda _: inventories)

    return await database.transact(work)


async def present(database: Database, provider: Provider) -> Provider:
    async with database.read() as transaction:
        return (await ledger.providers_by_id(transaction, [provider.id]))[provider.id]


def wish(provider: Provider, generation: Expected = None, consumer: str = "", **amounts: int) -> ConsumerWrite:
    holds = {provider.id: amounts} if amounts else {}
    return ConsumerWrite(consumer or new_uuid(), "p", "u", "INSTANCE", holds, generation)


async def refuse(transaction: Transaction) -> None:
    raise BadRequest("no such class")


async def test_each_request_of_a_transaction_gets_its_own_verdict(database: Database) -> None:
    provider = await host(database, VCPU=Inventory(5))
    claimer = Claimer(database)
    mine = wish(provider, VCPU=3)
    await claimer.write(Asked([mine]))
    asked = {
        "fits": Asked([wish(provider, VCPU=2)]),
        "is too much": Asked([wish(provider, VCPU=1)]),
        "is stale": Asked([wish(provider, None, mine.consumer, VCPU=1)]),
        "names what is not there": Asked([wish(provider, VCPU=1)], refuse),
        "ends a consumer": Asked([wish(provider, ANY, mine.consumer)]),
        "ends nobody": Asked([wish(provider, ANY)]),
        "takes what was given up": Asked([wish(provider, VCPU=3)]),
    }
    verdicts = await asyncio.gather(*(claimer.write(one) for one in asked.values()), return_exceptions=True)
    told = {
        name: verdict if isinstance(verdict, frozenset) else type(verdict) for name, verdict in zip(asked, verdicts, strict=True)
    }
    assert told == {
        "fits": frozenset(),
        "is too much": OverCapacity,
        "is stale": StaleGeneration,
        "names what is not there": BadRequest,
        "ends a consumer": {mine.consumer},
        "ends nobody": frozenset(),
        "takes what was given up": frozenset(),
    }
    assert (await present(database, provider)).inventories["VCPU"].used == 5


async def test_a_consumer_may_end_and_begin_anew_in_one_transaction(database: Database) -> None:
    provider = await host(database, VCPU=Inventory(5))
    claimer = Claimer(database)
    mine = wish(provider, VCPU=5)
    end = wish(provider, ANY, mine.consumer)
    verdicts = await asyncio.gather(*(claimer.write(Asked([write])) for write in (mine, end, mine, end, end)))
    assert verdicts == [frozenset(), {mine.consumer}, frozenset(), {mine.consumer}, frozenset()]
    assert (await present(database, provider)).inventories["VCPU"].used == 0
    async with database.read() as transaction:
        assert await ledger.whole_consumer(transaction, mine.consumer) is None


async def test_new_consumers_hold_what_they_asked_for_together(database: Database) -> None:
    first, second = [await host(database, VCPU=Inventory(4), MEMORY_MB=Inventory(64)) for _ in range(2)]
    claimer = Claimer(database)
    writes = [wish(first, VCPU=2, MEMORY_MB=8), wish(second, VCPU=4), wish(first, VCPU=2)]
    said = await asyncio.gather(*(claimer.claim([write]) for write in writes))
    assert said == [database.dialect == "postgresql"] * 3
    if database.dialect == "sqlite":
        assert await present(database, first) == first
        return
    after = await present(database, first)
    assert (after.inventories["VCPU"].used, after.inventories["MEMORY_MB"].used) == (4, 8)
    assert after.generation == first.generation + 1
    assert (await present(database, second)).inventories["VCPU"].used == 4
    async with database.read() as transaction:
        whole = await ledger.whole_consumer(transaction, writes[0].consumer)
    assert whole is not None
    assert (whole.consumer.generation, whole.consumer.project_id, whole.consumer.consumer_type) == (1, "p", "INSTANCE")
    assert [(held.provider_uuid, held.amounts) for held in whole.held] == [(first.uuid, {"VCPU": 2, "MEMORY_MB": 8})]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda write, other: ConsumerWrite(new_uuid(), "p", "u", "", {**write.allocations, 2**40: {"VCPU": 1}}, None),
        lambda write, other: ConsumerWrite(new_uuid(), "p", "u", "", {other.id: {"DISK_GB": 1}}, None),
        lambda write, other: ConsumerWrite(new_uuid(), "p", "u", "", {other.id: {"VCPU": 9}}, None),
        lambda write, other: ConsumerWrite(write.consumer, "p", "u", "", {other.id: {"VCPU": 1}}, None),
        lambda write, other: ConsumerWrite(new_uuid(), "p", "u", "", {other.id: {"VCPU": 1}}, 1),
        lambda write, other: ConsumerWrite(new_uuid(), "p", "u", "", {}, None),
    ],
    ids=["no such provider", "no such inventory", "no room", "consumer exists", "not said to be new", "asks for nothing"],
)
async def test_what_cannot_be_claimed_as_new_leaves_no_trace(
    database: Database, spoil: Callable[[ConsumerWrite, Provider], ConsumerWrite]
) -> None:
    provider, other = [await host(database, VCPU=Inventory(8)) for _ in range(2)]
    claimer = Claimer(database)
    held = wish(provider, VCPU=1)
    await claimer.write(Asked([held]))
    before = [await present(database, one) for one in (provider, other)]
    assert not await claimer.claim([wish(provider, VCPU=1), spoil(held, other)])
    assert [await present(database, one) for one in (provider, other)] == before


async def test_the_one_statement_has_the_same_rules_as_the_claims(postgresql_server: str) -> None:
    database = await PostgresqlDatabase.connect(await copy_of(postgresql_server, TEMPLATE), connections=2, seconds=SECONDS)
    random = Random(5)
    answers = []
    for _ in range(150):
        inventory = Inventory(
            total=random.randint(1, 20),
            reserved=random.randint(0, 6),
            min_unit=random.randint(1, 3),
            max_unit=random.randint(3, 12),
            step_size=random.choice([1, 1, 2, 3]),
            allocation_ratio=random.choice([0.1, 0.5, 1.0, 1.7, 16.0]),
        )
        provider = await host(database, VCPU=inventory)
        writes = [wish(provider, VCPU=random.randint(1, 8)) for _ in range(random.randint(1, 3))]
        answers.append(await new_claims.claim(database, writes))
        assert answers[-1] == _are_admitted(inventory, writes)
    assert {True, False} == set(answers)
    await database.close()


def _are_admitted(inventory: Inventory, writes: list[ConsumerWrite]) -> bool:
    used = 0
    for write in writes:
        ((number, amounts),) = write.allocations.items()
        key = (number, "VCPU")
        now = Inventory(
            inventory.total,
            inventory.reserved,
            inventory.min_unit,
            inventory.max_unit,
            inventory.step_size,
            inventory.allocation_ratio,
            used,
        )
        try:
            claims.verify({key: now}, {}, {key: amounts["VCPU"]}, {})
        except Conflict:
            return False
        used += amounts["VCPU"]
    return True


async def test_who_waits_for_a_provider_is_judged_by_what_it_is_then(postgresql_server: str) -> None:
    url = await copy_of(postgresql_server, TEMPLATE)
    database, other = [await PostgresqlDatabase.connect(url, connections=2, seconds=SECONDS) for _ in range(2)]
    provider = await host(database, VCPU=Inventory(4))
    locked, let_go = asyncio.Event(), asyncio.Event()

    async def shrink(transaction: Transaction) -> None:
        await edit_inventories(transaction, provider.id, ANY, lambda _: {"VCPU": Inventory(1)})
        locked.set()
        await let_go.wait()

    async with asyncio.timeout(SECONDS):
        shrinking = asyncio.create_task(other.transact(shrink))
        await locked.wait()
        waiting = asyncio.create_task(new_claims.claim(database, [wish(provider, VCPU=2)]))
        await _until_somebody_waits(database)
        let_go.set()
        await shrinking
        assert not await waiting
    assert (await present(database, provider)).inventories["VCPU"].used == 0
    assert await new_claims.claim(database, [wish(provider, VCPU=1)])
    await database.close()
    await other.close()


@pytest.mark.parametrize("generation", [None, ANY])
async def test_of_two_first_writes_of_one_consumer_the_later_hears_of_the_other_though_there_is_no_room_left(
    postgresql_server: str, generation: Expected
) -> None:
    url = await copy_of(postgresql_server, TEMPLATE)
    database, other = [await PostgresqlDatabase.connect(url, connections=3, seconds=SECONDS) for _ in range(2)]
    provider = await host(database, VCPU=Inventory(4))
    mine = wish(provider, generation, VCPU=3)
    written, let_go = asyncio.Event(), asyncio.Event()

    async def write_first(transaction: Transaction) -> None:
        await write_allocations(transaction, [mine])
        written.set()
        await let_go.wait()

    async with asyncio.timeout(SECONDS):
        first = asyncio.create_task(other.transact(write_first))
        await written.wait()
        claimer = Claimer(database)
        later = [asyncio.create_task(claimer.write(Asked([one]))) for one in (mine, wish(provider, VCPU=2))]
        await _until_somebody_waits(database)
        let_go.set()
        await first
        verdicts = await asyncio.gather(*later, return_exceptions=True)
    assert [type(verdict) for verdict in verdicts] == [StaleGeneration, OverCapacity]
    assert (await present(database, provider)).inventories["VCPU"].used == 3
    await database.close()
    await other.close()


async def _until_somebody_waits(database: Database) -> None:
    asked = Statement(text("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"))
    for _ in range(LOOKS):
        async with database.read() as transaction:
            if await transaction.one(asked) is not None:
                return
        await asyncio.sleep(LOOK_SECONDS)
    raise TimeoutError("nobody waits for a lock")
