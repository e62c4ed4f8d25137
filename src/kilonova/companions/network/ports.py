"""Making ports and giving them addresses, inside a transaction of whoever asks: the HTTP face or an operation."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any, Final

from kilonova.companions.network.addresses import hardware_based, probes, ranges_of, windows
from kilonova.companions.network.faults import (
    InvalidInput,
    InvalidIpForNetwork,
    InvalidIpForSubnet,
    IpAddressAlreadyAllocated,
    IpAddressGenerationFailure,
)
from kilonova.domain.clock import now
from kilonova.storage.database import Transaction
from kilonova.storage.networks import Record
from kilonova.storage.ports import PORTS, take_address, taken_addresses

SELF_CONFIGURED: Final = frozenset({"slaac", "dhcpv6-stateless"})
MAC_TRIES: Final = 8
"""How often a port that met another one's random hardware address is made anew."""

FixedIp = dict[str, str]
"""`ip_address` and `subnet_id`."""


@dataclass(frozen=True, slots=True)
class PortWish:
    """A port to make. `fixed_ips` None leaves the addresses to us; an entry has `ip_address`, `subnet_id` or both.

    `fields` are further attributes by the API's names.
    """

    id: str
    project_id: str
    network: Record
    name: str = ""
    mac_address: str = ""
    device_id: str = ""
    fixed_ips: Sequence[Mapping[str, str]] | None = None
    security_groups: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


async def make_port(transaction: Transaction, wish: PortWish, subnets: Sequence[Record]) -> Record:
    """Write a port with its addresses. `subnets` are all those of its network, oldest first, which nobody can remove meanwhile.

    Raises Duplicate for a hardware address or id in use (run the transaction again where the hardware address was left to us),
    InvalidInput, InvalidIpForNetwork, InvalidIpForSubnet, IpAddressAlreadyAllocated, IpAddressGenerationFailure.
    """
    mac_address = wish.mac_address or random_mac()
    card = Card(wish.id, mac_address, wish.network.id)
    fixed_ips = await give_addresses(transaction, card, subnets, wish.fixed_ips)
    moment = now()
    fields = {
        "network_id": wish.network.id,
        "device_id": wish.device_id,
        "mac_address": mac_address,
        "fixed_ips": fixed_ips,
        "security_groups": list(wish.security_groups),
        "description": "",
        "admin_state_up": True,
        "device_owner": "",
        "status": "DOWN",
        "tags": [],
        "revision_number": 1,
        **wish.fields,
    }
    record = Record(wish.id, wish.project_id, wish.name, fields, moment, moment)
    await PORTS.insert(transaction, record)
    return record


def random_mac() -> str:
    """A hardware address with the community's usual prefix."""
    return "fa:16:3e:" + random.randbytes(3).hex(":")


@dataclass(frozen=True, slots=True)
class Card:
    """Who takes addresses."""

    port_id: str
    mac_address: str
    network_id: str


async def give_addresses(
    transaction: Transaction, card: Card, subnets: Sequence[Record], asked: Sequence[Mapping[str, str]] | None
) -> list[FixedIp]:
    """Take the addresses asked for, or one of each IP version that the network has. Raises as make_port does."""
    if asked is None:
        return await _usual_addresses(transaction, card, subnets)
    return [await _asked_address(transaction, card, subnets, entry) for entry in asked]


async def _usual_addresses(transaction: Transaction, card: Card, subnets: Sequence[Record]) -> list[FixedIp]:
    given: list[FixedIp] = []
    for version in (4, 6):
        of_version = [subnet for subnet in subnets if subnet.fields["ip_version"] == version]
        pooled = [subnet for subnet in of_version if subnet.fields["ipv6_address_mode"] not in SELF_CONFIGURED]
        for subnet in pooled:
            address = await _next_free(transaction, card, subnet)
            if address:
                given.append({"subnet_id": subnet.id, "ip_address": address})
                break
        else:
            if pooled:
                raise IpAddressGenerationFailure(f"Network {card.network_id} has no free IPv{version} address left.")
        # A host that hears a router configures itself, whether or not the address was wanted.
        given += [await _one_of(transaction, card, subnet) for subnet in of_version if subnet not in pooled]
    return given


async def _asked_address(transaction: Transaction, card: Card, subnets: Sequence[Record], asked: Mapping[str, str]) -> FixedIp:
    wanted = asked.get("ip_address")
    if "subnet_id" not in asked:
        if wanted is None:
            raise InvalidInput("fixed_ips: an entry needs ip_address or subnet_id.")
        return await _exactly(transaction, card, subnet_with(subnets, wanted, card.network_id), wanted)
    subnet = next((entry for entry in subnets if entry.id == asked["subnet_id"]), None)
    if subnet is None:
        raise InvalidInput(f"fixed_ips: network {card.network_id} has no subnet {asked['subnet_id']}.")
    if wanted is None:
        return await _one_of(transaction, card, subnet)
    return await _exactly(transaction, card, subnet, wanted)


async def _one_of(transaction: Transaction, card: Card, subnet: Record) -> FixedIp:
    if subnet.fields["ipv6_address_mode"] in SELF_CONFIGURED:
        return await _exactly(transaction, card, subnet, hardware_based(subnet.fields["cidr"], card.mac_address))
    address = await _next_free(transaction, card, subnet)
    if not address:
        raise IpAddressGenerationFailure(f"Subnet {subnet.id} has no free address left.")
    return {"subnet_id": subnet.id, "ip_address": address}


def subnet_with(subnets: Sequence[Record], address: str, network_id: str) -> Record:
    """The subnet that has the address. Raises InvalidIpForNetwork."""
    for subnet in subnets:
        if holds(subnet, address):
            return subnet
    raise InvalidIpForNetwork(f"IP address {address} is in no subnet of network {network_id}.")


def holds(subnet: Record, address: str) -> bool:
    """Whether a port may have the address: in the subnet, and neither its name nor its broadcast address."""
    network = ip_network(subnet.fields["cidr"])
    number = ip_address(address)
    if number not in network:
        return False
    if network.version == 4 and network.prefixlen < 31:
        return number not in (network.network_address, network.broadcast_address)
    return network.version == 4 or network.prefixlen > 126 or number != network.network_address


async def _exactly(transaction: Transaction, card: Card, subnet: Record, wanted: str) -> FixedIp:
    address = str(ip_address(wanted))
    if not holds(subnet, address):
        raise InvalidIpForSubnet(f"IP address {address} is not one of subnet {subnet.id} ({subnet.fields['cidr']}).")
    if not await take_address(transaction, subnet.id, address, card.port_id):
        raise IpAddressAlreadyAllocated(f"IP address {address} of subnet {subnet.id} is in use.")
    return {"subnet_id": subnet.id, "ip_address": address}


async def _next_free(transaction: Transaction, card: Card, subnet: Record) -> str:
    """A free address of the subnet's pools, taken; "" where there is none."""
    ranges = ranges_of(subnet.fields["allocation_pools"])
    for address in probes(ranges, card.port_id):
        if await take_address(transaction, subnet.id, address, card.port_id):
            return address
    for window in windows(ranges, card.port_id):
        taken = await taken_addresses(transaction, subnet.id, window)
        for address in window:
            if address not in taken and await take_address(transaction, subnet.id, address, card.port_id):
                return address
    return ""
