"""Traits as names, and the traits of a provider."""

import re
from typing import Any, Final

from kilonova.domain.errors import BadRequest, Conflict, NotFound
from kilonova.domain.ledger import ANY
from kilonova.domain.resources import Provider
from kilonova.http.calls import Answer, Call
from kilonova.placement_api.lookups import edit_provider, lock_traits, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.placement_api.traits.schema import CUSTOM_PATTERN
from kilonova.storage.database import Transaction
from kilonova.storage.ledger_names import TRAITS
from kilonova.storage.provider_contents import set_traits

_MOST: Final = 255
_FILTER: Final = re.compile(r"(in|startswith):([A-Z0-9_]+(?:,[A-Z0-9_]+)*)")


async def list_traits(call: Call, parts: PlacementParts) -> Answer:
    """GET /traits, by name or by whether a provider has them."""
    wanted, associated = _wanted(call.first("name")), _associated(call.first("associated"))
    async with parts.database.read() as transaction:
        names = parts.traits | (await TRAITS.all(transaction)).keys()
    if wanted is not None:
        kind, value = wanted
        several = frozenset(value.split(","))
        names = frozenset(name for name in names if (name in several if kind == "in" else name.startswith(value)))
    if associated is not None:
        index = await parts.index.fresh()
        used = frozenset(name for name in names if index.rows.traits.mask(name).any())
        names = used if associated else names - used
    return reply(call, {"traits": sorted(names)})


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /traits/{name}: whether it exists."""
    name = call.path["name"]
    if name not in parts.traits:
        async with parts.database.read() as transaction:
            if not await TRAITS.present(transaction, [name]):
                raise NotFound(f"No such trait(s): {name}.")
    return reply(call, None, 204)


async def put(call: Call, parts: PlacementParts) -> Answer:
    """PUT /traits/{name}."""
    name = call.path["name"]
    if not re.fullmatch(CUSTOM_PATTERN, name) or len(name) > _MOST:
        raise BadRequest(
            f"The trait is invalid. A valid trait must be no longer than {_MOST} characters, start with the prefix "
            f'"CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_". Got: {name}'
        )

    async def work(transaction: Transaction) -> bool:
        return await TRAITS.add(transaction, name)

    made = await parts.database.transact(work)
    return reply(call, None, 201 if made else 204, {"Location": f"{call.root}/traits/{name}"})


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /traits/{name}."""
    name = call.path["name"]
    if name in parts.traits:
        raise BadRequest(f"Cannot delete standard trait {name}.")

    async def work(transaction: Transaction) -> None:
        if not await TRAITS.drop(transaction, name):
            raise NotFound(f"No such trait(s): {name}.")
        if await TRAITS.in_use(transaction, name):
            raise Conflict(f"The trait {name} is in use by a resource provider.")

    await parts.database.transact(work)
    return Answer(204)


async def list_of_provider(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/traits."""
    return reply(call, _shown((await provider_of(call, parts)).provider))


async def update_of_provider(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}/traits."""
    wanted = frozenset(call.body["traits"])

    async def work(transaction: Transaction, provider_id: int) -> Provider:
        await lock_traits(transaction, parts, wanted)
        return await set_traits(transaction, provider_id, int(call.body["resource_provider_generation"]), wanted)

    return reply(call, _shown(await edit_provider(call, parts, work)))


async def delete_of_provider(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /resource_providers/{uuid}/traits."""

    async def work(transaction: Transaction, provider_id: int) -> None:
        await set_traits(transaction, provider_id, ANY, frozenset())

    await edit_provider(call, parts, work)
    return Answer(204)


def _wanted(name: str | None) -> tuple[str, str] | None:
    """What the parameter `name` picks traits by: "in" and names, or "startswith" and a prefix. Raises BadRequest."""
    if name is None:
        return None
    match = _FILTER.fullmatch(name)
    if match is None:
        raise BadRequest(
            "Badly formatted name parameter. Expected name query string parameter in form: "
            f'?name=[in|startswith]:[name1,name2|prefix]. Got: "{name}"'
        )
    return match[1], match[2]


def _associated(text: str | None) -> bool | None:
    if text is None or text.lower() in ("true", "false"):
        return None if text is None else text.lower() == "true"
    raise BadRequest(f'The query parameter "associated" only accepts "true" or "false". Got: "{text}"')


def _shown(provider: Provider) -> dict[str, Any]:
    return {"traits": sorted(provider.traits), "resource_provider_generation": provider.generation}
