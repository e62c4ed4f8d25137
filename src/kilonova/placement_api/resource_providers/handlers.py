"""Listing, making, showing, changing and removing resource providers."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest
from kilonova.domain.ledger import NewProvider
from kilonova.domain.resources import Provider
from kilonova.http.calls import Answer, Call
from kilonova.placement.index import Index
from kilonova.placement.reading import Reading
from kilonova.placement.rows import Mask
from kilonova.placement_api.bodies import Body
from kilonova.placement_api.lookups import check_names, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.queries import Terms, read_member_of, read_resources, read_traits, read_uuid
from kilonova.placement_api.replies import base_of, reply
from kilonova.placement_api.resource_providers.listing import Listing
from kilonova.placement_api.resource_providers.view import PROVIDER, ShownProvider
from kilonova.placement_api.uuids import canonical
from kilonova.storage.database import Transaction
from kilonova.storage.provider_trees import create_provider, delete_provider, move_provider, rename_provider

_MOVES: Final = 37
_ANSWERS_CREATE: Final = 20
_TOGETHER: Final = 512
"""How many entries are written at a time: at most a few milliseconds."""


async def list_providers(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers, with its filters."""
    required = read_traits("required", call.query.get("required", ()), call.version)
    member_of = read_member_of("member_of", call.query.get("member_of", ()), call.version)
    asked = call.first("resources")
    resources = {} if asked is None else read_resources("resources", asked)
    await check_names(parts, resources, required.names)
    async with parts.index.pinned() as index:
        reading = Reading(index, None)
        mask = _named(index, call)
        for name, amount in resources.items():
            mask &= reading.has_class(name) & reading.unit_fits(name, amount) & (reading.free(name) >= amount)
        mask &= _fitting(required, reading.everybody, reading.any_trait)
        mask &= _fitting(member_of, reading.everybody, reading.any_aggregate)
        return await _listed(call, Listing(index, parts.prepared, call.version, base_of(call)), mask)


async def _listed(call: Call, listing: Listing, mask: Mask) -> Answer:
    """The providers of these rows in the order of their numbers, written in slices."""
    rows = np.flatnonzero(mask)
    rows = rows[np.argsort(listing.index.rows.ids[rows])]
    body = Body()
    body.add([b'{"resource_providers":['])
    for start in range(0, len(rows), _TOGETHER):
        pieces = listing.write(rows[start : start + _TOGETHER])
        if not start:
            # All but the first have a comma before them.
            pieces[0] = pieces[0][1:]
        body.add(pieces)
        await body.breathe()
    body.add([b"]}"])
    return body.answer(call)


def _named(index: Index, call: Call) -> Mask:
    """The rows that `name`, `uuid` and `in_tree` leave."""
    mask: Mask = index.rows.ids >= 0
    found: list[Provider | None] = []
    name, uuid, in_tree = call.first("name"), call.first("uuid"), call.first("in_tree")
    if name is not None:
        found.append(index.by_name(name))
    if uuid is not None:
        found.append(index.find(read_uuid("uuid", uuid)))
    for provider in found:
        mask &= index.rows.ids == (-1 if provider is None else provider.id)
    if in_tree is not None:
        mask &= Reading(index, None).tree_of(read_uuid("in_tree", in_tree))
    # A row that nobody has carries the id -1, too.
    mask &= index.rows.ids >= 0
    return mask


def _fitting(terms: Terms, everybody: Mask, having: Any) -> Mask:
    mask = everybody.copy()
    for names in terms.required:
        mask &= having(names)
    if terms.forbidden:
        mask &= ~having(terms.forbidden)
    return mask


async def create(call: Call, parts: PlacementParts) -> Answer:
    """POST /resource_providers."""
    uuid = canonical(call.body.get("uuid") or new_uuid(), "uuid")
    parent_uuid = _parent_uuid(call)
    if parent_uuid == uuid:
        name = call.body["name"]
        raise BadRequest(f'Unable to create resource provider "{name}", {uuid}: parent provider UUID cannot be same as UUID.')
    parent = await _parent(parts, parent_uuid)

    async def work(transaction: Transaction) -> Provider:
        return await create_provider(transaction, NewProvider(uuid, call.body["name"], parent))

    made = await parts.database.transact(work)
    headers = {"Location": f"{call.root}/resource_providers/{uuid}"}
    if call.version < _ANSWERS_CREATE:
        return Answer(201, None, headers)
    return reply(call, _shown(call, made, await parts.index.fresh()), 200, headers)


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}."""
    found = await provider_of(call, parts)
    return reply(call, _shown(call, found.provider, found.index))


async def update(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}: its name and, where the version lets it, its parent."""
    provider = (await provider_of(call, parts)).provider
    moves = "parent_provider_uuid" in call.body
    parent = await _parent(parts, _parent_uuid(call))
    if parent == provider.id:
        raise BadRequest("creating loop in the provider tree is not allowed.")

    async def work(transaction: Transaction) -> None:
        if moves and parent != provider.parent_id:
            if provider.parent_id is not None and call.version < _MOVES:
                verb = "un-parenting" if parent is None else "re-parenting"
                raise BadRequest(f"Unable to save resource provider {provider.uuid}: {verb} a provider is not currently allowed.")
            await move_provider(transaction, provider.id, parent)
        await rename_provider(transaction, provider.id, call.body["name"])

    await parts.database.transact(work)
    found = await provider_of(call, parts)
    return reply(call, _shown(call, found.provider, found.index))


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /resource_providers/{uuid}."""
    provider = (await provider_of(call, parts, " for delete")).provider

    async def work(transaction: Transaction) -> None:
        await delete_provider(transaction, provider.id)

    await parts.database.transact(work)
    return Answer(204)


def _parent_uuid(call: Call) -> str | None:
    uuid = call.body.get("parent_provider_uuid")
    return None if uuid is None else canonical(uuid, "parent_provider_uuid")


async def _parent(parts: PlacementParts, uuid: str | None) -> int | None:
    if uuid is None:
        return None
    parent = (await parts.index.fresh()).find(uuid)
    if parent is None:
        raise BadRequest(f"parent provider UUID does not exist: {uuid}")
    return parent.id


def _shown(call: Call, provider: Provider, index: Index) -> Mapping[str, Any]:
    return PROVIDER.at(call.version, call.allows)(ShownProvider(provider, index, base_of(call)))
