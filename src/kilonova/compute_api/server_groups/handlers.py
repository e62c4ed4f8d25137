"""/os-server-groups."""

from typing import Any, Final

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.server_groups.view import GROUP, GroupWithMembers
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import BadRequest, NotFound, OverQuota
from kilonova.http.calls import Answer, Call
from kilonova.http.paging import page_limit
from kilonova.storage import groups
from kilonova.storage.database import Transaction
from kilonova.storage.groups import ServerGroup
from kilonova.storage.quotas import limits_of

_ALL_PROJECTS_RULE: Final = "os_compute_api:os-server-groups:index:all_projects"


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-server-groups. `all_projects` with whatever value counts, for those whom the policy lets."""
    everybody = "all_projects" in call.query and call.allows(_ALL_PROJECTS_RULE, {})
    limit = page_limit(call, parts.api.max_limit)
    offset = int(call.first("offset", "0") or 0)
    async with parts.database.read() as tx:
        found = await groups.list_groups(tx, None if everybody else call.caller.project_id, limit, offset)
        members = await groups.members_of(tx, [group.id for group in found])
    render = GROUP.at(call.version, call.allows)
    return Answer(body={"server_groups": [render(GroupWithMembers(group, members.get(group.id, ()))) for group in found]})


async def _own(tx: Transaction, call: Call, rule: str) -> ServerGroup:
    """The group of the path; one that the caller may not touch is not told of."""
    group_id = call.path["group_id"]
    group = await groups.find_group(tx, group_id)
    if group is None or not call.allows(rule, {"project_id": group.project_id}):
        raise NotFound(f"Instance group {group_id} could not be found.")
    return group


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-server-groups/{group_id}"""
    async with parts.database.read() as tx:
        group = await _own(tx, call, "os_compute_api:os-server-groups:show")
        members = (await groups.members_of(tx, [group.id])).get(group.id, ())
    return _answer(call, GroupWithMembers(group, members))


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /os-server-groups"""
    asked = call.body["server_group"]
    policy = asked["policy"] if "policy" in asked else asked["policies"][0]
    rules = {name: int(value) for name, value in asked.get("rules", {}).items()}
    if rules and policy != "anti-affinity":
        raise BadRequest(f"Only anti-affinity policy supports rules, not {policy}.")
    caller = call.caller
    group = ServerGroup(new_uuid(), caller.project_id, caller.user_id, asked["name"], policy, rules, now())

    async def store(tx: Transaction) -> None:
        limits = await limits_of(tx, caller.project_id, parts.quota)
        if 0 <= limits["server_groups"] <= await groups.count_groups(tx, caller.project_id):
            raise OverQuota("Quota exceeded, too many server groups.")
        await groups.insert_group(tx, group)

    await parts.database.transact(store)
    return _answer(call, GroupWithMembers(group, ()))


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /os-server-groups/{group_id}"""

    async def remove(tx: Transaction) -> None:
        group = await _own(tx, call, "os_compute_api:os-server-groups:delete")
        await groups.delete_group(tx, group.id)

    await parts.database.transact(remove)
    return Answer(204)


def _answer(call: Call, item: GroupWithMembers) -> Answer:
    body: dict[str, Any] = GROUP.at(call.version, call.allows)(item)
    return Answer(body={"server_group": body})
