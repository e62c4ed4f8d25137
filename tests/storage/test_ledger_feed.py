"""A process that follows the feed knows what every other one has committed."""

import asyncio

from kilonova.domain.clock import new_uuid
from kilonova.domain.ledger import ANY, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.storage import changes, feed
from kilonova.storage.database import Database, Transaction
from kilonova.storage.feed import Changes
from kilonova.storage.provider_contents import edit_inventories
from kilonova.storage.provider_trees import create_provider, delete_provider, move_provider


async def made(database: Database, name: str) -> Provider:
    return await database.transact(lambda transaction: create_provider(transaction, NewProvider(new_uuid(), name)))


async def total(database: Database, provider: Provider, amount: int) -> None:
    await database.transact(lambda t: edit_inventories(t, provider.id, ANY, lambda _: {"VCPU": Inventory(amount)}))


async def test_an_index_follows_what_is_written(database: Database) -> None:
    reader = LedgerIndex(database)
    assert len(await reader.fresh()) == 0
    provider, child = await made(database, "a"), await made(database, "b")
    assert (await reader.fresh()).by_name("a") == provider
    await total(database, provider, 7)
    await database.transact(lambda transaction: move_provider(transaction, child.id, provider.id))
    index = await reader.fresh()
    assert index.provider(provider.id).inventories == {"VCPU": Inventory(7)}
    assert [entry.name for entry in index.tree(provider.id)] == ["a", "b"]
    await database.transact(lambda transaction: delete_provider(transaction, child.id))
    assert (await reader.fresh()).find(child.uuid) is None


async def test_nothing_is_read_twice_and_nothing_is_told_without_cause(database: Database) -> None:
    async with database.read() as transaction:
        start = await feed.current(transaction)
    await made(database, "a")
    async with database.read() as transaction:
        first = await feed.changes_since(transaction, start)
        second = await feed.changes_since(transaction, first.position)
    assert [provider.name for provider in first.providers] == ["a"]
    assert not second


async def test_other_kinds_are_told_by_their_keys(database: Database) -> None:
    reader = LedgerIndex(database)
    told: list[Changes] = []
    reader.on_change.append(told.append)
    await reader.refresh()
    await database.transact(
        lambda transaction: changes.note(transaction, [("host", "host-1"), ("aggregate", "3"), ("host", "host-1")])
    )
    await reader.refresh()
    await reader.refresh()
    assert [change.rebuild for change in told] == [True, False]
    assert (told[1].hosts, told[1].aggregates) == (frozenset({"host-1"}), frozenset({"3"}))


async def test_a_reader_below_the_floor_rebuilds(database: Database) -> None:
    behind, ahead = LedgerIndex(database), LedgerIndex(database)
    told: list[bool] = []
    await behind.refresh()
    behind.on_change.append(lambda change: told.append(change.rebuild))
    for number in range(6):
        await made(database, str(number))
    await ahead.refresh()
    await database.transact(lambda transaction: feed.trim(transaction, 2))
    assert len(await behind.fresh()) == 6
    assert told == [True]
    ahead.on_change.append(lambda change: told.append(change.rebuild))
    await made(database, "last")
    assert len(await ahead.fresh()) == 7
    assert told == [True, False]


async def test_a_new_epoch_makes_every_reader_rebuild(database: Database) -> None:
    reader = LedgerIndex(database)
    await made(database, "a")
    await reader.refresh()
    told: list[bool] = []
    reader.on_change.append(lambda change: told.append(change.rebuild))
    await database.transact(lambda transaction: feed.renew_epoch(transaction, "restored"))
    await reader.refresh()
    await reader.refresh()
    assert told == [True]


async def test_a_change_that_commits_late_is_not_lost(postgresql: Database) -> None:
    provider, other = await made(postgresql, "slow"), await made(postgresql, "quick")
    reader = LedgerIndex(postgresql)
    await reader.refresh()
    written, may_commit = asyncio.Event(), asyncio.Event()

    async def slow(transaction: Transaction) -> None:
        await edit_inventories(transaction, provider.id, ANY, lambda _: {"VCPU": Inventory(1)})
        written.set()
        await may_commit.wait()

    task = asyncio.create_task(postgresql.transact(slow))
    await written.wait()
    await total(postgresql, other, 2)
    index = await reader.fresh()
    assert not index.provider(provider.id).inventories
    assert index.provider(other.id).inventories == {"VCPU": Inventory(2)}
    async with postgresql.read() as transaction:
        # What has been read is not read again while the old transaction holds the position back.
        assert reader.position is not None
        assert not await feed.changes_since(transaction, reader.position)
    may_commit.set()
    await task
    assert (await reader.fresh()).provider(provider.id).inventories == {"VCPU": Inventory(1)}


async def test_requests_that_wait_together_share_a_reading_but_never_an_older_one(database: Database) -> None:
    reader = LedgerIndex(database)
    provider = await made(database, "a")

    async def write_then_read(amount: int) -> int:
        await total(database, provider, amount)
        return (await reader.fresh()).provider(provider.id).generation

    seen = await asyncio.gather(*[write_then_read(amount) for amount in range(1, 21)])
    assert max(seen) == 20
    assert len(seen) == 20
