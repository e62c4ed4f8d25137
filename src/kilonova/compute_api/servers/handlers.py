"""Lists, shows, changes and deletes servers."""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.servers import rules
from kilonova.compute_api.servers.filters import server_query
from kilonova.compute_api.servers.finding import asked_by, get_server, get_unlocked, seen_list, seen_server, sight_of
from kilonova.compute_api.servers.view import DETAIL, SHOW, UPDATED, page_of, renderer
from kilonova.domain.errors import Conflict
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import next_link
from kilonova.storage import server_edits, server_lists
from kilonova.storage.database import Transaction

_COLUMNS: Final = {
    "name": "name",
    "description": "description",
    "hostname": "hostname",
    "accessIPv4": "access_ip_v4",
    "accessIPv6": "access_ip_v6",
    "pinned_availability_zone": "pinned_zone",
}
"""What an update may set, and the column that it is kept in."""


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers: ids, names and links."""
    query = server_query(call, parts.api.max_limit, rules.ALL_TENANTS)
    if query is None:
        return Answer(body={"servers": []})
    async with parts.database.read() as transaction:
        found = await server_lists.brief(transaction, query)
    page = page_of(call)
    shown = [orjson.dumps({"id": entry.id, "name": entry.name, "links": page.links(entry.id)}) for entry in found]
    return _paged(call, shown, [entry.id for entry in found], query.limit)


async def detail(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/detail: whole servers."""
    query = server_query(call, parts.api.max_limit, rules.DETAIL_ALL_TENANTS)
    if query is None:
        return Answer(body={"servers": []})
    async with parts.database.read() as transaction:
        listed = await server_lists.whole(transaction, query, sight_of(call))
        seen = await seen_list(transaction, call, listed, page_of(call))
    render, dumps = renderer(DETAIL, call), orjson.dumps
    return _paged(call, [dumps(render(entry)) for entry in seen], listed.ids(), query.limit)


def _paged(call: Call, shown: list[bytes], ids: Sequence[str], limit: int) -> Answer:
    # Servers are written one at a time: keeping a thousand of them as objects costs twice the time, in garbage collection.
    links_after = next_link(call, ids, limit, ids[-1]) if ids else []
    tail = b',"servers_links":' + orjson.dumps(links_after) if links_after else b""
    return Answer(body=b"".join((b'{"servers":[', b",".join(shown), b"]", tail, b"}")))


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /servers/{server_id}."""
    async with parts.database.read() as transaction:
        seen = await seen_server(transaction, call, rules.SHOW)
    return Answer(body={"server": renderer(SHOW, call)(seen)})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /servers/{server_id}: names, addresses, description, the zone that it is pinned to."""
    asked = call.body["server"]

    async def work(transaction: Transaction) -> Any:
        server = await get_server(transaction, call, rules.UPDATE)
        zone = asked.get("pinned_availability_zone")
        if zone is not None and zone != server.availability_zone:
            raise Conflict(f"Instance {server.id} is not in availability zone {zone}, so it cannot be pinned to it.")
        values = {column: asked[name] for name, column in _COLUMNS.items() if name in asked}
        values.update({name: values[name] or None for name in ("access_ip_v4", "access_ip_v6") if name in values})
        if "OS-DCF:diskConfig" in asked:
            items = {"disk_config": asked["OS-DCF:diskConfig"]}
            await server_edits.edit_system_metadata(transaction, server.id, items)
        await server_edits.edit(transaction, server.id, values)
        return await seen_server(transaction, call, rules.UPDATE)

    seen = await parts.database.transact(work)
    return Answer(body={"server": renderer(UPDATED, call)(seen)})


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /servers/{server_id}."""
    async with parts.database.read() as transaction:
        server = await get_unlocked(transaction, call, rules.DELETE)
    await parts.acceptor.act(asked_by(call), "delete", server.id, {})
    return Answer(204)
