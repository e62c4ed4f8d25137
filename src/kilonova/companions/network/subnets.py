"""What a subnet may be: its block of addresses, gateway and pools, checked and filled in."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import pairwise
from typing import Any

from kilonova.companions.network.addresses import Range, ranges_of
from kilonova.companions.network.faults import (
    GatewayConflictWithAllocationPools,
    InvalidAllocationPool,
    InvalidInput,
    OutOfBoundsAllocationPool,
    OverlappingAllocationPools,
)
from kilonova.storage.database import Transaction
from kilonova.storage.networks import SUBNETS, Record

Block = IPv4Network | IPv6Network
Pools = list[dict[str, str]]


async def of_networks(transaction: Transaction, network_ids: Sequence[str]) -> dict[str, list[Record]]:
    """Subnets by network, oldest first; networks without any are not in it."""
    found: dict[str, list[Record]] = {}
    for subnet in await SUBNETS.select(transaction, {"network_id": network_ids}):
        found.setdefault(subnet.fields["network_id"], []).append(subnet)
    for subnets in found.values():
        subnets.sort(key=lambda subnet: (subnet.created_at, subnet.id))
    return found


def block_of(cidr: str, version: int) -> Block:
    """The block, if it is one of the version. Raises InvalidInput."""
    try:
        block = ip_network(cidr)
    except ValueError as error:
        raise InvalidInput(f"cidr: {error}.") from error
    if block.version != version or "/" not in cidr:
        raise InvalidInput(f"cidr: {cidr} is no IPv{version} block with a prefix length.")
    return block


def check_apart(block: Block, others: Sequence[Record]) -> None:
    """Raises InvalidInput where the block shares addresses with another subnet of the network."""
    for other in others:
        present = ip_network(other.fields["cidr"])
        # The version is compared here as well because each class only overlaps with its like.
        if (isinstance(block, IPv4Network) and isinstance(present, IPv4Network) and block.overlaps(present)) or (
            isinstance(block, IPv6Network) and isinstance(present, IPv6Network) and block.overlaps(present)
        ):
            raise InvalidInput(f"cidr: {block} overlaps with subnet {other.id} ({present}) of the same network.")


def first_address(block: Block) -> int:
    """The first address that a host may have."""
    tight = block.max_prefixlen - block.prefixlen < 2
    return int(block.network_address) + (0 if tight else 1)


def last_address(block: Block) -> int:
    """The last address that a host may have."""
    tight = block.max_prefixlen - block.prefixlen < 2
    return int(block.broadcast_address) - (1 if block.version == 4 and not tight else 0)


def usual_gateway(block: Block) -> str | None:
    """The first address, except in a block that has only one."""
    return None if block.num_addresses == 1 else str(_address(block, first_address(block)))


def check_gateway(block: Block, gateway: str | None) -> None:
    """Raises InvalidInput for an IPv4 gateway outside of the block; an IPv6 one may be link-local."""
    if gateway is None:
        return
    address = ip_address(gateway)
    if address.version != block.version:
        raise InvalidInput(f"gateway_ip: {gateway} is no IPv{block.version} address.")
    if address.version == 4 and not first_address(block) <= int(address) <= last_address(block):
        raise InvalidInput(f"gateway_ip: {gateway} is not an address of {block}.")


def usual_pools(block: Block, gateway: str | None) -> Pools:
    """All addresses of the block besides its gateway."""
    first, last = first_address(block), last_address(block)
    middle = int(ip_address(gateway)) if gateway is not None else -1
    if not first <= middle <= last:
        return [_pool(block, first, last)] if first <= last else []
    parts = ((first, middle - 1), (middle + 1, last))
    return [_pool(block, begin, end) for begin, end in parts if begin <= end]


def checked_pools(block: Block, gateway: str | None, pools: Sequence[Mapping[str, str]]) -> Pools:
    """Pools as asked, in order. Raises InvalidAllocationPool, OutOfBoundsAllocationPool, OverlappingAllocationPools,
    GatewayConflictWithAllocationPools.
    """
    try:
        ranges = sorted(ranges_of(pools), key=lambda entry: entry.first)
    except ValueError as error:
        raise InvalidAllocationPool(f"allocation_pools: {error}.") from error
    for entry in ranges:
        _check_range(block, gateway, entry)
    for lower, higher in pairwise(ranges):
        if higher.first <= lower.last:
            raise OverlappingAllocationPools(f"allocation_pools: two pools of {block} share addresses.")
    return [_pool(block, entry.first, entry.last) for entry in ranges]


def _check_range(block: Block, gateway: str | None, entry: Range) -> None:
    if entry.version != block.version or entry.first > entry.last:
        raise InvalidAllocationPool(f"allocation_pools: start and end must be a range of IPv{block.version} addresses.")
    shown = " to ".join(_pool(block, entry.first, entry.last).values())
    if entry.first < first_address(block) or entry.last > last_address(block):
        raise OutOfBoundsAllocationPool(f"allocation_pools: {shown} leaves {block}.")
    if gateway is not None and entry.first <= int(ip_address(gateway)) <= entry.last:
        raise GatewayConflictWithAllocationPools(f"allocation_pools: {shown} has the gateway {gateway} in it.")


def _address(block: Block, number: int) -> Any:
    return type(block.network_address)(number)


def _pool(block: Block, first: int, last: int) -> dict[str, str]:
    return {"start": str(_address(block, first)), "end": str(_address(block, last))}
