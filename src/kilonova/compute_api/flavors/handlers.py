"""GET /flavors to DELETE /flavors/{id}: the flavors themselves."""

from typing import Any, Final

from kilonova.compute_api.flavors.view import FULL, SHORT, LinkedFlavor, render
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import BadRequest, NotFound
from kilonova.domain.flavor import Flavor
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import next_link, page_limit
from kilonova.http.shapes import truth, whole_number
from kilonova.http.views import View
from kilonova.storage import flavors
from kilonova.storage.database import Transaction

_TRUE: Final = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE: Final = frozenset({"0", "f", "false", "off", "n", "no"})


async def seen_flavor(tx: Transaction, call: Call) -> Flavor:
    """The flavor that the path names, if the caller may know of it. Raises errors.NotFound."""
    flavor = await flavors.find_flavor(tx, call.path["flavor_id"])
    known = flavor is not None and (call.caller.is_admin or await flavors.visible_to(tx, flavor, call.caller.project_id))
    if flavor is None or not known:
        raise NotFound(f"Flavor {call.path['flavor_id']} could not be found.")
    return flavor


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /flavors"""
    return await _page(call, parts, SHORT)


async def detail(call: Call, parts: ComputeParts) -> Answer:
    """GET /flavors/detail"""
    return await _page(call, parts, FULL)


async def _page(call: Call, parts: ComputeParts, view: View[LinkedFlavor]) -> Answer:
    limit = page_limit(call, parts.api.max_limit)
    async with parts.database.read() as tx:
        found = await flavors.list_flavors(tx, _asked(call, limit))
    body: dict[str, Any] = {"flavors": [render(view, call, flavor) for flavor in found]}
    links = next_link(call, found, limit, found[-1].flavorid) if found else []
    if links:
        body["flavors_links"] = links
    return Answer(body=body)


def _asked(call: Call, limit: int) -> flavors.FlavorQuery:
    sort_key = call.first("sort_key", "flavorid") or "flavorid"
    if sort_key not in flavors.SORT_KEYS:
        raise BadRequest(f"Invalid input for field/attribute sort_key. {sort_key} is nothing to sort flavors by.")
    return flavors.FlavorQuery(
        project_id=call.caller.project_id,
        access=_access(call),
        min_ram=_least(call, "minRam"),
        min_disk=_least(call, "minDisk"),
        sort_key=sort_key,
        descending=call.first("sort_dir") == "desc",
        marker=call.first("marker"),
        limit=limit,
    )


def _access(call: Call) -> str:
    """Users see what they may use whatever they ask; `is_public` is for administrators."""
    asked = (call.first("is_public") or "true").strip().lower()
    if not call.caller.is_admin or asked in _TRUE:
        return flavors.PUBLIC
    if asked in _FALSE:
        return flavors.PRIVATE
    if asked == "none":
        return flavors.ANY
    raise BadRequest(f"Invalid is_public filter [{asked}]")


def _least(call: Call, name: str) -> int:
    value = call.first(name, "0") or ""
    number = whole_number(value)
    if number is None:
        raise BadRequest(f"Invalid {name} filter [{value}]")
    return number


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /flavors/{flavor_id}"""
    async with parts.database.read() as tx:
        flavor = await seen_flavor(tx, call)
    return Answer(body={"flavor": render(FULL, call, flavor)})


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /flavors"""
    asked = call.body["flavor"]
    wanted = asked.get("id")
    flavor = Flavor(
        id=0,
        flavorid=new_uuid() if wanted in (None, "auto") else str(wanted),
        name=asked["name"],
        vcpus=int(asked["vcpus"]),
        memory_mb=int(asked["ram"]),
        root_gb=int(asked["disk"]),
        ephemeral_gb=int(asked.get("OS-FLV-EXT-DATA:ephemeral", 0)),
        swap_mb=int(asked.get("swap", 0)),
        rxtx_factor=float(asked.get("rxtx_factor", 1.0)),
        is_public=truth(asked.get("os-flavor-access:is_public", True)),
        description=asked.get("description"),
    )

    async def store(tx: Transaction) -> int:
        return await flavors.insert_flavor(tx, flavor)

    await parts.database.transact(store)
    return Answer(body={"flavor": render(FULL, call, flavor)})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /flavors/{flavor_id}"""

    async def describe(tx: Transaction) -> Flavor:
        flavor = await flavors.lock_flavor(tx, call.path["flavor_id"])
        await flavors.describe_flavor(tx, flavor, call.body["flavor"]["description"])
        return await flavors.lock_flavor(tx, flavor.flavorid)

    return Answer(body={"flavor": render(FULL, call, await parts.database.transact(describe))})


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /flavors/{flavor_id}"""

    async def remove(tx: Transaction) -> None:
        await flavors.delete_flavor(tx, await flavors.lock_flavor(tx, call.path["flavor_id"]))

    await parts.database.transact(remove)
    return Answer(202)
