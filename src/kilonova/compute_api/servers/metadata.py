"""The metadata that users hang on their servers, as a whole and by item."""

from collections.abc import Callable
from typing import Any

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.finding import get_server, get_unlocked
from kilonova.domain.errors import BadRequest, Forbidden, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.storage import server_edits
from kilonova.storage.database import Transaction

Change = Callable[[dict[str, str]], dict[str, str]]


def refuse_too_many(items: int, parts: ComputeParts) -> None:
    """Raises errors.Forbidden where a server would have more metadata items than its project may."""
    if 0 <= parts.quota.metadata_items < items:
        raise Forbidden(f"Maximum number of metadata items exceeds {parts.quota.metadata_items}")


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/metadata."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.METADATA + "index")
    return Answer(body={"metadata": server.metadata})


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/metadata/{key}."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.METADATA + "show")
    key = call.path["key"]
    if key not in server.metadata:
        raise _missing()
    return Answer(body={"meta": {key: server.metadata[key]}})


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /servers/{server_id}/metadata: items are added or replaced."""
    asked = call.body["metadata"]
    changed = await _changed(call, parts, rules.METADATA + "create", lambda items: {**items, **asked})
    return Answer(body={"metadata": changed})


async def replace(call: Call, parts: ComputeParts) -> Answer:
    """PUT /servers/{server_id}/metadata: exactly these items."""
    asked = call.body["metadata"]
    changed = await _changed(call, parts, rules.METADATA + "update_all", lambda items: dict(asked))
    return Answer(body={"metadata": changed})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /servers/{server_id}/metadata/{key}: one item."""
    asked = call.body["meta"]
    if call.path["key"] not in asked:
        raise BadRequest("Request body and URI mismatch")
    await _changed(call, parts, rules.METADATA + "update", lambda items: {**items, **asked})
    return Answer(body={"meta": asked})


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /servers/{server_id}/metadata/{key}."""
    key = call.path["key"]

    def without(items: dict[str, str]) -> dict[str, str]:
        if key not in items:
            raise _missing()
        return {name: value for name, value in items.items() if name != key}

    await _changed(call, parts, rules.METADATA + "delete", without)
    return Answer(204)


async def _changed(call: Call, parts: ComputeParts, rule: str, change: Change) -> Any:
    def checked(items: dict[str, str]) -> dict[str, str]:
        made = change(items)
        refuse_too_many(len(made), parts)
        return made

    async def work(transaction: Transaction) -> dict[str, str]:
        server = await get_unlocked(transaction, call, rule)
        return await server_edits.edit_metadata(transaction, server.id, checked)

    return await parts.database.transact(work)


def _missing() -> NotFound:
    return NotFound("Metadata item was not found")
