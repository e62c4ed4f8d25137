"""POST /reshaper."""

from collections.abc import Mapping
from typing import Any

from kilonova.http.calls import Answer, Call
from kilonova.operations.reshape import NewInventories, reshape
from kilonova.placement.index import Index
from kilonova.placement_api.allocations.view import classes_of, write_of
from kilonova.placement_api.errors import UnknownProvider, told_at
from kilonova.placement_api.inventories.view import inventory_of
from kilonova.placement_api.lookups import lock_classes
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.uuids import canonical
from kilonova.storage.database import Transaction


async def post(call: Call, parts: PlacementParts) -> Answer:
    """POST /reshaper: new inventories of some providers and new allocations of some consumers, all or none."""
    index = await parts.index.fresh()
    new = [_inventories(uuid, entry, index, call.version) for uuid, entry in call.body["inventories"].items()]
    writes = [write_of(consumer, entry, index) for consumer, entry in call.body["allocations"].items()]
    classes = classes_of(writes).union(*(entry.inventories for entry in new))

    async def work(transaction: Transaction) -> None:
        await lock_classes(transaction, parts, classes, "Unable to reshape")
        await reshape(transaction, new, writes)

    with told_at(call.version):
        await parts.database.transact(work)
    return Answer(204)


def _inventories(uuid: str, entry: Mapping[str, Any], index: Index, version: int) -> NewInventories:
    provider = index.find(canonical(uuid, "resource provider uuid"))
    if provider is None:
        raise UnknownProvider(f"Resource provider {uuid} of the inventories does not exist.")
    doing = f"Unable to update inventory for resource provider {uuid}"
    inventories = {name: inventory_of(name, body, version, doing) for name, body in entry["inventories"].items()}
    return NewInventories(provider.id, int(entry["resource_provider_generation"]), inventories)
