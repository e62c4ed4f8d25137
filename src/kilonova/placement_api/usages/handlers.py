"""What is used of a provider, and what a project holds."""

from typing import Final

from kilonova.domain.errors import Forbidden
from kilonova.http.calls import Answer, Call
from kilonova.placement_api.lookups import provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.placement_api.usages.view import by_type, of_provider, summed
from kilonova.storage.ledger import usages_of_project

_BY_TYPE: Final = 38


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/usages."""
    return reply(call, of_provider((await provider_of(call, parts)).provider))


async def of_project(call: Call, parts: PlacementParts) -> Answer:
    """GET /usages."""
    project_id = call.query["project_id"][0]
    if not call.allows("placement:usages", {"project_id": project_id}):
        raise Forbidden("Policy doesn't allow placement:usages to be performed for this project.")
    async with parts.database.read() as transaction:
        usages = await usages_of_project(transaction, project_id, call.first("user_id"))
    shown = by_type(usages, call.first("consumer_type")) if call.version >= _BY_TYPE else summed(usages)
    return reply(call, {"usages": shown})
