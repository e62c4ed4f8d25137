"""Subnets."""

from collections.abc import Mapping
from typing import Any

from kilonova.companions.network.faults import InvalidInput, NetworkNotFound, SubnetInUse, SubnetNotFound
from kilonova.companions.network.handlers.networks import visible_network
from kilonova.companions.network.lists import narrowing
from kilonova.companions.network.ownership import owner_of, owns, require
from kilonova.companions.network.parts import SUBNET, NetworkParts
from kilonova.companions.network.schema import without_nulls
from kilonova.companions.network.subnets import (
    block_of,
    check_apart,
    check_gateway,
    checked_pools,
    of_networks,
    usual_gateway,
    usual_pools,
)
from kilonova.domain.clock import new_uuid, now
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage.database import Transaction
from kilonova.storage.networks import NETWORKS, SUBNETS, Hold, Record, reachable_networks
from kilonova.storage.ports import subnet_in_use

_PLAIN = ("description", "dns_nameservers", "host_routes", "service_types")


async def list_subnets(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/subnets."""
    match = narrowing(call, ("id", "name", "network_id"))
    async with parts.database.read() as transaction:
        found = await SUBNETS.select(transaction, match)
        if not call.caller.is_admin:
            project_id = call.caller.project_id
            reachable = await reachable_networks(transaction, project_id)
            shared = {network.id for network in reachable if network.fields["shared"]}
            found = [subnet for subnet in found if subnet.project_id == project_id or subnet.fields["network_id"] in shared]
    return SUBNET.listed(call, found)


async def show_subnet(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/subnets/{id}."""
    async with parts.database.read() as transaction:
        return SUBNET.shown(call, await visible_subnet(transaction, call, call.path["id"]))


async def visible_subnet(transaction: Transaction, call: Call, subnet_id: str, hold: Hold = "") -> Record:
    """The subnet, if it or its shared network is the caller's to see. Raises SubnetNotFound."""
    subnet = await SUBNETS.find(transaction, subnet_id, hold)
    if subnet is not None and owns(call.caller, subnet):
        return subnet
    network = await NETWORKS.find(transaction, subnet.fields["network_id"]) if subnet is not None else None
    if subnet is None or network is None or not network.fields["shared"]:
        raise SubnetNotFound(f"Subnet {subnet_id} could not be found.")
    return subnet


async def create_subnets(call: Call, parts: NetworkParts) -> Answer:
    """POST /v2.0/subnets."""
    bodies = SUBNET.bodies(call)

    async def work(transaction: Transaction) -> list[Record]:
        return [await _create(transaction, call, body) for body in bodies]

    return SUBNET.born(call, await parts.database.transact(work))


async def _create(transaction: Transaction, call: Call, body: Mapping[str, Any]) -> Record:
    # Held, so that two subnets which overlap cannot both find the network empty.
    network = await visible_network(transaction, call, body["network_id"], "change")
    if not owns(call.caller, network):
        raise NetworkNotFound(f"Network {network.id} could not be found.")
    block = block_of(body["cidr"], int(body["ip_version"]))
    check_apart(block, (await of_networks(transaction, [network.id])).get(network.id, []))
    modes = {name: body.get(name) for name in ("ipv6_address_mode", "ipv6_ra_mode")}
    if block.version == 4 and any(modes.values()):
        raise InvalidInput("ipv6_address_mode and ipv6_ra_mode are for IPv6 subnets only.")
    if modes["ipv6_address_mode"] not in (None, "dhcpv6-stateful") and block.prefixlen != 64:
        raise InvalidInput("cidr: a subnet whose hosts configure themselves needs a prefix length of 64.")
    gateway = body["gateway_ip"] if "gateway_ip" in body else usual_gateway(block)
    check_gateway(block, gateway)
    asked = body.get("allocation_pools")
    moment = now()
    fields = {
        "network_id": network.id,
        "ip_version": block.version,
        "cidr": str(block),
        "gateway_ip": gateway,
        "allocation_pools": checked_pools(block, gateway, asked) if asked else usual_pools(block, gateway),
        "enable_dhcp": truth(body.get("enable_dhcp", True)),
        "description": "",
        "dns_nameservers": [],
        "host_routes": [],
        "service_types": [],
        **{name: body[name] for name in _PLAIN if name in body},
        **modes,
        "tags": body.get("tags", []),
        "revision_number": 1,
    }
    subnet = Record(new_uuid(), _owner(call, body, network), body.get("name", ""), fields, moment, moment)
    await SUBNETS.insert(transaction, subnet)
    return subnet


def _owner(call: Call, body: Mapping[str, Any], network: Record) -> str:
    """A subnet is its network's project's, also where an administrator makes it, unless it is said otherwise."""
    said = "project_id" in body or "tenant_id" in body
    return owner_of(call, body) if said else network.project_id


async def update_subnet(call: Call, parts: NetworkParts) -> Answer:
    """PUT /v2.0/subnets/{id}."""
    body = without_nulls(call.body["subnet"])

    async def work(transaction: Transaction) -> Record:
        subnet = await visible_subnet(transaction, call, call.path["id"], "change")
        require(call, "update_subnet", subnet)
        block = block_of(subnet.fields["cidr"], subnet.fields["ip_version"])
        changes = {name: body[name] for name in _PLAIN if name in body}
        if "enable_dhcp" in body:
            changes["enable_dhcp"] = truth(body["enable_dhcp"])
        gateway = body["gateway_ip"] if "gateway_ip" in body else subnet.fields["gateway_ip"]
        check_gateway(block, gateway)
        pools = checked_pools(block, gateway, body.get("allocation_pools", subnet.fields["allocation_pools"]))
        changed = subnet.changed(now(), body.get("name"), **changes, gateway_ip=gateway, allocation_pools=pools)
        await SUBNETS.save(transaction, changed)
        return changed

    return SUBNET.shown(call, await parts.database.transact(work))


async def delete_subnet(call: Call, parts: NetworkParts) -> Answer:
    """DELETE /v2.0/subnets/{id}."""

    async def work(transaction: Transaction) -> None:
        subnet = await visible_subnet(transaction, call, call.path["id"])
        require(call, "delete_subnet", subnet)
        # Whoever takes an address holds the network in use, so that none is taken behind the back of this check.
        await NETWORKS.find(transaction, subnet.fields["network_id"], "remove")
        if await subnet_in_use(transaction, subnet.id):
            raise SubnetInUse(f"Subnet {subnet.id} still has addresses of ports.")
        await SUBNETS.delete(transaction, [subnet.id])

    await parts.database.transact(work)
    return Answer(204)
