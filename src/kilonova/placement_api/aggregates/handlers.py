"""A provider's aggregates."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from kilonova.domain.ledger import ANY, Expected
from kilonova.domain.resources import Provider
from kilonova.http.calls import Answer, Call
from kilonova.placement_api.lookups import edit_provider, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.placement_api.uuids import canonical
from kilonova.storage.database import Transaction
from kilonova.storage.provider_contents import set_aggregates

_WITH_GENERATION: Final = 19


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/aggregates."""
    provider = (await provider_of(call, parts)).provider
    return reply(call, _shown(call, provider, sorted(provider.aggregates)))


async def update_list(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}/aggregates before 1.19: the bare list, without a generation."""
    return await _update(call, parts, call.body, ANY)


async def update(call: Call, parts: PlacementParts) -> Answer:
    """PUT /resource_providers/{uuid}/aggregates from 1.19 on."""
    return await _update(call, parts, call.body["aggregates"], int(call.body["resource_provider_generation"]))


async def _update(call: Call, parts: PlacementParts, aggregates: Iterable[str], generation: Expected) -> Answer:
    # A client finds its aggregates in the order in which it sent them.
    wanted = list(dict.fromkeys(canonical(uuid, "aggregate uuid") for uuid in aggregates))

    async def work(transaction: Transaction, provider_id: int) -> Provider:
        return await set_aggregates(transaction, provider_id, generation, frozenset(wanted))

    return reply(call, _shown(call, await edit_provider(call, parts, work), wanted))


def _shown(call: Call, provider: Provider, aggregates: Sequence[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {"aggregates": aggregates}
    if call.version >= _WITH_GENERATION:
        shown["resource_provider_generation"] = provider.generation
    return shown
