"""What limits and quota sets look like. Resources that other services took over show as unlimited until their version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kilonova.http.views import Shown, View
from kilonova.storage.quotas import RESOURCES, Usage

NETWORK_RESOURCES: Final[Sequence[str]] = ("fixed_ips", "floating_ips", "security_groups", "security_group_rules")
GONE_WITH_NETWORKS: Final = 36
GONE_WITH_FILES: Final = 57

# Fixed limits on personality files (behaviour.md section 4).
FILES: Final[Mapping[str, int]] = {
    "injected_files": 5,
    "injected_file_content_bytes": 10240,
    "injected_file_path_bytes": 255,
}


@dataclass(frozen=True, slots=True)
class Used:
    """What a project has: the limits by resource, and what is used of those that are counted."""

    limits: Mapping[str, int]
    usage: Usage
    server_groups: int = 0

    def amount(self, resource: str) -> int:
        """How much is in use; 0 for what is not counted by project."""
        return int(getattr(self.usage, resource, 0)) if resource != "server_groups" else self.server_groups


ABSOLUTE: Final = View[Used](
    [
        Shown("maxTotalInstances", lambda item: item.limits["instances"]),
        Shown("maxTotalCores", lambda item: item.limits["cores"]),
        Shown("maxTotalRAMSize", lambda item: item.limits["ram"]),
        Shown("maxTotalKeypairs", lambda item: item.limits["key_pairs"]),
        Shown("maxServerMeta", lambda item: item.limits["metadata_items"]),
        Shown("maxServerGroups", lambda item: item.limits["server_groups"]),
        Shown("maxServerGroupMembers", lambda item: item.limits["server_group_members"]),
        Shown("maxImageMeta", lambda item: item.limits["metadata_items"], until=38),
        Shown("maxPersonality", lambda item: FILES["injected_files"], until=GONE_WITH_FILES - 1),
        Shown("maxPersonalitySize", lambda item: FILES["injected_file_content_bytes"], until=GONE_WITH_FILES - 1),
        Shown("maxTotalFloatingIps", lambda item: -1, until=GONE_WITH_NETWORKS - 1),
        Shown("maxSecurityGroups", lambda item: -1, until=GONE_WITH_NETWORKS - 1),
        Shown("maxSecurityGroupRules", lambda item: -1, until=GONE_WITH_NETWORKS - 1),
        Shown("totalInstancesUsed", lambda item: item.usage.instances),
        Shown("totalCoresUsed", lambda item: item.usage.cores),
        Shown("totalRAMUsed", lambda item: item.usage.ram),
        Shown("totalServerGroupsUsed", lambda item: item.server_groups),
        Shown("totalFloatingIpsUsed", lambda item: 0, until=GONE_WITH_NETWORKS - 1),
        Shown("totalSecurityGroupsUsed", lambda item: 0, until=GONE_WITH_NETWORKS - 1),
    ]
)


def quota_set(limits: Mapping[str, int], version: int, networks_until: int = GONE_WITH_NETWORKS) -> dict[str, int]:
    """Limits by resource as quota sets of this version name them."""
    shown = {name: limits[name] for name in RESOURCES}
    if version < networks_until:
        shown.update(dict.fromkeys(NETWORK_RESOURCES, -1))
    if version < GONE_WITH_FILES:
        shown.update(FILES)
    return shown


def detailed(item: Used, version: int) -> dict[str, Any]:
    """A quota set with what is in use beside each limit. Nothing is ever reserved: what is admitted is counted at once."""
    return {
        name: {"limit": limit, "in_use": item.amount(name), "reserved": 0}
        for name, limit in quota_set(item.limits, version).items()
    }


def class_set(limits: Mapping[str, int], version: int) -> dict[str, int]:
    """The default class: networks were left in it until 2.49, and server groups came only then."""
    shown = quota_set(limits, version, networks_until=50)
    if version < 50:
        shown = {name: value for name, value in shown.items() if not name.startswith("server_group")}
    return shown
