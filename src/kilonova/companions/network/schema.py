"""What bodies and query strings of the network API may hold."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kilonova.http.shapes import BOOLEAN, UUID, Field, Schema, Shape, either, integer, nullable, queries, text

NAME: Final = text(0, 255)
IP: Final = either({"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"})
MAC: Final = text(17, 17, r"^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")
CIDR: Final = text(1, 64)
TAG: Final = text(1, 255)
TAGS: Final[Schema] = {"type": "array", "items": TAG, "maxItems": 50, "uniqueItems": True}
IDS: Final[Schema] = {"type": "array", "items": UUID, "uniqueItems": True}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_STANDARD: Final[Mapping[str, Schema]] = {"name": NAME, "description": nullable(text(0, 1024))}
_BIRTH: Final[Mapping[str, Schema]] = {"project_id": text(1), "tenant_id": text(1)}
_TAGGED: Final[Mapping[str, Schema]] = {"tags": TAGS}

NETWORK: Final[Mapping[str, Schema]] = {
    **_STANDARD,
    "admin_state_up": BOOLEAN,
    "shared": BOOLEAN,
    "router:external": BOOLEAN,
    "mtu": integer(68, 65535),
    "port_security_enabled": BOOLEAN,
    "provider:network_type": nullable(text()),
    "provider:physical_network": nullable(text()),
    "provider:segmentation_id": nullable(integer(0)),
}
# There are no zones to hint at, but clients send the empty list.
NETWORK_BIRTH: Final[Mapping[str, Schema]] = {**_TAGGED, "availability_zone_hints": {"type": "array", "maxItems": 0}}

_POOL: Final = _object({"start": IP, "end": IP}, ("start", "end"))
_HOST_ROUTE: Final = _object({"destination": CIDR, "nexthop": IP}, ("destination", "nexthop"))
_MODE: Final = nullable({"enum": ["slaac", "dhcpv6-stateful", "dhcpv6-stateless"]})
SUBNET: Final[Mapping[str, Schema]] = {
    **_STANDARD,
    "enable_dhcp": BOOLEAN,
    "gateway_ip": nullable(IP),
    "allocation_pools": _list(_POOL),
    "dns_nameservers": nullable(_list(IP)),
    "host_routes": nullable(_list(_HOST_ROUTE)),
    "service_types": _list(text()),
}
SUBNET_BIRTH: Final[Mapping[str, Schema]] = {
    **_TAGGED,
    "network_id": UUID,
    "ip_version": {"enum": [4, 6, "4", "6"]},
    "cidr": CIDR,
    "ipv6_address_mode": _MODE,
    "ipv6_ra_mode": _MODE,
}

_FIXED_IP: Final = _object({"ip_address": IP, "subnet_id": UUID})
_PAIR: Final = _object({"ip_address": CIDR, "mac_address": MAC}, ("ip_address",))
_DHCP_OPTION: Final = _object(
    {"opt_name": text(1), "opt_value": nullable(text()), "ip_version": {"enum": [4, 6, "4", "6"]}}, ("opt_name",)
)
PORT: Final[Mapping[str, Schema]] = {
    **_STANDARD,
    "admin_state_up": BOOLEAN,
    "mac_address": MAC,
    "fixed_ips": _list(_FIXED_IP),
    "device_id": text(),
    "device_owner": text(),
    "security_groups": nullable(IDS),
    "allowed_address_pairs": _list(_PAIR),
    "extra_dhcp_opts": nullable(_list(_DHCP_OPTION)),
    "port_security_enabled": BOOLEAN,
    "binding:host_id": nullable(text()),
    "binding:profile": nullable({"type": "object"}),
    "binding:vnic_type": {"enum": ["normal"]},
}
PORT_BIRTH: Final[Mapping[str, Schema]] = {**_TAGGED, "network_id": UUID}

GROUP: Final[Mapping[str, Schema]] = {**_STANDARD, "stateful": BOOLEAN}
GROUP_BIRTH: Final = _TAGGED

RULE: Final[Mapping[str, Schema]] = {
    "description": nullable(text(0, 1024)),
    "security_group_id": UUID,
    "direction": {"enum": ["ingress", "egress"]},
    "ethertype": nullable({"enum": ["IPv4", "IPv6"]}),
    "protocol": nullable(either(text(1, 20), integer(0, 255))),
    "port_range_min": nullable(integer(0, 65535)),
    "port_range_max": nullable(integer(0, 65535)),
    "remote_ip_prefix": nullable(CIDR),
    "remote_group_id": nullable(UUID),
}


def birth(one: str, properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Shape:
    """The body of a create: `one` resource, or a list of them under its plural."""
    item = _object({**_BIRTH, **properties}, required)
    fields = [Field(one, item), Field(f"{one}s", {"type": "array", "items": item, "minItems": 1, "maxItems": 1000})]
    return Shape(fields, more={"minProperties": 1, "maxProperties": 1})


def change(one: str, properties: Mapping[str, Schema]) -> Shape:
    """The body of an update."""
    return Shape([Field(one, _object(properties), required=True)])


TAG_LIST: Final = Shape([Field("tags", TAGS, required=True)])

_PAGING: Final[Mapping[str, Schema]] = {
    "fields": {"type": "string"},
    "limit": {"type": "string", "pattern": r"^[0-9]+$"},
    "marker": {"type": "string"},
    "page_reverse": BOOLEAN,
    "sort_key": {"type": "string"},
    "sort_dir": {"enum": ["asc", "desc"]},
    "tags-any": {"type": "string"},
    "not-tags": {"type": "string"},
    "not-tags-any": {"type": "string"},
}


def listing(names: Sequence[str]) -> Shape:
    """The query string of a list: every attribute filters; a name that is none of them would be a silent mistake."""
    return queries({**{name: {"type": "string"} for name in names}, **_PAGING})


def without_nulls(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with the empty value in place of null, for attributes where clients send one for the other."""
    empty: dict[str, Any] = {
        "description": "",
        "binding:host_id": "",
        "binding:profile": {},
        "dns_nameservers": [],
        "host_routes": [],
        "extra_dhcp_opts": [],
        "security_groups": [],
    }
    return {key: empty.get(key) if value is None else value for key, value in body.items()}
