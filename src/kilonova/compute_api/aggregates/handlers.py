"""/os-aggregates. What changes hosts or zones is decided and written in one transaction, the ledger's mirror with it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from kilonova.compute_api.aggregates.view import CREATED, FULL
from kilonova.compute_api.aggregates.zones import clash, stranded
from kilonova.compute_api.parts import ComputeParts
from kilonova.domain.clock import new_uuid, now
from kilonova.domain.errors import BadRequest, Conflict, Forbidden, KilonovaError, NotFound
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import whole_number
from kilonova.storage import aggregates, hosts
from kilonova.storage.aggregates import ZONE_KEY, Aggregate
from kilonova.storage.database import Transaction


def _number(call: Call) -> int:
    text = call.path["aggregate_id"]
    number = whole_number(text)
    if number is None:
        raise BadRequest(f"The aggregate's id must be a whole number, not {text!r}.")
    return number


def _missing(number: int) -> NotFound:
    return NotFound(f"Aggregate {number} could not be found.")


async def _locked(tx: Transaction, number: int) -> Aggregate:
    aggregate = await aggregates.lock_aggregate(tx, number)
    if aggregate is None:
        raise _missing(number)
    return aggregate


async def index(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-aggregates"""
    async with parts.database.read() as tx:
        found = await aggregates.all_aggregates(tx)
    render = FULL.at(call.version, call.allows)
    return Answer(body={"aggregates": [render(aggregate) for aggregate in found]})


async def show(call: Call, parts: ComputeParts) -> Answer:
    """GET /os-aggregates/{aggregate_id}"""
    number = _number(call)
    async with parts.database.read() as tx:
        aggregate = await aggregates.find_aggregate(tx, number)
    if aggregate is None:
        raise _missing(number)
    return _answer(call, aggregate)


async def create(call: Call, parts: ComputeParts) -> Answer:
    """POST /os-aggregates"""
    asked = call.body["aggregate"]
    zone = asked.get("availability_zone")
    aggregate = Aggregate(0, new_uuid(), asked["name"], {ZONE_KEY: zone} if zone else {}, now())

    async def store(tx: Transaction) -> Aggregate:
        return await aggregates.insert_aggregate(tx, aggregate)

    made = await parts.database.transact(store)
    return Answer(body={"aggregate": CREATED.at(call.version, call.allows)(made)})


async def update(call: Call, parts: ComputeParts) -> Answer:
    """PUT /os-aggregates/{aggregate_id}"""
    number, asked = _number(call), call.body["aggregate"]

    async def change(tx: Transaction) -> Aggregate:
        aggregate = await _locked(tx, number)
        metadata = dict(aggregate.metadata)
        if "availability_zone" in asked:
            metadata[ZONE_KEY] = asked["availability_zone"]
        return await _rewrite(tx, aggregate, replace(aggregate, name=asked.get("name", aggregate.name), metadata=metadata))

    return _answer(call, await parts.database.transact(change))


async def _rewrite(tx: Transaction, old: Aggregate, new: Aggregate) -> Aggregate:
    """Write name and metadata. Raises errors.BadRequest where the zone of a host with servers would change with them."""
    if new.zone != old.zone:
        await _check_zones(tx, new, new.hosts, BadRequest)
    return await aggregates.update_aggregate(tx, new)


async def _check_zones(tx: Transaction, new: Aggregate, touched: tuple[str, ...], refusal: type[KilonovaError]) -> None:
    """Raises `refusal` when the aggregate as it would be breaks a rule of zones for one of the `touched` hosts."""
    every = await aggregates.all_aggregates(tx)
    after = [new if aggregate.id == new.id else aggregate for aggregate in every]
    busy = await hosts.count_servers(tx, touched)
    why = clash(new, new.zone, new.hosts, every) or stranded(
        aggregates.zones_by_host(every), aggregates.zones_by_host(after), busy
    )
    if why:
        raise refusal(why)


async def delete(call: Call, parts: ComputeParts) -> Answer:
    """DELETE /os-aggregates/{aggregate_id}"""
    number = _number(call)

    async def remove(tx: Transaction) -> None:
        aggregate = await _locked(tx, number)
        if aggregate.hosts:
            raise Conflict(f"Aggregate {number} is not empty: it has {len(aggregate.hosts)} hosts.")
        await aggregates.delete_aggregate(tx, aggregate)

    await parts.database.transact(remove)
    return Answer()


Change = Callable[[Transaction, Aggregate, Mapping[str, Any]], Awaitable[Aggregate]]


async def _add_host(tx: Transaction, aggregate: Aggregate, asked: Mapping[str, Any]) -> Aggregate:
    # The host's lock keeps two aggregates from taking it into two zones at once.
    host = await hosts.lock_host(tx, asked["host"])
    if host.name in aggregate.hosts:
        raise Conflict(f"Aggregate {aggregate.id} already has host {host.name}.")
    await _check_zones(tx, replace(aggregate, hosts=(*aggregate.hosts, host.name)), (host.name,), Conflict)
    return await aggregates.add_host(tx, aggregate, host)


async def _remove_host(tx: Transaction, aggregate: Aggregate, asked: Mapping[str, Any]) -> Aggregate:
    host = await hosts.lock_host(tx, asked["host"])
    if host.name not in aggregate.hosts:
        raise NotFound(f"Host {host.name} is not in aggregate {aggregate.id}.")
    kept = tuple(name for name in aggregate.hosts if name != host.name)
    await _check_zones(tx, replace(aggregate, hosts=kept), (host.name,), Conflict)
    return await aggregates.remove_host(tx, aggregate, host)


async def _set_metadata(tx: Transaction, aggregate: Aggregate, asked: Mapping[str, Any]) -> Aggregate:
    if asked["metadata"].get(ZONE_KEY) == "":
        raise BadRequest(f"Aggregate {aggregate.id} does not support empty named availability zone.")
    merged = {**aggregate.metadata, **asked["metadata"]}
    kept = {key: value for key, value in merged.items() if value is not None}
    return await _rewrite(tx, aggregate, replace(aggregate, metadata=kept))


_ACTIONS: Final[Mapping[str, Change]] = {
    "add_host": _add_host,
    "remove_host": _remove_host,
    "set_metadata": _set_metadata,
}


async def action(call: Call, parts: ComputeParts) -> Answer:
    """POST /os-aggregates/{aggregate_id}/action"""
    name, asked = next(iter(call.body.items()))
    rule = f"os_compute_api:os-aggregates:{name}"
    if not call.allows(rule, {}):
        raise Forbidden(f"Policy doesn't allow {rule} to be performed.")
    number = _number(call)

    async def change(tx: Transaction) -> Aggregate:
        return await _ACTIONS[name](tx, await _locked(tx, number), asked)

    return _answer(call, await parts.database.transact(change))


def _answer(call: Call, aggregate: Aggregate) -> Answer:
    return Answer(body={"aggregate": FULL.at(call.version, call.allows)(aggregate)})
