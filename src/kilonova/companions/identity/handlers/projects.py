"""Projects."""

from dataclasses import replace
from typing import Any

from kilonova.companions.identity import view
from kilonova.companions.identity.embedded import new_id
from kilonova.companions.identity.handlers.filters import kept
from kilonova.companions.identity.parts import IdentityParts
from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.storage import identity_records as records
from kilonova.storage.database import Transaction


async def index(call: Call, parts: IdentityParts) -> Answer:
    """All projects, or those of the name, domain or state asked for."""
    async with parts.service.database.read() as transaction:
        found = await records.PROJECTS.all(transaction)
    return view.collection(call, "projects", [view.project(call, item) for item in kept(call, found)])


async def show(call: Call, parts: IdentityParts) -> Answer:
    """One project; users see their own."""
    project_id = call.path["project_id"]
    if not call.allows("identity:get_project", {"project_id": project_id}):
        raise Forbidden("You are not authorized to see this project.")
    async with parts.service.database.read() as transaction:
        project = await records.PROJECTS.get(transaction, project_id)
    return Answer(body={"project": view.project(call, project)})


async def create(call: Call, parts: IdentityParts) -> Answer:
    """A new project."""
    project = _changed(records.Project(new_id(), ""), call.body["project"])
    await parts.service.change(lambda transaction: records.PROJECTS.add(transaction, project))
    return Answer(201, {"project": view.project(call, project)})


async def update(call: Call, parts: IdentityParts) -> Answer:
    """Change what the body names; disabling a project ends its tokens."""

    async def work(transaction: Transaction) -> records.Project:
        present = await records.PROJECTS.get(transaction, call.path["project_id"])
        project = _changed(present, call.body["project"])
        await records.PROJECTS.save(transaction, project)
        return project

    return Answer(body={"project": view.project(call, await parts.service.change(work))})


async def delete(call: Call, parts: IdentityParts) -> Answer:
    """Delete the project and the roles given on it. What other services keep for it is theirs to clean."""

    async def work(transaction: Transaction) -> None:
        await records.PROJECTS.remove(transaction, call.path["project_id"])
        await records.forget_assignments(transaction, call.path["project_id"])

    await parts.service.change(work)
    return Answer(204)


def _changed(project: records.Project, body: dict[str, Any]) -> records.Project:
    return replace(
        project,
        name=body.get("name", project.name),
        description=body.get("description", project.description) or "",
        enabled=body.get("enabled", project.enabled),
    )
