"""Networks."""

from collections.abc import Mapping, Sequence
from typing import Any

from kilonova.companions.network.faults import NetworkInUse, NetworkNotFound
from kilonova.companions.network.lists import narrowing
from kilonova.companions.network.ownership import may_see, owner_of, require, require_attributes
from kilonova.companions.network.parts import NETWORK, NetworkParts
from kilonova.companions.network.schema import without_nulls
from kilonova.companions.network.subnets import of_networks
from kilonova.domain.clock import new_uuid, now
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage.database import Transaction
from kilonova.storage.networks import NETWORKS, SUBNETS, Hold, Record, reachable_networks
from kilonova.storage.ports import PORTS

_TRUTHS = ("admin_state_up", "shared", "router:external", "port_security_enabled")
_DEFAULTS: Mapping[str, Any] = {
    "description": "",
    "admin_state_up": True,
    "shared": False,
    "router:external": False,
    "mtu": 1500,
    "port_security_enabled": True,
    "availability_zone_hints": [],
    "provider:network_type": None,
    "provider:physical_network": None,
    "provider:segmentation_id": None,
    "tags": [],
    "revision_number": 1,
}


async def visible_network(transaction: Transaction, call: Call, network_id: str, hold: Hold = "") -> Record:
    """The network, if the caller may see it. Raises NetworkNotFound."""
    network = await NETWORKS.find(transaction, network_id, hold)
    if network is None or not may_see(call.caller, network):
        raise NetworkNotFound(f"Network {network_id} could not be found.")
    return network


async def list_networks(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/networks."""
    async with parts.database.read() as transaction:
        if call.caller.is_admin:
            found = await NETWORKS.select(transaction, narrowing(call, ("id", "name")))
        else:
            found = await reachable_networks(transaction, call.caller.project_id)
        return NETWORK.listed(call, await _with_subnets(transaction, found))


async def show_network(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/networks/{id}."""
    async with parts.database.read() as transaction:
        network = await visible_network(transaction, call, call.path["id"])
        return NETWORK.shown(call, (await _with_subnets(transaction, [network]))[0])


async def create_networks(call: Call, parts: NetworkParts) -> Answer:
    """POST /v2.0/networks."""
    records = [_new(call, body) for body in NETWORK.bodies(call)]

    async def work(transaction: Transaction) -> None:
        for record in records:
            await NETWORKS.insert(transaction, record)

    await parts.database.transact(work)
    return NETWORK.born(call, records)


async def update_network(call: Call, parts: NetworkParts) -> Answer:
    """PUT /v2.0/networks/{id}."""
    body = without_nulls(call.body["network"])

    async def work(transaction: Transaction) -> Record:
        network = await visible_network(transaction, call, call.path["id"], "change")
        require(call, "update_network", network)
        require_attributes(call, "update_network", body, network.project_id)
        changed = network.changed(now(), body.get("name"), **_attributes(body))
        await NETWORKS.save(transaction, changed)
        return (await _with_subnets(transaction, [changed]))[0]

    return NETWORK.shown(call, await parts.database.transact(work))


async def delete_network(call: Call, parts: NetworkParts) -> Answer:
    """DELETE /v2.0/networks/{id}; its subnets go with it."""

    async def work(transaction: Transaction) -> None:
        network = await visible_network(transaction, call, call.path["id"], "remove")
        require(call, "delete_network", network)
        if await PORTS.exists(transaction, "network_id", network.id):
            raise NetworkInUse(f"Network {network.id} still has ports.")
        subnets = (await of_networks(transaction, [network.id])).get(network.id, [])
        await SUBNETS.delete(transaction, [subnet.id for subnet in subnets])
        await NETWORKS.delete(transaction, [network.id])

    await parts.database.transact(work)
    return Answer(204)


def _new(call: Call, body: Mapping[str, Any]) -> Record:
    project_id = owner_of(call, body)
    require_attributes(call, "create_network", body, project_id)
    moment = now()
    fields = {**_DEFAULTS, **_attributes(body)}
    return Record(new_uuid(), project_id, body.get("name", ""), fields, moment, moment)


def _attributes(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the body says beyond the columns, with truths and numbers as such."""
    found = {name: value for name, value in body.items() if name in _DEFAULTS}
    found.update({name: truth(found[name]) for name in _TRUTHS if name in found})
    if "mtu" in found:
        found["mtu"] = int(found["mtu"])
    return found


async def _with_subnets(transaction: Transaction, networks: Sequence[Record]) -> list[Record]:
    subnets = await of_networks(transaction, [network.id for network in networks])
    return [network.showing(subnets=[subnet.id for subnet in subnets.get(network.id, ())]) for network in networks]
