"""/flavors/{id}/os-extra_specs: what a flavor says beyond its sizes."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.compute_api.flavors.extra_specs import check_extra_specs
from kilonova.compute_api.flavors.handlers import seen_flavor
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import BadRequest, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.storage import flavors
from kilonova.storage.database import Transaction

_CHECKED_SINCE: Final = 86


def _missing(flavorid: str, key: str) -> NotFound:
    return NotFound(f"Flavor {flavorid} has no extra specs with key {key}.")


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET .../os-extra_specs"""
    async with parts.database.read() as tx:
        flavor = await seen_flavor(tx, call)
    return Answer(body={"extra_specs": flavor.extra_specs})


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET .../os-extra_specs/{key}"""
    async with parts.database.read() as tx:
        flavor = await seen_flavor(tx, call)
    key = call.path["key"]
    if key not in flavor.extra_specs:
        raise _missing(flavor.flavorid, key)
    return Answer(body={key: flavor.extra_specs[key]})


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST .../os-extra_specs"""
    specs = await _set(call, parts, call.body["extra_specs"])
    return Answer(body={"extra_specs": specs})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT .../os-extra_specs/{key}"""
    if call.path["key"] not in call.body:
        raise BadRequest("Request body and URI mismatch")
    return Answer(body=await _set(call, parts, call.body))


async def _set(call: Call, parts: ComputeParts, asked: Mapping[str, Any]) -> Mapping[str, str]:
    specs = {key: str(value) for key, value in asked.items()}
    if call.version >= _CHECKED_SINCE:
        check_extra_specs(specs)

    async def add(tx: Transaction) -> None:
        flavor = await flavors.lock_flavor(tx, call.path["flavor_id"])
        await flavors.set_extra_specs(tx, flavor, {**flavor.extra_specs, **specs})

    await parts.database.transact(add)
    return specs


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE .../os-extra_specs/{key}"""
    key = call.path["key"]

    async def drop(tx: Transaction) -> None:
        flavor = await flavors.lock_flavor(tx, call.path["flavor_id"])
        if key not in flavor.extra_specs:
            raise _missing(flavor.flavorid, key)
        kept = {name: value for name, value in flavor.extra_specs.items() if name != key}
        await flavors.set_extra_specs(tx, flavor, kept)

    await parts.database.transact(drop)
    return Answer()
