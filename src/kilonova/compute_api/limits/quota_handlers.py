"""/os-quota-sets and /os-quota-class-sets: administrators set the limits of projects, of their users, and of everybody."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from kilonova.compute_api.limits.handlers import used_by
from kilonova.compute_api.limits.view import Used, class_set, detailed, quota_set
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.errors import BadRequest, Forbidden, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage import quotas
from kilonova.storage.database import Transaction

_DEFAULT: Final = "default"


def _check(call: Call, rule: str) -> str:
    """The project of the path. Raises errors.Forbidden when the rule does not open it."""
    project_id = call.path["project_id"]
    if not call.allows(rule, {"project_id": project_id}):
        raise Forbidden(f"Policy doesn't allow {rule} to be performed.")
    return project_id


async def _used(tx: Transaction, call: Call, parts: ComputeParts, project_id: str) -> Used:
    """The project's limits and uses, or those of one user of it where `user_id` is asked."""
    used = await used_by(tx, parts, project_id)
    user_id = call.first("user_id")
    if not user_id:
        return used
    own = await quotas.user_limits_of(tx, project_id, user_id)
    return replace(used, limits={**used.limits, **own}, usage=await quotas.user_usage_of(tx, project_id, user_id))


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-quota-sets/{project_id}"""
    project_id = _check(call, "os_compute_api:os-quota-sets:show")
    async with parts.database.read() as tx:
        used = await _used(tx, call, parts, project_id)
    return Answer(body={"quota_set": {"id": project_id, **quota_set(used.limits, call.version)}})


async def detail(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-quota-sets/{project_id}/detail"""
    project_id = _check(call, "os_compute_api:os-quota-sets:detail")
    async with parts.database.read() as tx:
        used = await _used(tx, call, parts, project_id)
    return Answer(body={"quota_set": {"id": project_id, **detailed(used, call.version)}})


async def defaults(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-quota-sets/{project_id}/defaults"""
    async with parts.database.read() as tx:
        limits = await quotas.default_limits(tx, parts.quota)
    return Answer(body={"quota_set": {"id": call.path["project_id"], **quota_set(limits, call.version)}})


def _asked(body: Mapping[str, Any]) -> dict[str, int]:
    """The limits that are ours to keep; those that other services took over are taken and change nothing."""
    return {name: int(value) for name, value in body.items() if name in quotas.RESOURCES}


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /os-quota-sets/{project_id}: a limit below what is in use needs `force`."""
    project_id, body = call.path["project_id"], call.body["quota_set"]
    amounts, force, user_id = _asked(body), truth(body.get("force", False)), call.first("user_id")

    async def change(tx: Transaction) -> Used:
        used = await _used(tx, call, parts, project_id)
        if not force:
            _refuse_less_than_used(used, amounts)
        if user_id:
            _refuse_more_than_project(await quotas.limits_of(tx, project_id, parts.quota), amounts)
            await quotas.set_user_limits(tx, project_id, user_id, amounts)
        else:
            await quotas.set_limits(tx, project_id, amounts)
        return await _used(tx, call, parts, project_id)

    used = await parts.database.transact(change)
    return Answer(body={"quota_set": quota_set(used.limits, call.version)})


def _refuse_less_than_used(used: Used, amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        if 0 <= amount < used.amount(name):
            raise BadRequest(
                f"Quota limit {amount} for {name} must be greater than or equal to already used and reserved {used.amount(name)}."
            )


def _refuse_more_than_project(limits: Mapping[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        if limits[name] >= 0 and (amount < 0 or amount > limits[name]):
            raise BadRequest(f"Quota limit {amount} for {name} must be less than or equal to {limits[name]}.")


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /os-quota-sets/{project_id}: the defaults hold again."""
    project_id, user_id = call.path["project_id"], call.first("user_id")

    async def forget(tx: Transaction) -> None:
        if user_id:
            await quotas.forget_user_limits(tx, project_id, user_id)
        else:
            await quotas.forget_limits(tx, project_id)

    await parts.database.transact(forget)
    return Answer(202)


def _only_default(call: Call) -> None:
    if call.path["class_name"] != _DEFAULT:
        raise NotFound(f"Quota class {call.path['class_name']} could not be found.")


async def show_class(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-quota-class-sets/{class_name}: `default` is the only class."""
    _only_default(call)
    async with parts.database.read() as tx:
        limits = await quotas.default_limits(tx, parts.quota)
    return Answer(body={"quota_class_set": {"id": _DEFAULT, **class_set(limits, call.version)}})


async def update_class(call: Call, parts: ComputeParts) -> Answer:
    """PUT /os-quota-class-sets/{class_name}"""
    _only_default(call)
    amounts = _asked(call.body["quota_class_set"])

    async def change(tx: Transaction) -> Mapping[str, int]:
        await quotas.set_default_limits(tx, amounts)
        return await quotas.default_limits(tx, parts.quota)

    return Answer(body={"quota_class_set": class_set(await parts.database.transact(change), call.version)})
