"""Roles. Those that policies name are fixed."""

from dataclasses import replace

from kilonova.companions.identity import view
from kilonova.companions.identity.embedded import new_id
from kilonova.companions.identity.implied import BUILT_IN
from kilonova.companions.identity.parts import IdentityParts
from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.storage import identity_records as records
from kilonova.storage.database import Transaction


async def index(call: Call, parts: IdentityParts) -> Answer:
    """All roles, or the one of the name asked for. No role belongs to a domain."""
    async with parts.service.database.read() as transaction:
        found = await records.ROLES.all(transaction)
    name = call.first("name")
    shown = [item for item in found if name is None or item.name == name] if "domain_id" not in call.query else []
    return view.collection(call, "roles", [view.role(call, item) for item in shown])


async def show(call: Call, parts: IdentityParts) -> Answer:
    """One role."""
    async with parts.service.database.read() as transaction:
        role = await records.ROLES.get(transaction, call.path["role_id"])
    return Answer(body={"role": view.role(call, role)})


async def create(call: Call, parts: IdentityParts) -> Answer:
    """A new role."""
    role = records.Role(new_id(), call.body["role"]["name"])
    await parts.service.change(lambda transaction: records.ROLES.add(transaction, role))
    return Answer(201, {"role": view.role(call, role)})


async def update(call: Call, parts: IdentityParts) -> Answer:
    """Rename a role."""

    async def work(transaction: Transaction) -> records.Role:
        role = replace(await _free(transaction, call.path["role_id"]), name=call.body["role"]["name"])
        await records.ROLES.save(transaction, role)
        return role

    return Answer(body={"role": view.role(call, await parts.service.change(work))})


async def delete(call: Call, parts: IdentityParts) -> Answer:
    """Delete a role and take it from everybody."""

    async def work(transaction: Transaction) -> None:
        role = await _free(transaction, call.path["role_id"])
        await records.ROLES.remove(transaction, role.id)
        await records.forget_assignments(transaction, role.id)

    await parts.service.change(work)
    return Answer(204)


async def _free(transaction: Transaction, role_id: str) -> records.Role:
    role = await records.ROLES.get(transaction, role_id)
    if role.name in BUILT_IN:
        raise Forbidden(f"The role {role.name} is immutable.")
    return role
