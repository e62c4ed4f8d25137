"""Ports."""

from collections.abc import Mapping, Sequence
from typing import Any

from kilonova.companions.network.faults import (
    InvalidInput,
    MacAddressGenerationFailure,
    MacAddressInUse,
    PortNotFound,
    SecurityGroupNotFound,
)
from kilonova.companions.network.groups import default_group
from kilonova.companions.network.handlers.networks import visible_network
from kilonova.companions.network.lists import narrowing
from kilonova.companions.network.ownership import own, owner_of, owns, require, require_attributes
from kilonova.companions.network.parts import PORT, NetworkParts
from kilonova.companions.network.ports import MAC_TRIES, Card, PortWish, give_addresses, make_port
from kilonova.companions.network.schema import without_nulls
from kilonova.companions.network.subnets import of_networks
from kilonova.domain.clock import new_uuid, now
from kilonova.http.calls import Answer, Call
from kilonova.http.shapes import truth
from kilonova.storage.database import Duplicate, Transaction
from kilonova.storage.networks import NETWORKS, Hold, Record
from kilonova.storage.ports import PORTS, delete_ports, free_addresses
from kilonova.storage.security_groups import GROUPS

_PLAIN = (
    "description",
    "device_owner",
    "allowed_address_pairs",
    "extra_dhcp_opts",
    "binding:host_id",
    "binding:profile",
    "binding:vnic_type",
    "tags",
)
_TRUTHS = ("admin_state_up", "port_security_enabled")


async def list_ports(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/ports."""
    match = narrowing(call, ("id", "name", "network_id", "device_id", "mac_address"))
    async with parts.database.read() as transaction:
        found = await PORTS.select(transaction, match)
    return PORT.listed(call, [port for port in found if owns(call.caller, port)])


async def show_port(call: Call, parts: NetworkParts) -> Answer:
    """GET /v2.0/ports/{id}."""
    async with parts.database.read() as transaction:
        return PORT.shown(call, await _own_port(transaction, call))


async def _own_port(transaction: Transaction, call: Call, hold: Hold = "") -> Record:
    port_id = call.path["id"]
    port = await PORTS.find(transaction, port_id, hold)
    return own(call, port, PortNotFound(f"Port {port_id} could not be found."))


async def create_ports(call: Call, parts: NetworkParts) -> Answer:
    """POST /v2.0/ports; of several all are made, or none."""
    bodies = PORT.bodies(call)

    async def work(transaction: Transaction) -> list[Record]:
        return [await _create(transaction, call, body) for body in bodies]

    for _ in range(MAC_TRIES):
        try:
            return PORT.born(call, await parts.database.transact(work))
        except Duplicate:
            # A random hardware address met another one; those that were asked for are looked for before.
            continue
    raise MacAddressGenerationFailure("No free hardware address was found.")


async def _create(transaction: Transaction, call: Call, body: Mapping[str, Any]) -> Record:
    network = await visible_network(transaction, call, body["network_id"], "use")
    project_id = owner_of(call, body)
    guarded = dict(body)
    if not any("ip_address" in entry for entry in body.get("fixed_ips", ())):
        guarded.pop("fixed_ips", None)
    require_attributes(call, "create_port", guarded, network.project_id)
    mac_address = body.get("mac_address", "").lower()
    if mac_address:
        await _check_mac(transaction, network.id, mac_address)
    secured = truth(body.get("port_security_enabled", network.fields["port_security_enabled"]))
    groups = await _groups(transaction, project_id, body.get("security_groups"), secured=secured)
    wish = PortWish(
        id=new_uuid(),
        project_id=project_id,
        network=network,
        name=body.get("name", ""),
        mac_address=mac_address,
        device_id=body.get("device_id", ""),
        fixed_ips=body.get("fixed_ips"),
        security_groups=groups,
        fields={**_attributes(body), "port_security_enabled": secured},
    )
    return await make_port(transaction, wish, (await of_networks(transaction, [network.id])).get(network.id, []))


async def _check_mac(transaction: Transaction, network_id: str, mac_address: str) -> None:
    if await PORTS.select(transaction, {"network_id": [network_id], "mac_address": [mac_address]}):
        raise MacAddressInUse(f"Network {network_id} has a port with hardware address {mac_address} already.")


async def _groups(transaction: Transaction, project_id: str, asked: Sequence[str] | None, *, secured: bool) -> Sequence[str]:
    """The security groups of a port: the ids asked for, or the project's default group where nothing was said."""
    if not secured:
        if asked:
            raise InvalidInput("security_groups: a port without port security has none.")
        return ()
    if asked is None:
        return [(await default_group(transaction, project_id)).id]
    known = {group.id for group in await GROUPS.select(transaction, {"id": asked, "project_id": [project_id]}, "use")}
    for group_id in asked:
        if group_id not in known:
            raise SecurityGroupNotFound(f"Security group {group_id} could not be found.")
    return asked


def _attributes(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the body says beyond columns, addresses and groups."""
    found = {name: body[name] for name in _PLAIN if name in body}
    found.update({name: truth(body[name]) for name in _TRUTHS if name in body})
    return found


async def update_port(call: Call, parts: NetworkParts) -> Answer:
    """PUT /v2.0/ports/{id}."""
    body = without_nulls(call.body["port"])

    async def work(transaction: Transaction) -> Record:
        port = await _own_port(transaction, call, "change")
        require(call, "update_port", port)
        network = await NETWORKS.find(transaction, port.fields["network_id"], "use")
        require_attributes(call, "update_port", body, network.project_id if network is not None else "")
        changes = _attributes(body)
        if "device_id" in body:
            changes["device_id"] = body["device_id"]
        mac_address = body.get("mac_address", port.fields["mac_address"]).lower()
        if mac_address != port.fields["mac_address"]:
            await _check_mac(transaction, port.fields["network_id"], mac_address)
            changes["mac_address"] = mac_address
        if "security_groups" in body or "port_security_enabled" in changes:
            secured = changes.get("port_security_enabled", port.fields.get("port_security_enabled", True))
            asked = body.get("security_groups", port.fields["security_groups"])
            changes["security_groups"] = list(await _groups(transaction, port.project_id, asked, secured=secured))
        if "fixed_ips" in body:
            changes["fixed_ips"] = await _moved(transaction, port, body["fixed_ips"])
        changed = port.changed(now(), body.get("name"), **changes)
        await PORTS.save(transaction, changed)
        return changed

    try:
        return PORT.shown(call, await parts.database.transact(work))
    except Duplicate as error:
        raise MacAddressInUse("Another port of the network has this hardware address.") from error


async def _moved(transaction: Transaction, port: Record, asked: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The port's addresses after it was asked to have these: it keeps what it has of them."""
    network_id = port.fields["network_id"]
    present = {entry["ip_address"]: entry for entry in port.fields["fixed_ips"]}
    kept = [present[entry["ip_address"]] for entry in asked if entry.get("ip_address") in present]
    left = {entry["ip_address"] for entry in kept}
    await free_addresses(transaction, port.id, present.keys() - left)
    new = [entry for entry in asked if entry.get("ip_address") not in present]
    subnets = (await of_networks(transaction, [network_id])).get(network_id, [])
    card = Card(port.id, port.fields["mac_address"], network_id)
    return [*kept, *await give_addresses(transaction, card, subnets, new)]


async def delete_port(call: Call, parts: NetworkParts) -> Answer:
    """DELETE /v2.0/ports/{id}."""

    async def work(transaction: Transaction) -> None:
        port = await _own_port(transaction, call, "remove")
        require(call, "delete_port", port)
        await delete_ports(transaction, [port.id])

    await parts.database.transact(work)
    return Answer(204)
