"""GET /limits: a project's limits and what it uses."""

from typing import Final

from kilonova.compute_api.limits.view import ABSOLUTE, Used
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.storage.database import Transaction
from kilonova.storage.groups import count_groups
from kilonova.storage.quotas import limits_of, usage_of

_OTHERS_RULE: Final = "os_compute_api:limits:other_project"


async def used_by(tx: Transaction, parts: ComputeParts, project_id: str) -> Used:
    """Limits and uses of a project."""
    return Used(
        limits=await limits_of(tx, project_id, parts.quota),
        usage=await usage_of(tx, project_id),
        server_groups=await count_groups(tx, project_id),
    )


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /limits; `tenant_id` asks for another project's."""
    project_id = call.first("tenant_id")
    if project_id and project_id != call.caller.project_id and not call.allows(_OTHERS_RULE, {}):
        raise Forbidden(f"Policy doesn't allow {_OTHERS_RULE} to be performed.")
    async with parts.database.read() as tx:
        used = await used_by(tx, parts, project_id or call.caller.project_id)
    return Answer(body={"limits": {"rate": [], "absolute": ABSOLUTE.at(call.version, call.allows)(used)}})
