"""A provider's inventories: all at once, or one class at a time."""

from collections.abc import Collection

from kilonova.domain.errors import BadRequest, Conflict, NotFound
from kilonova.domain.ledger import ANY, Expected
from kilonova.domain.resources import Provider
from kilonova.http.calls import Answer, Call
from kilonova.placement_api.inventories.view import inventory_of, shown_inventories, shown_one
from kilonova.placement_api.lookups import edit_provider, lock_classes, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.storage.database import Transaction
from kilonova.storage.provider_contents import Edit, Inventories, edit_inventories


async def list_inventories(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/inventories."""
    return reply(call, shown_inventories((await provider_of(call, parts)).provider))


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/inventories/{resource_class}."""
    provider = (await provider_of(call, parts)).provider
    name = call.path["resource_class"]
    if name not in provider.inventories:
        raise NotFound(f"No inventory of class {name} for {provider.uuid}")
    return reply(call, shown_one(provider, name))


async def replace_all(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}/inventories."""
    doing = _doing("update", call)
    wanted = {name: inventory_of(name, body, call.version, doing) for name, body in call.body["inventories"].items()}
    generation = int(call.body["resource_provider_generation"])
    after = await _edit(call, parts, generation, wanted, lambda present: wanted)
    return reply(call, shown_inventories(after))


async def create(call: Call, parts: PlacementParts) -> Answer:
    """POST /resource_providers/{uuid}/inventories."""
    name = call.body["resource_class"]
    inventory = inventory_of(name, call.body, call.version, _doing("create", call))
    generation = call.body.get("resource_provider_generation", ANY)

    def add(present: Inventories) -> Inventories:
        if name in present:
            raise Conflict(f"Update conflict: there is an inventory of {name} already.")
        return {**present, name: inventory}

    after = await _edit(call, parts, generation, [name], add)
    location = f"{call.root}/resource_providers/{after.uuid}/inventories/{name}"
    return reply(call, shown_one(after, name), 201, {"Location": location})


async def update(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}/inventories/{resource_class}."""
    name = call.path["resource_class"]
    inventory = inventory_of(name, call.body, call.version, _doing("update", call))

    def put(present: Inventories) -> Inventories:
        if name not in present:
            raise BadRequest(f"No inventory record with resource class {name} found for update.")
        return {**present, name: inventory}

    after = await _edit(call, parts, int(call.body["resource_provider_generation"]), [name], put)
    return reply(call, shown_one(after, name))


async def delete_all(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /resource_providers/{uuid}/inventories."""
    await _edit(call, parts, ANY, (), lambda present: {})
    return Answer(204)


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /resource_providers/{uuid}/inventories/{resource_class}."""
    name = call.path["resource_class"]

    def drop(present: Inventories) -> Inventories:
        if name not in present:
            raise NotFound(f"No inventory of class {name} found for delete")
        return {kept: inventory for kept, inventory in present.items() if kept != name}

    await _edit(call, parts, ANY, (), drop)
    return Answer(204)


def _doing(verb: str, call: Call) -> str:
    return f"Unable to {verb} inventory for resource provider {call.path['uuid']}"


async def _edit(call: Call, parts: PlacementParts, generation: Expected, classes: Collection[str], edit: Edit) -> Provider:
    async def work(transaction: Transaction, provider_id: int) -> Provider:
        await lock_classes(transaction, parts, classes, "Unknown resource class in inventory")
        return await edit_inventories(transaction, provider_id, generation, edit)

    return await edit_provider(call, parts, work)
