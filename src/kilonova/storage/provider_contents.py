"""Writes of what a provider has: inventories, traits, aggregates, within a caller's transaction.

Each function locks the provider, compares its generation and raises it. Whether names exist is the caller's to check.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final

import os_resource_classes
from sqlalchemy import select

from kilonova.domain.errors import StaleGeneration
from kilonova.domain.ledger import ANY, Expected, InventoryInUse, ProviderNotFound
from kilonova.domain.resources import Inventory, Provider
from kilonova.storage import changes
from kilonova.storage.changes import PROVIDER
from kilonova.storage.database import Transaction
from kilonova.storage.ledger import providers_by_id
from kilonova.storage.statement import Bulk, BulkDelete, BulkInsert, BulkUpdate, Statement, any_of
from kilonova.storage.tables import inventories, provider_aggregates, provider_traits, providers

_STANDARD: Final = {name: place for place, name in enumerate(os_resource_classes.STANDARDS)}
"""The order that people know the standard classes in."""
Inventories = Mapping[str, Inventory]
Edit = Callable[[Inventories], Inventories]
Write = tuple[Bulk, Sequence[Sequence[Any]]]

_LOCK: Final = Statement(
    select(providers.c.id).where(any_of(providers.c.id, "ids")).order_by(providers.c.id).with_for_update(key_share=True)
)
_BUMP: Final = BulkUpdate(providers, ("id",), adds=("generation",))
INVENTORY_COLUMNS: Final = (
    "provider_id", "resource_class", "total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio", "used",
)  # fmt: skip
"""What `inventory_row` gives."""
_PUT_INVENTORIES: Final = BulkInsert(inventories, INVENTORY_COLUMNS, "update")
_DROP_INVENTORIES: Final = BulkDelete(inventories, ("provider_id", "resource_class"))
_PUT_TRAITS: Final = BulkInsert(provider_traits, ("provider_id", "trait"))
_DROP_TRAITS: Final = BulkDelete(provider_traits, ("provider_id", "trait"))
_PUT_AGGREGATES: Final = BulkInsert(provider_aggregates, ("provider_id", "aggregate"))
_DROP_AGGREGATES: Final = BulkDelete(provider_aggregates, ("provider_id", "aggregate"))


def inventory_row(provider_id: int, resource_class: str, entry: Inventory) -> Sequence[Any]:
    """An inventory as its table has it, by INVENTORY_COLUMNS."""
    return (
        provider_id,
        resource_class,
        entry.total,
        entry.reserved,
        entry.min_unit,
        entry.max_unit,
        entry.step_size,
        entry.allocation_ratio,
        entry.used,
    )


async def edit_inventories(transaction: Transaction, provider_id: int, expected: Expected, edit: Edit) -> Provider:
    """Replace a provider's inventories by what `edit` makes of the present ones; what is used stays as it is.

    Gives the provider as it is then. Raises ProviderNotFound, StaleGeneration, InventoryInUse, and whatever `edit` raises.
    """
    provider = await lock_whole(transaction, provider_id, expected)
    present = provider.inventories
    wanted = edit(present)
    gone = present.keys() - wanted.keys()
    held = sorted((name for name in gone if present[name].used), key=lambda name: (_STANDARD.get(name, len(_STANDARD)), name))
    if held:
        raise InventoryInUse(f"Inventory for '{', '.join(held)}' on resource provider '{provider.uuid}' in use.")
    kept = {name: replace(entry, used=present[name].used if name in present else 0) for name, entry in wanted.items()}
    rows = [inventory_row(provider_id, name, entry) for name, entry in kept.items() if present.get(name) != entry]
    dropped = [(provider_id, name) for name in sorted(gone)]
    await _write(transaction, provider_id, (_DROP_INVENTORIES, dropped), (_PUT_INVENTORIES, rows), _raised(provider))
    return replace(provider, inventories=kept, generation=provider.generation + 1)


async def set_traits(transaction: Transaction, provider_id: int, expected: Expected, traits: AbstractSet[str]) -> Provider:
    """Replace a provider's traits; where nothing changes its generation stays. Raises ProviderNotFound, StaleGeneration."""
    provider = await lock_whole(transaction, provider_id, expected)
    if provider.traits == traits:
        return provider
    dropped = [(provider_id, name) for name in sorted(provider.traits - traits)]
    added = [(provider_id, name) for name in sorted(traits - provider.traits)]
    await _write(transaction, provider_id, (_DROP_TRAITS, dropped), (_PUT_TRAITS, added), _raised(provider))
    return replace(provider, traits=frozenset(traits), generation=provider.generation + 1)


async def set_aggregates(
    transaction: Transaction, provider_id: int, expected: Expected, aggregates: AbstractSet[str]
) -> Provider:
    """Replace a provider's aggregates. With ANY its generation stays, as writers below 1.19 know of none.

    Raises ProviderNotFound, StaleGeneration.
    """
    provider = await lock_whole(transaction, provider_id, expected)
    before = provider.aggregates
    dropped = [(provider_id, uuid) for uuid in sorted(before - aggregates)]
    added = [(provider_id, uuid) for uuid in sorted(aggregates - before)]
    raised = [] if expected is ANY else [_raised(provider)]
    await _write(transaction, provider_id, (_DROP_AGGREGATES, dropped), (_PUT_AGGREGATES, added), *raised)
    return replace(provider, aggregates=frozenset(aggregates), generation=provider.generation + len(raised))


async def lock_whole(transaction: Transaction, provider_id: int, expected: Expected) -> Provider:
    """Lock a provider and read all of it. Raises ProviderNotFound, StaleGeneration."""
    await transaction.rows(_LOCK, {"ids": [provider_id]})
    provider = (await providers_by_id(transaction, [provider_id])).get(provider_id)
    if provider is None:
        raise ProviderNotFound("No such resource provider.")
    if expected is not ANY and provider.generation != expected:
        raise StaleGeneration(
            f"resource provider generation conflict for {provider.uuid}: actual: {provider.generation}, given: {expected}. "
            "Resource provider's generation already changed. Please update the generation and try again."
        )
    return provider


def _raised(provider: Provider) -> Write:
    return _BUMP, [(provider.id, 1)]


async def _write(transaction: Transaction, provider_id: int, *writes: Write) -> None:
    await transaction.together([*writes, (changes.NOTES, [(PROVIDER, str(provider_id))])])
