"""Which projects may use a private flavor: /flavors/{id}/os-flavor-access and the two actions that change it."""

from typing import Any, Final

from kilonova.compute_api.flavors.handlers import seen_flavor
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import Conflict, Forbidden, NotFound
from kilonova.domain.flavor import Flavor
from kilonova.http.calls import Answer, Call
from kilonova.storage import flavors
from kilonova.storage.database import Transaction

_PUBLIC_REFUSED_SINCE: Final = 7
_ADD_RULE: Final = "os_compute_api:os-flavor-access:add_tenant_access"
_REMOVE_RULE: Final = "os_compute_api:os-flavor-access:remove_tenant_access"


async def _list(tx: Transaction, flavor: Flavor) -> dict[str, Any]:
    projects = await flavors.projects_of(tx, flavor)
    return {"flavor_access": [{"flavor_id": flavor.flavorid, "tenant_id": project} for project in projects]}


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET .../os-flavor-access"""
    async with parts.database.read() as tx:
        flavor = await seen_flavor(tx, call)
        if flavor.is_public:
            raise NotFound("Access list not available for public flavors.")
        return Answer(body=await _list(tx, flavor))


async def action(call: Call, parts: ComputeParts) -> Answer:
    """POST /flavors/{flavor_id}/action"""
    adds = "addTenantAccess" in call.body
    rule = _ADD_RULE if adds else _REMOVE_RULE
    if not call.allows(rule, {}):
        raise Forbidden(f"Policy doesn't allow {rule} to be performed.")
    project = call.body["addTenantAccess" if adds else "removeTenantAccess"]["tenant"]

    async def change(tx: Transaction) -> dict[str, Any]:
        flavor = await flavors.lock_flavor(tx, call.path["flavor_id"])
        if adds:
            if flavor.is_public and call.version >= _PUBLIC_REFUSED_SINCE:
                raise Conflict("Can not add access to a public flavor.")
            await flavors.give_access(tx, flavor, project)
        elif not await flavors.take_access(tx, flavor, project):
            raise NotFound(f"Flavor access not found for {flavor.flavorid} / {project} combination.")
        return await _list(tx, flavor)

    return Answer(body=await parts.database.transact(change))
