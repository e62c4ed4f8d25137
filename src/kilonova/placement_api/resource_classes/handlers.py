"""Resource classes: the standard ones, and custom ones that are made and removed here."""

import re
from typing import Any, Final

from kilonova.domain.errors import BadRequest, Conflict, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import base_of, reply
from kilonova.placement_api.resource_classes.schema import CUSTOM_PATTERN
from kilonova.placement_api.wording import invalid_name
from kilonova.storage.database import Transaction
from kilonova.storage.ledger_names import CLASSES

_MOST: Final = 255


async def list_classes(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_classes."""
    async with parts.database.read() as transaction:
        custom = await CLASSES.all(transaction)
    names = (*sorted(parts.classes), *sorted(custom))
    return reply(call, {"resource_classes": [_shown(call, name) for name in names]})


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_classes/{name}."""
    name = call.path["name"]
    if name not in parts.classes:
        async with parts.database.read() as transaction:
            if not await CLASSES.present(transaction, [name]):
                raise _missing(name)
    return reply(call, _shown(call, name))


async def create(call: Call, parts: PlacementParts) -> Answer:
    """POST /resource_classes."""
    name = call.body["name"]
    if not await _add(parts, name):
        raise Conflict(f"Conflicting resource class already exists: {name}")
    return Answer(201, None, {"Location": _address(call, name)})


async def put(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_classes/{name} from 1.7 on: make sure that it exists."""
    name = call.path["name"]
    if not re.fullmatch(CUSTOM_PATTERN, name):
        raise BadRequest(invalid_name(f"{name!r} does not match {CUSTOM_PATTERN!r}", "pattern"))
    if len(name) > _MOST:
        raise BadRequest(invalid_name(f"{name!r} is longer than {_MOST} characters", "maxLength"))
    made = await _add(parts, name)
    return Answer(201 if made else 204, None, {"Location": _address(call, name)})


async def rename(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_classes/{name} before 1.7: give it another name."""
    old, new = call.path["name"], call.body["name"]
    _refuse_standard(parts, old, "update")

    async def work(transaction: Transaction) -> None:
        if not await CLASSES.drop(transaction, old):
            raise _missing(old)
        if await CLASSES.in_use(transaction, old):
            raise Conflict(f"Cannot rename resource class {old}: it is in use.")
        if not await CLASSES.add(transaction, new):
            raise Conflict(f"Resource class already exists: {new}")

    await parts.database.transact(work)
    return reply(call, _shown(call, new))


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /resource_classes/{name}."""
    name = call.path["name"]
    _refuse_standard(parts, name, "delete")

    async def work(transaction: Transaction) -> None:
        if not await CLASSES.drop(transaction, name):
            raise _missing(name)
        if await CLASSES.in_use(transaction, name):
            raise Conflict(f"Error in delete resource class {name}: Class is in use in inventory.")

    await parts.database.transact(work)
    return Answer(204)


async def _add(parts: PlacementParts, name: str) -> bool:
    async def work(transaction: Transaction) -> bool:
        return await CLASSES.add(transaction, name)

    return await parts.database.transact(work)


def _refuse_standard(parts: PlacementParts, name: str, verb: str) -> None:
    if name in parts.classes:
        raise BadRequest(f"Cannot {verb} standard resource class {name}.")


def _missing(name: str) -> NotFound:
    return NotFound(f"No such resource class {name}.")


def _address(call: Call, name: str) -> str:
    return f"{call.root}/resource_classes/{name}"


def _shown(call: Call, name: str) -> dict[str, Any]:
    return {"name": name, "links": [{"rel": "self", "href": f"{base_of(call)}/resource_classes/{name}"}]}
