"""Writes of what a provider has: inventories, traits, aggregates, within a caller's transaction.

Each function locks the provider, compares its generation and raises it. Whether names exist is the caller's to check.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from sqlalchemy import select

from kilonova.domain.errors import StaleGeneration
from kilonova.domain.ledger import ANY, Expected, InventoryInUse, ProviderNotFound
from kilonova.domain.resources import Inventory, Provider
from kilonova.storage import changes
from kilonova.storage.database import Transaction
from kilonova.storage.feed import PROVIDER
from kilonova.storage.ledger import providers_by_id
from kilonova.storage.statement import BulkDelete, BulkInsert, BulkUpdate, Statement, any_of
from kilonova.storage.tables import inventories, provider_aggregates, provider_traits, providers

Inventories = Mapping[str, Inventory]
Edit = Callable[[Inventories], Inventories]

_LOCK: Final = Statement(
    select(providers.c.id).where(any_of(providers.c.id, "ids")).order_by(providers.c.id).with_for_update(key_share=True)
)
_BUMP: Final = BulkUpdate(providers, ("id",), adds=("generation",))
_PUT_INVENTORIES: Final = BulkInsert(
    inventories,
    (
        "provider_id", "resource_class", "total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio", "used",
    ),
    "update",
)  # fmt: skip
_DROP_INVENTORIES: Final = BulkDelete(inventories, ("provider_id", "resource_class"))
_PUT_TRAITS: Final = BulkInsert(provider_traits, ("provider_id", "trait"))
_DROP_TRAITS: Final = BulkDelete(provider_traits, ("provider_id", "trait"))
_PUT_AGGREGATES: Final = BulkInsert(provider_aggregates, ("provider_id", "aggregate"))
_DROP_AGGREGATES: Final = BulkDelete(provider_aggregates, ("provider_id", "aggregate"))


async def edit_inventories(transaction: Transaction, provider_id: int, expected: Expected, edit: Edit) -> Provider:
    """Replace a provider's inventories by what `edit` makes of the present ones; what is used stays as it is.

    Gives the provider as it is then. Raises ProviderNotFound, StaleGeneration, InventoryInUse, and whatever `edit` raises.
    """
    provider = await lock_whole(transaction, provider_id, expected)
    present = provider.inventories
    wanted = edit(present)
    gone = present.keys() - wanted.keys()
    held = sorted(name for name in gone if present[name].used)
    if held:
        raise InventoryInUse(f"Inventory for '{', '.join(held)}' on resource provider '{provider.uuid}' in use.")
    kept = {name: replace(entry, used=present[name].used if name in present else 0) for name, entry in wanted.items()}
    await transaction.many(_DROP_INVENTORIES, [(provider_id, name) for name in sorted(gone)])
    rows = [
        (
            provider_id,
            name,
            entry.total,
            entry.reserved,
            entry.min_unit,
            entry.max_unit,
            entry.step_size,
            entry.allocation_ratio,
            entry.used,
        )
        for name, entry in kept.items()
        if present.get(name) != entry
    ]
    await transaction.many(_PUT_INVENTORIES, rows)
    return await _changed(transaction, replace(provider, inventories=kept))


async def set_traits(transaction: Transaction, provider_id: int, expected: Expected, traits: AbstractSet[str]) -> Provider:
    """Replace a provider's traits; where nothing changes its generation stays. Raises ProviderNotFound, StaleGeneration."""
    provider = await lock_whole(transaction, provider_id, expected)
    if provider.traits == traits:
        return provider
    await transaction.many(_DROP_TRAITS, [(provider_id, name) for name in sorted(provider.traits - traits)])
    await transaction.many(_PUT_TRAITS, [(provider_id, name) for name in sorted(traits - provider.traits)])
    return await _changed(transaction, replace(provider, traits=frozenset(traits)))


async def set_aggregates(
    transaction: Transaction, provider_id: int, expected: Expected, aggregates: AbstractSet[str]
) -> Provider:
    """Replace a provider's aggregates. With ANY its generation stays, as writers below 1.19 know of none.

    Raises ProviderNotFound, StaleGeneration.
    """
    provider = await lock_whole(transaction, provider_id, expected)
    before = provider.aggregates
    await transaction.many(_DROP_AGGREGATES, [(provider_id, uuid) for uuid in sorted(before - aggregates)])
    await transaction.many(_PUT_AGGREGATES, [(provider_id, uuid) for uuid in sorted(aggregates - before)])
    after = replace(provider, aggregates=frozenset(aggregates))
    if expected is ANY:
        await changes.note(transaction, [(PROVIDER, str(provider_id))])
        return after
    return await _changed(transaction, after)


async def lock_whole(transaction: Transaction, provider_id: int, expected: Expected) -> Provider:
    """Lock a provider and read all of it. Raises ProviderNotFound, StaleGeneration."""
    await transaction.rows(_LOCK, {"ids": [provider_id]})
    provider = (await providers_by_id(transaction, [provider_id])).get(provider_id)
    if provider is None:
        raise ProviderNotFound("No such resource provider.")
    if expected is not ANY and provider.generation != expected:
        raise StaleGeneration(
            f"resource provider generation conflict for {provider.uuid}: expected {expected}, but it is {provider.generation} now"
        )
    return provider


async def _changed(transaction: Transaction, provider: Provider) -> Provider:
    await transaction.many(_BUMP, [(provider.id, 1)])
    await changes.note(transaction, [(PROVIDER, str(provider.id))])
    return replace(provider, generation=provider.generation + 1)
