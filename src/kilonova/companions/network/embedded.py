"""The embedded network service as operations and the compute API see it. It knows nothing of HTTP beyond who the caller is.

A port that is made for a server has an id that follows from the server and the card's place: a call that is repeated after a
crash finds what it made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid5

from kilonova.companions.network.contract import Binding
from kilonova.companions.network.faults import (
    MacAddressGenerationFailure,
    NetworkNotFound,
    PortInUse,
    PortNotFound,
)
from kilonova.companions.network.groups import DEFAULT, group_names, groups_named
from kilonova.companions.network.ownership import may_see
from kilonova.companions.network.ports import MAC_TRIES, PortWish, make_port, subnet_with
from kilonova.companions.network.subnets import of_networks
from kilonova.domain.clock import now
from kilonova.domain.errors import BadRequest, Conflict, Forbidden, NotFound
from kilonova.domain.network import AskedNetwork, ServerPort
from kilonova.http.calls import Caller
from kilonova.storage.database import Database, Duplicate, Transaction
from kilonova.storage.networks import NETWORKS, Record, reachable_networks
from kilonova.storage.ports import PORTS, delete_ports, taken_addresses

_SPACE: Final = UUID("0c0f8a9e-6f0b-4a53-8a0d-0a5d7f4c1b52")
_DEFAULT_ZONE: Final = "nova"


def port_id_of(server_id: str, place: int) -> str:
    """The id of the port that is made for a server's card."""
    return str(uuid5(_SPACE, f"{server_id}/{place}"))


class EmbeddedNetwork:
    """The NetworkService on our own tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check(self, caller: Caller, asked: Sequence[AskedNetwork]) -> tuple[AskedNetwork, ...]:
        """See NetworkService. Each answer also names the network of its port."""
        port_ids = [entry.port_id for entry in asked if entry.port_id]
        twice = next((port_id for port_id in port_ids if port_ids.count(port_id) > 1), None)
        if twice is not None:
            raise BadRequest(f"Port {twice} is asked for more than once.")
        async with self._database.read() as transaction:
            return tuple([await _checked(transaction, caller, entry) for entry in asked])

    async def automatic(self, caller: Caller) -> tuple[AskedNetwork, ...]:
        """See NetworkService. External networks, and those without a subnet, are none that a server could use."""
        async with self._database.read() as transaction:
            found = await reachable_networks(transaction, caller.project_id)
            inner = [network for network in found if not network.fields["router:external"]]
            subnets = await of_networks(transaction, [network.id for network in inner])
        usable = [network for network in inner if subnets.get(network.id)]
        if len(usable) > 1:
            raise Conflict(f"The project can use {len(usable)} networks: say which of them.")
        return tuple(AskedNetwork(network_id=network.id) for network in usable)

    async def name_groups(self, caller: Caller, asked: Sequence[str]) -> tuple[str, ...]:
        """See NetworkService. The default group is there even before it is made."""
        others = [name for name in dict.fromkeys(asked) if name != DEFAULT]
        if not others:
            return tuple(dict.fromkeys(asked)) or (DEFAULT,)
        async with self._database.read() as transaction:
            return await group_names(transaction, caller.project_id, asked)

    async def bind(self, binding: Binding) -> tuple[ServerPort, ...]:
        """See NetworkService. All cards are bound, or none is."""
        if not binding.asked:
            return ()

        async def work(transaction: Transaction) -> tuple[ServerPort, ...]:
            return await _bound(transaction, binding)

        for _ in range(MAC_TRIES):
            try:
                return await self._database.transact(work)
            except Duplicate:
                # A hardware address met another one, or the same server is bound twice at once: the next try sees it.
                continue
            except (NotFound, BadRequest) as error:
                raise Conflict(f"What the server asked of the network is gone: {error}") from error
        raise MacAddressGenerationFailure(f"No free hardware address was found for server {binding.server_id}.")

    async def release(self, server_id: str) -> None:
        """See NetworkService."""

        async def work(transaction: Transaction) -> None:
            ports = await PORTS.select(transaction, {"device_id": [server_id]}, "change")
            await delete_ports(transaction, [port.id for port in ports if port.fields.get("made")])
            for port in ports:
                if not port.fields.get("made"):
                    await PORTS.save(transaction, port.changed(now(), **_UNBOUND))

        await self._database.transact(work)


_UNBOUND: Final[Mapping[str, Any]] = {"device_id": "", "device_owner": "", "binding:host_id": "", "status": "DOWN"}


async def _checked(transaction: Transaction, caller: Caller, asked: AskedNetwork) -> AskedNetwork:
    if asked.port_id:
        port = await PORTS.find(transaction, asked.port_id)
        if port is None or port.project_id != caller.project_id:
            # Not even an administrator's server may use another project's port: it would outlive the right to it.
            raise BadRequest(f"Port {asked.port_id} could not be found.")
        if port.fields["device_id"]:
            raise PortInUse(f"Port {port.id} is still in use.")
        if not port.fields["fixed_ips"]:
            raise BadRequest(f"Port {port.id} has no address, which a server's port needs.")
        return AskedNetwork(port.fields["network_id"], port.id, asked.fixed_ip, asked.tag)
    network = await NETWORKS.find(transaction, asked.network_id)
    if network is None or not may_see(caller, network):
        raise BadRequest(f"Network {asked.network_id} could not be found.")
    if network.fields["router:external"] and not network.fields["shared"] and not caller.is_admin:
        raise Forbidden(f"Network {network.id} is external: servers are attached to it only by administrators.")
    subnets = (await of_networks(transaction, [network.id])).get(network.id, [])
    if not subnets:
        raise BadRequest(f"Network {network.id} has no subnet, which a server's network needs.")
    if asked.fixed_ip:
        await _check_address(transaction, network, subnets, asked.fixed_ip)
    return asked


async def _check_address(transaction: Transaction, network: Record, subnets: Sequence[Record], address: str) -> None:
    try:
        subnet = subnet_with(subnets, address, network.id)
    except ValueError as error:
        raise BadRequest(f"Fixed IP {address} is no address.") from error
    if await taken_addresses(transaction, subnet.id, [address]):
        raise BadRequest(f"Fixed IP {address} of network {network.id} is in use.")


@dataclass(frozen=True, slots=True)
class _Ground:
    """What the cards of one binding stand on: networks by id, their subnets, and the groups of ports that are made."""

    networks: Mapping[str, Record]
    subnets: Mapping[str, Sequence[Record]]
    groups: Sequence[str]


async def _bound(transaction: Transaction, binding: Binding) -> tuple[ServerPort, ...]:
    server_id = binding.server_id
    ids = [entry.port_id or port_id_of(server_id, place) for place, entry in enumerate(binding.asked)]
    present = {port.id: port for port in await PORTS.select(transaction, {"id": ids}, "change")}
    ground = await _ground(transaction, binding, ids, present)
    cards = []
    for port_id, entry in zip(ids, binding.asked, strict=True):
        port = present.get(port_id)
        if port is not None:
            port = await _held(transaction, binding, port)
        elif entry.port_id:
            raise PortNotFound(f"Port {entry.port_id} could not be found.")
        else:
            port = await _made(transaction, binding, ground, (port_id, entry))
        cards.append(_card(port, ground.networks[port.fields["network_id"]], entry.tag))
    return tuple(cards)


async def _ground(transaction: Transaction, binding: Binding, ids: Sequence[str], present: Mapping[str, Record]) -> _Ground:
    to_make = [entry for port_id, entry in zip(ids, binding.asked, strict=True) if port_id not in present]
    made_on = {entry.network_id for entry in to_make if not entry.port_id}
    needed = made_on | {port.fields["network_id"] for port in present.values()}
    # Networks before groups, always: removals take them in the same order.
    networks = {network.id: network for network in await NETWORKS.select(transaction, {"id": sorted(needed)}, "use")}
    gone = needed - networks.keys()
    if gone:
        raise NetworkNotFound(f"Network {min(gone)} could not be found.")
    if not made_on:
        return _Ground(networks, {}, ())
    subnets = await of_networks(transaction, sorted(made_on))
    groups = await groups_named(transaction, binding.project_id, binding.security_groups)
    return _Ground(networks, subnets, groups)


def _device(binding: Binding) -> dict[str, Any]:
    return {
        "device_id": binding.server_id,
        "device_owner": f"compute:{binding.zone or _DEFAULT_ZONE}",
        "binding:host_id": binding.host,
        "status": "ACTIVE",
    }


async def _held(transaction: Transaction, binding: Binding, port: Record) -> Record:
    """A port that exists, bound to the server's present host."""
    if port.fields["device_id"] not in ("", binding.server_id):
        raise PortInUse(f"Port {port.id} is still in use.")
    wanted = _device(binding)
    if wanted.items() <= port.fields.items():
        return port
    changed = port.changed(now(), **wanted)
    await PORTS.save(transaction, changed)
    return changed


async def _made(transaction: Transaction, binding: Binding, ground: _Ground, card: tuple[str, AskedNetwork]) -> Record:
    port_id, asked = card
    network = ground.networks[asked.network_id]
    subnets = ground.subnets.get(network.id, [])
    if not subnets:
        raise BadRequest(f"Network {network.id} has no subnet.")
    secured = network.fields["port_security_enabled"]
    device = _device(binding)
    wish = PortWish(
        id=port_id,
        project_id=binding.project_id,
        network=network,
        device_id=device.pop("device_id"),
        fixed_ips=[{"ip_address": asked.fixed_ip}] if asked.fixed_ip else None,
        security_groups=ground.groups if secured else (),
        fields={**device, "port_security_enabled": secured, "made": True},
    )
    return await make_port(transaction, wish, subnets)


def _card(port: Record, network: Record, tag: str) -> ServerPort:
    fixed_ips = tuple({**entry, "version": 6 if ":" in entry["ip_address"] else 4} for entry in port.fields["fixed_ips"])
    made = bool(port.fields.get("made"))
    return ServerPort(port.id, network.id, network.name, port.fields["mac_address"], fixed_ips, made, tag)
