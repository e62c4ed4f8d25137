"""Users and their passwords."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kilonova.companions.identity import view
from kilonova.companions.identity.embedded import new_id
from kilonova.companions.identity.handlers.filters import kept
from kilonova.companions.identity.parts import IdentityParts
from kilonova.domain.errors import Forbidden, Unauthorized
from kilonova.http.calls import Answer, Call
from kilonova.storage import identity_records as records
from kilonova.storage.database import Transaction


async def index(call: Call, parts: IdentityParts) -> Answer:
    """All users, or those of the name, domain or state asked for."""
    async with parts.service.database.read() as transaction:
        found = await records.USERS.all(transaction)
    return view.collection(call, "users", [view.user(call, item) for item in kept(call, found)])


async def show(call: Call, parts: IdentityParts) -> Answer:
    """One user; users see themselves."""
    _check_own(call, "identity:get_user")
    async with parts.service.database.read() as transaction:
        user = await records.USERS.get(transaction, call.path["user_id"])
    return Answer(body={"user": view.user(call, user)})


async def projects(call: Call, parts: IdentityParts) -> Answer:
    """Projects that the user has a role on."""
    _check_own(call, "identity:list_user_projects")
    async with parts.service.database.read() as transaction:
        user = await records.USERS.get(transaction, call.path["user_id"])
        found = await records.projects_of(transaction, user.id)
    return view.collection(call, "projects", [view.project(call, item) for item in kept(call, found)])


async def create(call: Call, parts: IdentityParts) -> Answer:
    """A new user; without a password one that cannot log in."""
    user = records.User(id=new_id(), **await _values(parts, call.body["user"]))
    await parts.service.change(lambda transaction: records.USERS.add(transaction, user))
    return Answer(201, {"user": view.user(call, user)})


async def update(call: Call, parts: IdentityParts) -> Answer:
    """Change what the body names; a new password or disabling ends the user's tokens."""
    # Hashing waits for a thread, which a unit of work may not, so the new values are made before it.
    values = await _values(parts, call.body["user"])

    async def work(transaction: Transaction) -> records.User:
        present = await records.USERS.get(transaction, call.path["user_id"])
        user = replace(present, **values)
        await records.USERS.save(transaction, user)
        return user

    return Answer(body={"user": view.user(call, await parts.service.change(work))})


async def delete(call: Call, parts: IdentityParts) -> Answer:
    """Delete the user and the roles given to them; their tokens end."""

    async def work(transaction: Transaction) -> None:
        await records.USERS.remove(transaction, call.path["user_id"])
        await records.forget_assignments(transaction, call.path["user_id"])

    await parts.service.change(work)
    return Answer(204)


async def change_password(call: Call, parts: IdentityParts) -> Answer:
    """A user's own new password, against the present one."""
    _check_own(call, "identity:change_password")
    service, asked = parts.service, call.body["user"]
    async with service.database.read() as transaction:
        user = await records.USERS.get(transaction, call.path["user_id"])
    if not await service.passwords.fits(user.password_hash, asked["original_password"]):
        raise Unauthorized("The original password is not the present one.")
    changed = await service.passwords.hashed(asked["password"])

    async def work(transaction: Transaction) -> None:
        present = await records.USERS.get(transaction, user.id)
        await records.USERS.save(transaction, replace(present, password_hash=changed))

    await service.change(work)
    return Answer(204)


async def _values(parts: IdentityParts, body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a user that the body sets."""
    values = {name: body[name] for name in ("name", "email", "default_project_id", "enabled") if name in body}
    if "description" in body:
        values["description"] = body["description"] or ""
    if "password" in body:
        password = body["password"]
        values["password_hash"] = "" if password is None else await parts.service.passwords.hashed(password)
    return values


def _check_own(call: Call, rule: str) -> None:
    if not call.allows(rule, {"user_id": call.path["user_id"]}):
        raise Forbidden("You are not authorized to do this for another user.")
