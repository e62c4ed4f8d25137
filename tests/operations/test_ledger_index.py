"""One process's index among its searches: nobody sees it change, nobody waits for long, nothing is read in vain."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import pytest

from kilonova.domain.clock import new_uuid
from kilonova.domain.ledger import ANY, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.operations.ledger_index import MOST_LEFT, LedgerIndex
from kilonova.placement.index import Index
from kilonova.storage import feed
from kilonova.storage.database import Database
from kilonova.storage.feed import Changes
from kilonova.storage.provider_contents import edit_inventories
from kilonova.storage.provider_trees import create_provider
from kilonova.storage.sqlite import SqliteDatabase
from tests.operations.databases import AbsentDatabase

WAIT_SECONDS: Final = 20.0


@pytest.fixture
async def host(database: Database) -> Provider:
    return await database.transact(lambda transaction: create_provider(transaction, NewProvider(new_uuid(), "host")))


@pytest.fixture
async def limit() -> AsyncIterator[None]:
    """Nothing here may wait for ever."""
    async with asyncio.timeout(WAIT_SECONDS):
        yield


async def offer(database: Database, host: Provider, amount: int) -> None:
    await database.transact(lambda t: edit_inventories(t, host.id, ANY, lambda _: {"VCPU": Inventory(amount)}))


def offered(index: Index, host: Provider) -> int:
    entry = index.provider(host.id).inventories.get("VCPU")
    return entry.total if entry else 0


async def test_a_long_search_keeps_its_index_and_holds_up_nobody(database: Database, host: Provider, limit: None) -> None:
    ledger = LedgerIndex(database)
    async with ledger.pinned() as searched:
        for amount in range(1, 4):
            await offer(database, host, amount)
            assert offered(await ledger.fresh(), host) == amount
        assert offered(searched, host) == 0
        assert searched.rows.classes == {}
    assert offered(await ledger.fresh(), host) == 3


async def test_searches_side_by_side_share_one_index(database: Database, host: Provider, limit: None) -> None:
    ledger = LedgerIndex(database)
    async with ledger.pinned() as one, ledger.pinned() as other:
        assert one is other


async def test_few_older_states_are_kept_a_further_search_waits_for_one_of_them_and_nobody_else_does(
    database: Database, host: Provider, limit: None
) -> None:
    ledger = LedgerIndex(database)
    async with AsyncExitStack() as last:
        first = AsyncExitStack()
        for number in range(MOST_LEFT):
            await (last if number else first).enter_async_context(ledger.pinned())
            await offer(database, host, number + 1)
            await ledger.refresh()

        async def search() -> int:
            async with ledger.pinned() as index:
                return offered(index, host)

        waiting = asyncio.create_task(search())
        await offer(database, host, 99)
        assert offered(await ledger.fresh(), host) == 99
        await offer(database, host, 100)
        assert offered(await ledger.fresh(), host) == 100
        assert not waiting.done()
        await first.aclose()
        assert await waiting == 100


async def test_a_rebuild_whose_caller_goes_away_serves_the_next_one(database: Database, host: Provider, limit: None) -> None:
    ledger = LedgerIndex(database)
    told: list[bool] = []
    ledger.on_change.append(lambda changes: told.append(changes.rebuild))
    caller = asyncio.create_task(ledger.refresh())
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await offer(database, host, 5)
    assert offered(await ledger.fresh(), host) == 5
    assert told.count(True) == 1


async def test_a_rebuild_that_failed_for_a_caller_who_went_away_is_nobody_elses_failure(
    database: Database, host: Provider, limit: None
) -> None:
    seen = AbsentDatabase(database)
    ledger = LedgerIndex(seen)
    caller = asyncio.create_task(ledger.refresh())
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    seen.gate.set()
    await seen.refused.wait()
    await asyncio.sleep(0)
    seen.away = False
    assert offered(await ledger.fresh(), host) == 0
    await offer(database, host, 5)
    assert offered(await ledger.fresh(), host) == 5


async def test_a_search_keeps_its_index_through_a_rebuild(database: Database, host: Provider, limit: None) -> None:
    ledger = LedgerIndex(database)
    async with ledger.pinned() as searched:
        await offer(database, host, 5)
        await database.transact(lambda transaction: feed.renew_epoch(transaction, "restored"))
        rebuilt = await ledger.fresh()
        assert (offered(searched, host), offered(rebuilt, host)) == (0, 5)
    assert offered(await ledger.fresh(), host) == 5


async def test_no_row_of_a_rebuilt_or_copied_index_has_a_stamp_of_the_former_one(
    database: Database, host: Provider, limit: None
) -> None:
    ledger = LedgerIndex(database)
    before = (await ledger.fresh()).rows.stamp.max()
    await database.transact(lambda transaction: feed.renew_epoch(transaction, "restored"))
    async with ledger.pinned() as rebuilt:
        after = rebuilt.rows.stamp[rebuilt.row(host.id)]
        assert after > before
        await offer(database, host, 5)
        copied = await ledger.fresh()
        assert copied.rows.stamp[copied.row(host.id)] > after


async def test_a_write_of_another_connection_is_seen(database: Database, host: Provider, limit: None) -> None:
    ledger, told = LedgerIndex(database), list[Changes]()
    other = SqliteDatabase(database.path) if isinstance(database, SqliteDatabase) else database
    await ledger.refresh()
    ledger.on_change.append(told.append)
    for amount in range(1, 4):
        await ledger.refresh()
        await offer(other, host, amount)
        assert offered(await ledger.fresh(), host) == amount
        await offer(database, host, 10 * amount)
        assert offered(await ledger.fresh(), host) == 10 * amount
    assert len(told) == 6
    if other is not database:
        await other.close()
