"""What consumers hold: shown, replaced, given back."""

from collections.abc import Mapping
from typing import Any

from kilonova.domain.errors import BadRequest, NotFound
from kilonova.domain.ledger import ConsumerWrite
from kilonova.http.calls import Answer, Call
from kilonova.operations.ledger import Asked
from kilonova.placement_api.allocations.view import classes_of, shown_consumer, shown_provider, write_of
from kilonova.placement_api.errors import told_at
from kilonova.placement_api.lookups import lock_classes, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.placement_api.uuids import canonical
from kilonova.storage.database import Transaction
from kilonova.storage.ledger import allocations_of_provider, whole_consumer


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /allocations/{consumer}; a consumer that holds nothing is no error."""
    async with parts.database.read() as transaction:
        whole = await whole_consumer(transaction, call.path["consumer"])
    return reply(call, {"allocations": {}} if whole is None else shown_consumer(whole, call.version))


async def put(call: Call, parts: PlacementParts) -> Answer:
    """PUT /allocations/{consumer}."""
    await _write(call, parts, {call.path["consumer"]: call.body})
    return Answer(204)


async def post(call: Call, parts: PlacementParts) -> Answer:
    """POST /allocations: several consumers, all or none."""
    await _write(call, parts, call.body)
    return Answer(204)


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /allocations/{consumer}."""
    uuid = canonical(call.path["consumer"], "consumer_uuid")
    if not await parts.claims.write(Asked([ConsumerWrite(uuid, "", "", "", {})])):
        raise NotFound(f"No allocations for consumer '{uuid}'")
    return Answer(204)


async def list_of_provider(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/allocations."""
    provider = (await provider_of(call, parts)).provider
    async with parts.database.read() as transaction:
        holdings = await allocations_of_provider(transaction, provider.id)
    return reply(call, shown_provider(provider, holdings, call.version))


async def _write(call: Call, parts: PlacementParts, bodies: Mapping[str, Any]) -> None:
    with told_at(call.version):
        if await _claim(parts, bodies):
            return
        index = await parts.index.fresh()
        writes = [write_of(consumer, body, index) for consumer, body in bodies.items()]
        doing = f"Unable to allocate inventory for consumer {', '.join(write.consumer for write in writes)}"

        async def check(transaction: Transaction) -> None:
            await lock_classes(transaction, parts, classes_of(writes), doing)

        await parts.claims.write(Asked(writes, check))


async def _claim(parts: PlacementParts, bodies: Mapping[str, Any]) -> bool:
    """The quick way for new consumers. A provider's number never changes, so the index need not be fresh for it."""
    try:
        writes = [write_of(consumer, body, parts.index.index) for consumer, body in bodies.items()]
    except BadRequest:
        return False
    return await parts.claims.claim(writes)
