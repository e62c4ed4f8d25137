"""What a server asks of the network and what it got, in words that any network service can answer."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskedNetwork:
    """One network card as asked: a network (with an address, perhaps) or a port that exists. Empty text means not given."""

    network_id: str = ""
    port_id: str = ""
    fixed_ip: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True)
class ServerPort:
    """One network card as it is. `fixed_ips` have `ip_address`, `subnet_id` and `version` (4 or 6); `made` is false for a
    port that the user brought, which outlives the server.
    """

    id: str
    network_id: str
    network_name: str
    mac_address: str
    fixed_ips: tuple[Mapping[str, str | int], ...]
    made: bool = True
    tag: str = ""
