"""Who has which role where. A path without a project is about the system."""

from collections.abc import Sequence
from dataclasses import replace

from kilonova.companions.identity import view
from kilonova.companions.identity.implied import with_implied
from kilonova.companions.identity.parts import IdentityParts
from kilonova.domain.errors import NotFound
from kilonova.http.calls import Answer, Call
from kilonova.storage import identity_records as records
from kilonova.storage.database import Transaction


async def assignments(call: Call, parts: IdentityParts) -> Answer:
    """All assignments, narrowed by user, project or system and role; with `effective` the implied ones too."""
    target = call.first("scope.project.id") or (records.SYSTEM if "scope.system" in call.query else "")
    # Nobody has a role through a group or on a domain.
    if "group.id" in call.query or "scope.domain.id" in call.query:
        return view.collection(call, "role_assignments", [])
    effective = _is_set(call, "effective")
    role_id = call.first("role.id") or ""
    async with parts.service.database.read() as transaction:
        found = await records.assignments(transaction, call.first("user.id") or "", target, "" if effective else role_id)
        if effective:
            found = _effective(found, await records.ROLES.all(transaction))
    shown = [item for item in found if not role_id or item.role_id == role_id]
    names = _is_set(call, "include_names")
    return view.collection(call, "role_assignments", [view.assignment(call, item, names=names) for item in shown])


async def index(call: Call, parts: IdentityParts) -> Answer:
    """Roles that the user was given on the project or the system."""
    target = _target(call)
    async with parts.service.database.read() as transaction:
        await _check(transaction, call, target)
        given = await records.granted(transaction, call.path["user_id"], target)
        roles = [role for role in await records.ROLES.all(transaction) if role.id in given]
    return view.collection(call, "roles", [view.role(call, role) for role in roles])


async def check(call: Call, parts: IdentityParts) -> Answer:
    """204 if the user was given the role there, 404 if not."""
    async with parts.service.database.read() as transaction:
        given = await records.granted(transaction, call.path["user_id"], _target(call))
    if call.path["role_id"] not in given:
        raise NotFound(f"Could not find role assignment with role: {call.path['role_id']}.")
    return Answer(204)


async def give(call: Call, parts: IdentityParts) -> Answer:
    """Give the user the role there."""
    target = _target(call)

    async def work(transaction: Transaction) -> None:
        await _check(transaction, call, target)
        role = await records.ROLES.get(transaction, call.path["role_id"])
        await records.grant(transaction, call.path["user_id"], target, role.id)

    await parts.service.change(work)
    return Answer(204)


async def take(call: Call, parts: IdentityParts) -> Answer:
    """Take the role from the user there; it works at once, for tokens that are out too."""
    user_id, role_id, target = call.path["user_id"], call.path["role_id"], _target(call)
    await parts.service.change(lambda transaction: records.take_back(transaction, user_id, target, role_id))
    return Answer(204)


def _target(call: Call) -> str:
    return call.path.get("project_id", records.SYSTEM)


async def _check(transaction: Transaction, call: Call, target: str) -> None:
    await records.USERS.get(transaction, call.path["user_id"])
    if "project_id" in call.path:
        await records.PROJECTS.get(transaction, target)


def _is_set(call: Call, name: str) -> bool:
    """Whether a query parameter that needs no value is there and does not say no."""
    value = call.first(name)
    return value is not None and value.lower() not in {"false", "0", "no"}


def _effective(found: Sequence[records.Assignment], roles: Sequence[records.Role]) -> Sequence[records.Assignment]:
    whole = {
        (item.user_id, item.target, role.id): replace(item, role_id=role.id, role_name=role.name)
        for item in found
        for role in roles
        if role.name in with_implied([item.role_name])
    }
    return list(whole.values())
