"""What consumers hold: shown, replaced, given back."""

from collections.abc import Sequence

from kilonova.domain.errors import NotFound
from kilonova.domain.ledger import ConsumerWrite
from kilonova.http.calls import Answer, Call
from kilonova.operations.ledger import release, write_allocations
from kilonova.placement_api.allocations.view import classes_of, shown_consumer, shown_provider, write_of
from kilonova.placement_api.errors import told_at
from kilonova.placement_api.lookups import lock_classes, provider_of
from kilonova.placement_api.parts import PlacementParts
from kilonova.placement_api.replies import reply
from kilonova.placement_api.uuids import canonical
from kilonova.storage.database import Transaction
from kilonova.storage.ledger import allocations_of_consumers, allocations_of_provider, consumers_by_uuid


async def show(call: Call, parts: PlacementParts) -> Answer:
    """GET /allocations/{consumer}; a consumer that holds nothing is no error."""
    uuid = call.path["consumer"]
    async with parts.database.read() as transaction:
        consumer = (await consumers_by_uuid(transaction, [uuid])).get(uuid)
        held = (await allocations_of_consumers(transaction, [uuid])).get(uuid, {})
    if consumer is None or not held:
        return reply(call, {"allocations": {}})
    # The index is read after the rows, so that it knows every provider that they name.
    return reply(call, shown_consumer(consumer, held, await parts.index.fresh(), call.version))


async def put(call: Call, parts: PlacementParts) -> Answer:
    """PUT /allocations/{consumer}."""
    write = write_of(call.path["consumer"], call.body, await parts.index.fresh())
    await _write(call, parts, [write])
    return Answer(204)


async def post(call: Call, parts: PlacementParts) -> Answer:
    """POST /allocations: several consumers, all or none."""
    index = await parts.index.fresh()
    await _write(call, parts, [write_of(consumer, entry, index) for consumer, entry in call.body.items()])
    return Answer(204)


async def delete(call: Call, parts: PlacementParts) -> Answer:
    """DELETE /allocations/{consumer}."""
    uuid = canonical(call.path["consumer"], "consumer_uuid")

    async def work(transaction: Transaction) -> frozenset[str]:
        return await release(transaction, [uuid])

    if not await parts.database.transact(work):
        raise NotFound(f"No allocations for consumer '{uuid}'")
    return Answer(204)


async def list_of_provider(call: Call, parts: PlacementParts) -> Answer:
    """GET /resource_providers/{uuid}/allocations."""
    provider = (await provider_of(call, parts)).provider
    async with parts.database.read() as transaction:
        holdings = await allocations_of_provider(transaction, provider.id)
    return reply(call, shown_provider(provider, holdings, call.version))


async def _write(call: Call, parts: PlacementParts, writes: Sequence[ConsumerWrite]) -> None:
    async def work(transaction: Transaction) -> None:
        await lock_classes(transaction, parts, classes_of(writes))
        await write_allocations(transaction, writes)

    with told_at(call.version):
        await parts.database.transact(work)
