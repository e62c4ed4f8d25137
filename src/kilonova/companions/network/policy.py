"""Default policy of the network API, by the community's rule names."""

from collections.abc import Mapping
from typing import Final

_MEMBER: Final = "role:admin or (role:member and project_id:%(project_id)s)"
_READER: Final = "role:admin or ((role:reader or role:member) and project_id:%(project_id)s)"
_ADMIN: Final = "role:admin"

RULES: Final[Mapping[str, str]] = {
    "context_is_admin": _ADMIN,
    **{
        f"{verb}_{noun}": _READER if verb == "get" else _MEMBER
        for verb in ("get", "create", "update", "delete")
        for noun in ("network", "subnet", "port", "security_group", "security_group_rule")
    },
    "get_network:provider:network_type": _ADMIN,
    "create_network:shared": _ADMIN,
    "create_network:router:external": _ADMIN,
    "create_network:provider:network_type": _ADMIN,
    "create_network:provider:physical_network": _ADMIN,
    "create_network:provider:segmentation_id": _ADMIN,
    "update_network:shared": _ADMIN,
    "update_network:router:external": _ADMIN,
    "update_network:provider:network_type": _ADMIN,
    "update_network:provider:physical_network": _ADMIN,
    "update_network:provider:segmentation_id": _ADMIN,
    # For these the project is the network's: on a shared network nobody takes addresses of his own choice.
    "create_port:mac_address": _MEMBER,
    "create_port:fixed_ips": _MEMBER,
    "create_port:port_security_enabled": _MEMBER,
    "create_port:allowed_address_pairs": _MEMBER,
    "create_port:binding:host_id": _ADMIN,
    "create_port:binding:profile": _ADMIN,
    "get_port:binding:host_id": _ADMIN,
    "update_port:mac_address": _ADMIN,
    "update_port:fixed_ips": _MEMBER,
    "update_port:port_security_enabled": _MEMBER,
    "update_port:allowed_address_pairs": _MEMBER,
    "update_port:binding:host_id": _ADMIN,
    "update_port:binding:profile": _ADMIN,
    "get_agent": _ADMIN,
    "get_availability_zone": "",
    "get_extension": "",
    "get_quota": _READER,
}
