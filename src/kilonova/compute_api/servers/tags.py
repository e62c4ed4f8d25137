"""The tags of a server, all and one by one (2.26)."""

import re
from typing import Final
from urllib.parse import quote

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.finding import get_server, get_unlocked
from kilonova.domain.errors import BadRequest, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.storage import server_edits
from kilonova.storage.database import Transaction

MOST: Final = 50
"""Most tags of a server. Source: microversion 2.26."""
_FORM: Final = re.compile(r"[^/,]{1,60}")


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/tags."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.TAGS + "index")
        return Answer(body={"tags": await server_edits.tags(transaction, server.id)})


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}/tags/{tag}: whether it is there."""
    async with parts.database.read() as transaction:
        server = await get_server(transaction, call, rules.TAGS + "show")
        if not await server_edits.has_tag(transaction, server.id, call.path["tag"]):
            raise _missing(server.id, call.path["tag"])
    return Answer(204)


async def replace(call: Call, parts: ComputeParts) -> Answer:
    """PUT /servers/{server_id}/tags: exactly these tags."""

    async def work(transaction: Transaction) -> list[str]:
        server = await get_unlocked(transaction, call, rules.TAGS + "update_all")
        await server_edits.set_tags(transaction, server.id, server.project_id, call.body["tags"])
        return await server_edits.tags(transaction, server.id)

    return Answer(body={"tags": await parts.database.transact(work)})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /servers/{server_id}/tags/{tag}: 201 for a new tag, 204 for one that is there."""
    tag = call.path["tag"]
    if not _FORM.fullmatch(tag):
        raise BadRequest(f"Tag '{tag}' is invalid: it has 1 to 60 characters, and neither a slash nor a comma.")

    async def work(transaction: Transaction) -> bool:
        server = await get_unlocked(transaction, call, rules.TAGS + "update")
        if await server_edits.has_tag(transaction, server.id, tag):
            return False
        # The edit locks the row, so that two requests cannot both add the last tag that fits.
        await server_edits.edit(transaction, server.id, {})
        if await server_edits.count_tags(transaction, server.id) >= MOST:
            raise BadRequest(f"The number of tags exceeded the per-server limit {MOST}")
        await server_edits.add_tags(transaction, server.id, server.project_id, [tag])
        return True

    if not await parts.database.transact(work):
        return Answer(204)
    return Answer(201, headers={"Location": f"{call.root}/servers/{call.path['server_id']}/tags/{quote(tag)}"})


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /servers/{server_id}/tags/{tag}."""

    async def work(transaction: Transaction) -> None:
        server = await get_unlocked(transaction, call, rules.TAGS + "delete")
        await server_edits.edit(transaction, server.id, {})
        if not await server_edits.remove_tag(transaction, server.id, call.path["tag"]):
            raise _missing(server.id, call.path["tag"])

    await parts.database.transact(work)
    return Answer(204)


async def delete_all(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /servers/{server_id}/tags."""

    async def work(transaction: Transaction) -> None:
        server = await get_unlocked(transaction, call, rules.TAGS + "delete_all")
        await server_edits.set_tags(transaction, server.id, server.project_id, [])

    await parts.database.transact(work)
    return Answer(204)


def _missing(server_id: str, tag: str) -> NotFound:
    return NotFound(f"Server {server_id} has no tag '{tag}'")
