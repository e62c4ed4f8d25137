"""The reshaper's transaction: inventories move between providers together with what is held of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kilonova.domain.ledger import ANY, ConsumerWrite
from kilonova.domain.resources import Inventory
from kilonova.operations import ledger
from kilonova.storage.database import Transaction
from kilonova.storage.ledger import allocations_of_consumers
from kilonova.storage.ledger_writes import lock_consumers, lock_providers
from kilonova.storage.provider_contents import Edit, Inventories, edit_inventories


@dataclass(frozen=True, slots=True)
class NewInventories:
    """All that a provider is to have, and its generation as the writer saw it."""

    provider_id: int
    generation: int
    inventories: Mapping[str, Inventory]


async def reshape(transaction: Transaction, new: Sequence[NewInventories], writes: Sequence[ConsumerWrite]) -> None:
    """Give providers their new inventories and consumers their new allocations, all or nothing.

    Raises StaleGeneration, InventoryInUse where a class that goes is still held, and what `ledger.Claims` raises.
    """
    await _lock_all(transaction, new, writes)
    for entry in sorted(new, key=_number):
        # What goes stays beside what comes until nobody holds it any more.
        await edit_inventories(transaction, entry.provider_id, entry.generation, _merger(entry.inventories))
    taken = await ledger.lock(transaction, writes)
    # The inventories are new to what is held already, so that is checked as if it were asked for now.
    taken.check_units(*writes)
    taken.admit(*writes)
    await taken.write(transaction)
    for entry in sorted(new, key=_number):
        await edit_inventories(transaction, entry.provider_id, ANY, _replacer(entry.inventories))


async def _lock_all(transaction: Transaction, new: Sequence[NewInventories], writes: Sequence[ConsumerWrite]) -> None:
    """Take every lock at once in the common order; the steps after it only find them taken."""
    consumers = await lock_consumers(transaction, [write.consumer for write in writes])
    held = await allocations_of_consumers(transaction, list(consumers)) if consumers else {}
    ids = {number for amounts in held.values() for number in amounts}
    ids.update(number for write in writes for number in write.allocations)
    ids.update(entry.provider_id for entry in new)
    await lock_providers(transaction, ids)


def _merger(inventories: Inventories) -> Edit:
    return lambda present: {**present, **inventories}


def _replacer(inventories: Inventories) -> Edit:
    return lambda present: inventories


def _number(entry: NewInventories) -> int:
    return entry.provider_id
