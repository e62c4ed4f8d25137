"""What the resources of the network API look like."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from kilonova.companions.network.groups import DEFAULT
from kilonova.domain.clock import iso_z
from kilonova.http.views import Shown, View
from kilonova.storage.networks import Record


def _field(name: str, default: Any = None, rule: str = "") -> Shown[Record]:
    def get(record: Record) -> Any:
        return record.fields.get(name, default)

    return Shown(name, get, rule=rule)


def _always(name: str, value: Any, rule: str = "") -> Shown[Record]:
    def get(record: Record) -> Any:
        return value

    return Shown(name, get, rule=rule)


def _of(name: str, get: Callable[[Record], Any], rule: str = "") -> Shown[Record]:
    return Shown(name, get, rule=rule)


_IDS: Final[Sequence[Shown[Record]]] = (
    _of("id", lambda record: record.id),
    _of("tenant_id", lambda record: record.project_id),
    _of("project_id", lambda record: record.project_id),
)
_STANDARD: Final[Sequence[Shown[Record]]] = (
    _field("description", ""),
    _field("revision_number", 1),
    _of("created_at", lambda record: iso_z(record.created_at)),
    _of("updated_at", lambda record: iso_z(record.updated_at)),
)
_NAME: Final = _of("name", lambda record: record.name)
_TAGS: Final = _of("tags", lambda record: list(record.fields.get("tags", ())))

_PROVIDER: Final = "get_network:provider:network_type"
NETWORK_FIELDS: Final[Sequence[Shown[Record]]] = (
    *_IDS,
    _NAME,
    _field("admin_state_up", True),
    _always("status", "ACTIVE"),
    _field("shared", False),
    _field("router:external", False),
    _field("subnets", ()),
    _field("mtu"),
    _field("port_security_enabled", True),
    _field("availability_zone_hints", ()),
    _always("availability_zones", []),
    _always("ipv4_address_scope", None),
    _always("ipv6_address_scope", None),
    _field("provider:network_type", rule=_PROVIDER),
    _field("provider:physical_network", rule=_PROVIDER),
    _field("provider:segmentation_id", rule=_PROVIDER),
    _TAGS,
    *_STANDARD,
)

SUBNET_FIELDS: Final[Sequence[Shown[Record]]] = (
    *_IDS,
    _NAME,
    _field("network_id"),
    _field("ip_version"),
    _field("cidr"),
    _field("gateway_ip"),
    _field("allocation_pools", ()),
    _field("enable_dhcp", True),
    _field("dns_nameservers", ()),
    _field("host_routes", ()),
    _field("service_types", ()),
    _field("ipv6_address_mode"),
    _field("ipv6_ra_mode"),
    _always("subnetpool_id", None),
    _always("segment_id", None),
    _TAGS,
    *_STANDARD,
)


def _vif_type(record: Record) -> str:
    return "other" if record.fields.get("binding:host_id") else "unbound"


_BINDING: Final = "get_port:binding:host_id"
PORT_FIELDS: Final[Sequence[Shown[Record]]] = (
    *_IDS,
    _NAME,
    _field("network_id"),
    _field("mac_address"),
    _field("fixed_ips", ()),
    _field("device_id", ""),
    _field("device_owner", ""),
    _field("status"),
    _field("admin_state_up", True),
    _field("security_groups", ()),
    _field("port_security_enabled", True),
    _field("allowed_address_pairs", ()),
    _field("extra_dhcp_opts", ()),
    _field("binding:vnic_type", "normal"),
    _field("binding:host_id", "", rule=_BINDING),
    _field("binding:profile", {}, rule=_BINDING),
    _of("binding:vif_type", _vif_type, rule=_BINDING),
    _always("binding:vif_details", {}, rule=_BINDING),
    _TAGS,
    *_STANDARD,
)

RULE_FIELDS: Final[Sequence[Shown[Record]]] = (
    *_IDS,
    _field("security_group_id"),
    _field("direction"),
    _field("ethertype"),
    _field("protocol"),
    _field("port_range_min"),
    _field("port_range_max"),
    _field("remote_ip_prefix"),
    _field("remote_group_id"),
    _always("remote_address_group_id", None),
    _of("normalized_cidr", lambda record: record.fields["remote_ip_prefix"]),
    *_STANDARD,
)

GROUP_FIELDS: Final[Sequence[Shown[Record]]] = (
    *_IDS,
    _NAME,
    _field("stateful", True),
    _always("shared", False),
    _of("is_default", lambda record: record.name == DEFAULT),
    _field("security_group_rules", ()),
    _TAGS,
    *_STANDARD,
)

NETWORK: Final = View(NETWORK_FIELDS)
SUBNET: Final = View(SUBNET_FIELDS)
PORT: Final = View(PORT_FIELDS)
GROUP: Final = View(GROUP_FIELDS)
RULE: Final = View(RULE_FIELDS)
