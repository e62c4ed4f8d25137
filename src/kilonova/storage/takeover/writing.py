"""Writes a whole ledger into an empty one, in one transaction, and has every process read its picture anew."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import exists, or_, select, text

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import Conflict
from kilonova.storage import feed
from kilonova.storage.database import Database, Transaction
from kilonova.storage.provider_contents import INVENTORY_COLUMNS, inventory_row
from kilonova.storage.statement import Bulk, BulkInsert, BulkUpdate, Statement
from kilonova.storage.tables import (
    allocations,
    consumers,
    inventories,
    provider_aggregates,
    provider_traits,
    providers,
    resource_classes,
    traits,
)
from kilonova.storage.takeover.checks import WholeLedger

ROWS_AT_ONCE: Final = 5000
"""So that no statement meets the database's time limit."""

# Reads go on; whoever wants to write waits for the end of the takeover.
_LOCK: Final = Statement(text("LOCK TABLE providers, consumers, allocations IN SHARE ROW EXCLUSIVE MODE"))
_OCCUPIED: Final = Statement(
    select(or_(exists(select(providers.c.id)), exists(select(consumers.c.uuid)), exists(select(allocations.c.consumer))))
)
_IDS: Final = Statement(select(providers.c.uuid, providers.c.id))
_CLASSES: Final = BulkInsert(resource_classes, ("name", "created_at"), "nothing")
_TRAIT_NAMES: Final = BulkInsert(traits, ("name", "created_at"), "nothing")
_PROVIDERS: Final = BulkInsert(providers, ("uuid", "name", "generation", "partition", "created_at", "updated_at"))
_PLACES: Final = BulkUpdate(providers, ("id",), sets=("parent_id", "root_id"))
_INVENTORIES: Final = BulkInsert(inventories, INVENTORY_COLUMNS)
_TRAITS: Final = BulkInsert(provider_traits, ("provider_id", "trait"))
_AGGREGATES: Final = BulkInsert(provider_aggregates, ("provider_id", "aggregate"))
_CONSUMERS: Final = BulkInsert(
    consumers, ("uuid", "generation", "project_id", "user_id", "consumer_type", "created_at", "updated_at")
)
_ALLOCATIONS: Final = BulkInsert(allocations, ("consumer", "provider_id", "resource_class", "partition", "used"))
_NO_CELL: Final = ""


class NotEmpty(Conflict):
    """The ledger has something already, which a takeover would mix with what comes."""

    code = "takeover.not_empty"


async def write(database: Database, ledger: WholeLedger) -> None:
    """All of the ledger or nothing. Raises NotEmpty, errors.Unavailable."""

    async def work(transaction: Transaction) -> None:
        if transaction.dialect == "postgresql":
            await transaction.run(_LOCK)
        occupied = await transaction.one(_OCCUPIED)
        if occupied is not None and occupied[0]:
            raise NotEmpty("This ledger has providers or consumers already; a takeover needs an empty one.")
        await _in_parts(transaction, _CLASSES, list(ledger.classes.items()))
        await _in_parts(transaction, _TRAIT_NAMES, list(ledger.trait_names.items()))
        ids = await _write_providers(transaction, ledger)
        await _write_contents(transaction, ledger, ids)
        await feed.renew_epoch(transaction, new_uuid())

    await database.transact(work)


async def _write_providers(transaction: Transaction, ledger: WholeLedger) -> dict[str, int]:
    """Write all providers, then where each stands; their new numbers by uuid."""
    rows = [(node.uuid, node.name, node.generation, _NO_CELL, node.created_at, node.updated_at) for node in ledger.nodes]
    await _in_parts(transaction, _PROVIDERS, rows)
    ids: dict[str, int] = dict(await transaction.rows(_IDS))
    places = [(ids[node.uuid], ids[node.parent] if node.parent else None, ids[node.root]) for node in ledger.nodes]
    await _in_parts(transaction, _PLACES, places)
    return ids


async def _write_contents(transaction: Transaction, ledger: WholeLedger, ids: dict[str, int]) -> None:
    amounts = [
        inventory_row(ids[provider], resource_class, entry) for (provider, resource_class), entry in ledger.inventories.items()
    ]
    await _in_parts(transaction, _INVENTORIES, amounts)
    await _in_parts(transaction, _TRAITS, [(ids[provider], name) for provider, name in ledger.traits])
    await _in_parts(transaction, _AGGREGATES, [(ids[provider], uuid) for provider, uuid in ledger.aggregates])
    holders = [
        (
            holder.uuid,
            holder.generation,
            holder.project_id,
            holder.user_id,
            holder.consumer_type,
            holder.created_at,
            holder.updated_at,
        )
        for holder in ledger.holders
    ]
    await _in_parts(transaction, _CONSUMERS, holders)
    held = [
        (consumer, ids[provider], resource_class, _NO_CELL, used)
        for (consumer, provider, resource_class), used in ledger.allocations.items()
    ]
    await _in_parts(transaction, _ALLOCATIONS, held)


async def _in_parts(transaction: Transaction, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> None:
    for part in _parts(rows):
        await transaction.many(bulk, part)


def _parts(rows: Sequence[Sequence[Any]]) -> Iterator[Sequence[Sequence[Any]]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]
