"""The ledger's repository and claims keep the same contract on both databases."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadAmount, Conflict, OverCapacity, StaleGeneration
from kilonova.domain.ledger import ANY, ConsumerWrite, InventoryInUse, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations import ledger as claims
from kilonova.storage import ledger
from kilonova.storage.database import Database, Transaction
from kilonova.storage.provider_contents import edit_inventories, set_aggregates, set_traits
from kilonova.storage.provider_trees import create_provider, delete_provider, move_provider

Result = TypeVar("Result")


async def host(database: Database, parent: Provider | None = None, **totals: int) -> Provider:
    async def work(transaction: Transaction) -> Provider:
        made = await create_provider(
            transaction, NewProvider(new_uuid(), f"host-{new_uuid()}", parent.id if parent else None, "cell1")
        )
        return await edit_inventories(
            transaction, made.id, 0, lambda _: {name: Inventory(total) for name, total in totals.items()}
        )

    return await database.transact(work)


async def present(database: Database, provider: Provider) -> Provider:
    async with database.read() as transaction:
        return (await ledger.providers_by_id(transaction, [provider.id]))[provider.id]


def wish(provider: Provider, consumer: str | None = None, generation: object = ANY, **amounts: int) -> ConsumerWrite:
    return ConsumerWrite(consumer or new_uuid(), "p", "u", "INSTANCE", {provider.id: amounts} if amounts else {}, generation)


async def done(database: Database, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
    return await database.transact(work)


async def test_a_claim_is_counted_in_used_and_in_both_generations(database: Database) -> None:
    provider = await host(database, VCPU=8)
    mine = wish(provider, VCPU=3)
    await claims.claim(database, [mine])
    after = await present(database, provider)
    assert (after.inventories["VCPU"].used, after.generation) == (3, provider.generation + 1)
    async with database.read() as transaction:
        assert (await ledger.consumers_by_uuid(transaction, [mine.consumer]))[mine.consumer].generation == 1
        assert await ledger.allocations_of_consumers(transaction, [mine.consumer]) == {mine.consumer: {provider.id: {"VCPU": 3}}}
        assert (await ledger.usages_of_project(transaction, "p"))["INSTANCE"].amounts == {"VCPU": 3}


async def test_a_claim_replaces_what_the_consumer_held(database: Database) -> None:
    provider, other = await host(database, VCPU=8), await host(database, VCPU=8)
    mine = wish(provider, VCPU=8)
    await claims.claim(database, [mine])
    await claims.claim(database, [wish(other, mine.consumer, VCPU=5)])
    assert (await present(database, provider)).inventories["VCPU"].used == 0
    assert (await present(database, other)).inventories["VCPU"].used == 5


async def test_a_consumer_without_amounts_ends(database: Database) -> None:
    provider = await host(database, VCPU=8)
    mine = wish(provider, VCPU=8)
    await claims.claim(database, [mine])
    assert await done(database, lambda transaction: claims.release(transaction, [mine.consumer])) == {mine.consumer}
    assert await done(database, lambda transaction: claims.release(transaction, [mine.consumer])) == frozenset()
    async with database.read() as transaction:
        assert await ledger.consumers_by_uuid(transaction, [mine.consumer]) == {}
    await claims.claim(database, [wish(provider, mine.consumer, None, VCPU=8)])


async def test_a_refused_claim_leaves_no_trace(database: Database) -> None:
    provider = await host(database, VCPU=8)
    good, bad = wish(provider, VCPU=8), wish(provider, VCPU=1)
    with pytest.raises(OverCapacity):
        await claims.claim(database, [good, bad])
    assert await present(database, provider) == provider
    async with database.read() as transaction:
        assert await ledger.consumers_by_uuid(transaction, [good.consumer, bad.consumer]) == {}


async def test_losers_of_a_batch_cost_the_winners_nothing(database: Database) -> None:
    provider = await host(database, VCPU=5)
    writes = [wish(provider, VCPU=2) for _ in range(4)]

    async def work(transaction: Transaction) -> int:
        taken = await claims.lock(transaction, writes)
        winners = 0
        for write in writes:
            try:
                taken.admit(write)
                winners += 1
            except OverCapacity:
                pass
        await taken.write(transaction)
        return winners

    assert await database.transact(work) == 2
    assert (await present(database, provider)).inventories["VCPU"].used == 4


async def test_allocations_move_between_consumers_of_a_full_provider(database: Database) -> None:
    provider = await host(database, VCPU=5)
    server, migration = wish(provider, VCPU=5), new_uuid()
    await claims.claim(database, [server])
    await claims.claim(database, [wish(provider, migration, VCPU=5), wish(provider, server.consumer)])
    async with database.read() as transaction:
        assert [holding.consumer.uuid for holding in await ledger.allocations_of_provider(transaction, provider.id)] == [
            migration
        ]


async def test_an_overloaded_provider_takes_every_write_that_does_not_make_it_worse(database: Database) -> None:
    provider = await host(database, VCPU=10)
    first, second = wish(provider, VCPU=4), wish(provider, VCPU=4)
    await claims.claim(database, [first])
    await claims.claim(database, [second])
    await done(
        database,
        lambda transaction: edit_inventories(transaction, provider.id, ANY, lambda _: {"VCPU": Inventory(10, reserved=6)}),
    )
    await claims.claim(database, [wish(provider, first.consumer, VCPU=4)])
    await claims.claim(database, [wish(provider, first.consumer, VCPU=2)])
    with pytest.raises(OverCapacity):
        await claims.claim(database, [wish(provider, first.consumer, VCPU=3)])
    with pytest.raises(OverCapacity):
        await claims.claim(database, [wish(provider, VCPU=1)])
    # The whole of an overload may change hands.
    await claims.claim(database, [wish(provider, VCPU=4), wish(provider, second.consumer)])


async def test_units_and_missing_inventories_are_refused(database: Database) -> None:
    provider = await host(database, VCPU=8)
    await done(
        database,
        lambda transaction: edit_inventories(
            transaction, provider.id, ANY, lambda _: {"VCPU": Inventory(8, min_unit=2, max_unit=6, step_size=2)}
        ),
    )
    for amount in (1, 3, 8):
        with pytest.raises(BadAmount):
            await claims.claim(database, [wish(provider, VCPU=amount)])
    with pytest.raises(Conflict):
        await claims.claim(database, [wish(provider, PCPU=1)])


@pytest.mark.parametrize("stale", [None, 0, 2])
async def test_a_stale_consumer_generation_is_refused(database: Database, stale: int | None) -> None:
    provider = await host(database, VCPU=8)
    mine = wish(provider, None, None, VCPU=1)
    await claims.claim(database, [mine])
    with pytest.raises(StaleGeneration):
        await claims.claim(database, [wish(provider, mine.consumer, stale, VCPU=2)])
    await claims.claim(database, [wish(provider, mine.consumer, 1, VCPU=2)])


async def test_contents_of_a_provider_are_replaced_under_its_generation(database: Database) -> None:
    provider = await host(database, VCPU=8, DISK_GB=10)
    await claims.claim(database, [wish(provider, VCPU=1)])
    with pytest.raises(StaleGeneration):
        await done(database, lambda t: set_traits(t, provider.id, provider.generation, {"CUSTOM_A"}))
    with pytest.raises(InventoryInUse):
        await done(database, lambda t: edit_inventories(t, provider.id, ANY, lambda _: {"DISK_GB": Inventory(1)}))
    await done(database, lambda t: edit_inventories(t, provider.id, 2, lambda _: {"VCPU": Inventory(4, allocation_ratio=1.1)}))
    await done(database, lambda t: set_traits(t, provider.id, 3, {"CUSTOM_A", "CUSTOM_B"}))
    await done(database, lambda t: set_traits(t, provider.id, 4, {"CUSTOM_B"}))
    await done(database, lambda t: set_aggregates(t, provider.id, 5, {"agg"}))
    after = await present(database, provider)
    assert after.inventories == {"VCPU": Inventory(4, allocation_ratio=1.1, used=1)}
    assert (after.traits, after.aggregates, after.generation) == (frozenset({"CUSTOM_B"}), frozenset({"agg"}), 6)


async def test_a_moved_subtree_gets_its_new_root(database: Database) -> None:
    alt, parent = await host(database), await host(database)
    child = await host(database, parent)
    grandchild = await host(database, child)
    await done(database, lambda transaction: move_provider(transaction, parent.id, alt.id))
    assert {(await present(database, one)).root_id for one in (alt, parent, child, grandchild)} == {alt.id}
    await done(database, lambda transaction: move_provider(transaction, child.id, None))
    assert (await present(database, grandchild)).root_id == child.id


async def test_a_tree_goes_leaves_first(database: Database) -> None:
    root = await host(database)
    child = await host(database, root)
    with pytest.raises(Conflict, match="child"):
        await done(database, lambda transaction: delete_provider(transaction, root.id))
    for provider in (child, root):
        await done(database, lambda transaction, provider=provider: delete_provider(transaction, provider.id))
    async with database.read() as transaction:
        assert await ledger.providers_after(transaction, 0, 10) == []


async def test_sixteen_writers_for_five_slots_have_five_winners(database: Database) -> None:
    for _ in range(20):
        provider = await host(database, VCPU=5)

        async def try_one(provider: Provider = provider) -> bool:
            try:
                await claims.claim(database, [wish(provider, VCPU=1)])
            except OverCapacity:
                return False
            return True

        assert sum(await asyncio.gather(*[try_one() for _ in range(16)])) == 5
        assert (await present(database, provider)).inventories["VCPU"].used == 5


async def test_writers_of_many_providers_in_any_order_do_not_block_each_other(database: Database) -> None:
    providers = [await host(database, VCPU=100) for _ in range(4)]

    async def write(number: int) -> None:
        turned = providers[number % 4 :] + providers[: number % 4]
        await claims.claim(database, [ConsumerWrite(new_uuid(), "p", "u", "", {one.id: {"VCPU": 1} for one in turned})])

    await asyncio.gather(*[write(number) for number in range(24)])
    assert {(await present(database, one)).inventories["VCPU"].used for one in providers} == {24}


@pytest.mark.parametrize("ratio", [1 / 3, 0.1 + 0.2, 1.1, 16.0, 3.4e38])
async def test_an_allocation_ratio_is_read_as_it_was_written(database: Database, ratio: float) -> None:
    inventory = Inventory(3, allocation_ratio=ratio)
    provider = await host(database)
    await done(database, lambda transaction: edit_inventories(transaction, provider.id, 1, lambda _: {"VCPU": inventory}))
    assert (await present(database, provider)).inventories["VCPU"] == inventory
