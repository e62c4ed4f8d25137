"""Ports as rows, and the addresses that they hold: a row is an address taken, so that no two ports ever have the same one."""

from collections.abc import Collection as Items
from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, select, text

from kilonova.storage.database import Transaction
from kilonova.storage.networks import Collection
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import port_addresses, ports

PORTS: Final = Collection(ports, ("network_id", "device_id", "mac_address"))

# Losing a race must not end the transaction, as an error would on PostgreSQL.
_TAKE: Final = Statement(
    text(
        "INSERT INTO port_addresses (subnet_id, address, port_id) VALUES (:subnet_id, :address, :port_id) ON CONFLICT DO NOTHING"
    )
)
_TAKEN: Final = Statement(
    select(port_addresses.c.address).where(
        port_addresses.c.subnet_id == bindparam("subnet_id"), any_of(port_addresses.c.address, "addresses")
    )
)
_IN_USE: Final = Statement(select(port_addresses.c.port_id).where(port_addresses.c.subnet_id == bindparam("subnet_id")).limit(1))
_FREE_ALL: Final = Statement(delete(port_addresses).where(any_of(port_addresses.c.port_id, "port_ids")))
_FREE: Final = Statement(
    delete(port_addresses).where(port_addresses.c.port_id == bindparam("port_id"), any_of(port_addresses.c.address, "addresses"))
)


async def take_address(transaction: Transaction, subnet_id: str, address: str, port_id: str) -> bool:
    """Take one address of a subnet for a port; False where another port has it."""
    values = {"subnet_id": subnet_id, "address": address, "port_id": port_id}
    return await transaction.run(_TAKE, values) == 1


async def taken_addresses(transaction: Transaction, subnet_id: str, addresses: Sequence[str]) -> set[str]:
    """Which of these addresses ports have."""
    found = await transaction.rows(_TAKEN, {"subnet_id": subnet_id, "addresses": list(addresses)})
    return {row[0] for row in found}


async def subnet_in_use(transaction: Transaction, subnet_id: str) -> bool:
    """Whether any port has an address of the subnet."""
    return await transaction.one(_IN_USE, {"subnet_id": subnet_id}) is not None


async def free_addresses(transaction: Transaction, port_id: str, addresses: Items[str]) -> None:
    """Give back some addresses of one port."""
    if addresses:
        await transaction.run(_FREE, {"port_id": port_id, "addresses": list(addresses)})


async def delete_ports(transaction: Transaction, port_ids: Sequence[str]) -> None:
    """Remove ports and give back all their addresses."""
    if port_ids:
        await transaction.run(_FREE_ALL, {"port_ids": list(port_ids)})
        await PORTS.delete(transaction, port_ids)
