"""Security groups."""

from collections.abc import Mapping, Sequence
from typing import Any

from kilonova.companions.network import view
from kilonova.companions.network.faults import (
    SecurityGroupCannotRemoveDefault,
    SecurityGroupCannotUpdateDefault,
    SecurityGroupDefaultAlreadyExists,
    SecurityGroupInUse,
    SecurityGroupNotFound,
)
from kilonova.companions.network.groups import (
    DEFAULT,
    default_group,
    default_group_id,
    new_group,
    opening_rules,
)
from kilonova.companions.network.lists import narrowing
from kilonova.companions.network.ownership import own, owner_of, owns, require
from kilonova.companions.network.parts import GROUP, NetworkParts
from kilonova.companions.network.schema import without_nulls
from kilonova.domain.clock import new_uuid, now
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage.database import Transaction
from kilonova.storage.networks import Hold, Record
from kilonova.storage.security_groups import GROUPS, RULES, delete_group, group_in_use


async def list_groups(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/security-groups; the caller's default group is made if it is not there."""
    match = narrowing(call, ("id", "name"))

    async def work(transaction: Transaction) -> list[Record]:
        if call.caller.project_id:
            await default_group(transaction, call.caller.project_id)
        found = await GROUPS.select(transaction, match)
        return await _with_rules(transaction, call, [group for group in found if owns(call.caller, group)])

    return GROUP.listed(call, await parts.database.transact(work))


async def show_group(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/security-groups/{id}."""
    async with parts.database.read() as transaction:
        group = await own_group(transaction, call, call.path["id"])
        return GROUP.shown(call, (await _with_rules(transaction, call, [group]))[0])


async def own_group(transaction: Transaction, call: Call, group_id: str, hold: Hold = "") -> Record:
    """The group, if it is the caller's. Raises SecurityGroupNotFound."""
    group = await GROUPS.find(transaction, group_id, hold)
    return own(call, group, SecurityGroupNotFound(f"Security group {group_id} could not be found."))


async def create_groups(call: Call, parts: NetworkParts) -> Answer:
    """POST /v2.0/security-groups."""
    bodies = GROUP.bodies(call)

    async def work(transaction: Transaction) -> list[Record]:
        return await _with_rules(transaction, call, [await _create(transaction, call, body) for body in bodies])

    return GROUP.born(call, await parts.database.transact(work))


async def _create(transaction: Transaction, call: Call, body: Mapping[str, Any]) -> Record:
    project_id = owner_of(call, body)
    if body.get("name") == DEFAULT:
        raise SecurityGroupDefaultAlreadyExists("A project has one default security group, which it gets by itself.")
    stateful = truth(body.get("stateful", True))
    group = new_group(new_uuid(), project_id, body.get("name", ""), body.get("description", ""), stateful=stateful)
    group = group.showing(tags=body.get("tags", []))
    await GROUPS.insert(transaction, group)
    for rule in opening_rules(group):
        await RULES.insert(transaction, rule)
    return group


async def update_group(call: Call, parts: NetworkParts) -> Answer:
    """PUT /v2.0/security-groups/{id}."""
    body = without_nulls(call.body["security_group"])

    async def work(transaction: Transaction) -> Record:
        group = await own_group(transaction, call, call.path["id"], "change")
        require(call, "update_security_group", group)
        is_default = group.id == default_group_id(group.project_id)
        if body.get("name", group.name) != group.name and DEFAULT in (group.name, body["name"]):
            raise SecurityGroupCannotUpdateDefault("The default security group keeps its name, and no other gets it.")
        changes = {name: body[name] for name in ("description",) if name in body}
        if "stateful" in body and not is_default:
            changes["stateful"] = truth(body["stateful"])
        changed = group.changed(now(), body.get("name"), **changes)
        await GROUPS.save(transaction, changed)
        return (await _with_rules(transaction, call, [changed]))[0]

    return GROUP.shown(call, await parts.database.transact(work))


async def remove_group(call: Call, parts: NetworkParts) -> Answer:
    """DELETE /v2.0/security-groups/{id}."""

    async def work(transaction: Transaction) -> None:
        group = await own_group(transaction, call, call.path["id"], "remove")
        require(call, "delete_security_group", group)
        if group.name == DEFAULT and not call.caller.is_admin:
            raise SecurityGroupCannotRemoveDefault("The default security group stays.")
        if await group_in_use(transaction, group.id):
            raise SecurityGroupInUse(f"Security group {group.id} still has ports.")
        await delete_group(transaction, group.id)

    await parts.database.transact(work)
    return Answer(204)


async def _with_rules(transaction: Transaction, call: Call, groups: Sequence[Record]) -> list[Record]:
    render = view.RULE.at(0, call.allows)
    rules: dict[str, list[dict[str, Any]]] = {}
    for rule in await RULES.select(transaction, {"security_group_id": [group.id for group in groups]}):
        rules.setdefault(rule.fields["security_group_id"], []).append(render(rule))
    return [group.showing(security_group_rules=rules.get(group.id, [])) for group in groups]
