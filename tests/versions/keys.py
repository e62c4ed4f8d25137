"""Which keys an answer has at which version, written down from the community's API references and version histories.

On purpose not drawn from our own views: both must agree, and each was made alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

COMPUTE: Final = range(1, 105)
"""Minors of the Compute API."""
PLACEMENT: Final = range(40)
"""Minors of the Placement API."""


@dataclass(frozen=True)
class Keys:
    """Keys from the first version on; `since` and `until` (the last version that has them) say what comes and goes.

    Several keys stand in one text, with blanks between them.
    """

    always: str
    since: Mapping[int, str] = field(default_factory=dict)
    until: Mapping[int, str] = field(default_factory=dict)

    def at(self, minor: int) -> set[str]:
        """The keys at a version."""
        return set(self._at(minor))

    def _at(self, minor: int) -> Iterator[str]:
        yield from self.always.split()
        for first, names in self.since.items():
            if minor >= first:
                yield from names.split()
        for last, names in self.until.items():
            if minor <= last:
                yield from names.split()


def attributes(*names: str) -> str:
    """Keys of the extension that shows administrators more of a server."""
    return " ".join(f"OS-EXT-SRV-ATTR:{name}" for name in names)


# ---- compute ----

SERVER_OF_MEMBER: Final = Keys(
    "id name status tenant_id user_id metadata hostId image flavor created updated accessIPv4 accessIPv6 links addresses "
    "progress key_name config_drive security_groups OS-DCF:diskConfig os-extended-volumes:volumes_attached "
    "OS-EXT-AZ:availability_zone OS-SRV-USG:launched_at OS-SRV-USG:terminated_at OS-EXT-STS:task_state "
    "OS-EXT-STS:vm_state OS-EXT-STS:power_state",
    since={
        9: "locked",
        19: "description",
        26: "tags",
        63: "trusted_image_certificates",
        73: "locked_reason",
        90: attributes("hostname"),
        96: "pinned_availability_zone",
        100: "scheduler_hints",
    },
)
"""A server that runs, as its project sees it in a detailed list."""

SERVER_FOR_ADMIN: Final = Keys(
    attributes("host", "hypervisor_hostname", "instance_name"),
    since={
        3: attributes("reservation_id", "launch_index", "hostname", "kernel_id", "ramdisk_id", "root_device_name", "user_data"),
        16: "host_status",
    },
)
"""What administrators see besides."""

SERVER_SHOWN: Final = Keys("", since={71: "server_groups"})
"""What only one server's own page has."""

SERVER_CREATED: Final = Keys("id links OS-DCF:diskConfig security_groups adminPass")
FLAVOR_OF_SERVER: Final = Keys("", since={47: "vcpus ram disk ephemeral swap original_name extra_specs"}, until={46: "id links"})
IMAGE_OF_SERVER: Final = Keys("id links", since={98: "properties"})
FLAVOR_LISTED: Final = Keys("id name links", since={55: "description"})
FLAVOR: Final = Keys(
    "id name links ram disk swap vcpus rxtx_factor OS-FLV-EXT-DATA:ephemeral OS-FLV-DISABLED:disabled os-flavor-access:is_public",
    since={55: "description", 61: "extra_specs"},
)
KEYPAIR_LISTED: Final = Keys("name public_key fingerprint", since={2: "type"})
KEYPAIR_CREATED: Final = Keys("name public_key fingerprint user_id", since={2: "type"})
KEYPAIR: Final = Keys("name public_key fingerprint user_id id created_at updated_at deleted deleted_at", since={2: "type"})
SERVER_GROUP: Final = Keys(
    "id name members", since={13: "project_id user_id", 64: "policy rules"}, until={63: "policies metadata"}
)
AGGREGATE: Final = Keys("id name availability_zone created_at updated_at deleted deleted_at hosts metadata", since={41: "uuid"})
SERVICE: Final = Keys("id binary host zone status state updated_at disabled_reason", since={11: "forced_down"})
HYPERVISOR_LISTED: Final = Keys("id hypervisor_hostname state status")
HYPERVISOR: Final = Keys(
    "id hypervisor_hostname state status host_ip hypervisor_type hypervisor_version service",
    since={88: "uptime"},
    until={
        87: "cpu_info vcpus vcpus_used memory_mb memory_mb_used free_ram_mb local_gb local_gb_used free_disk_gb "
        "disk_available_least running_vms current_workload"
    },
)
ZONE: Final = Keys("zoneName zoneState hosts")
LIMITS: Final = Keys(
    "maxTotalInstances maxTotalCores maxTotalRAMSize maxTotalKeypairs maxServerMeta maxServerGroups "
    "maxServerGroupMembers totalInstancesUsed totalCoresUsed totalRAMUsed totalServerGroupsUsed",
    until={
        35: "maxTotalFloatingIps maxSecurityGroups maxSecurityGroupRules totalFloatingIpsUsed totalSecurityGroupsUsed",
        38: "maxImageMeta",
        56: "maxPersonality maxPersonalitySize",
    },
)
QUOTA_SET: Final = Keys(
    "id instances cores ram key_pairs metadata_items server_groups server_group_members",
    until={
        35: "fixed_ips floating_ips security_groups security_group_rules",
        56: "injected_files injected_file_content_bytes injected_file_path_bytes",
    },
)
ACTION_LISTED: Final = Keys("action instance_uuid request_id user_id project_id start_time message", since={58: "updated_at"})
ACTION_OF_ADMIN: Final = Keys(f"{ACTION_LISTED.always} events", since=ACTION_LISTED.since)
ACTION_OF_MEMBER: Final = Keys(ACTION_LISTED.always, since={51: "events", **ACTION_LISTED.since})
EVENT_OF_MEMBER: Final = Keys("event start_time finish_time result", since={62: "hostId"})
EVENT_OF_ADMIN: Final = Keys(f"{EVENT_OF_MEMBER.always} traceback", since={62: "hostId host", 84: "details"})

# ---- placement ----

PROVIDER: Final = Keys("uuid name generation links", since={14: "parent_provider_uuid root_provider_uuid"})
PROVIDER_RELATIONS: Final = Keys("self inventories usages", since={1: "aggregates", 6: "traits", 11: "allocations"})
INVENTORY: Final = Keys("total reserved min_unit max_unit step_size allocation_ratio")
AGGREGATES_OF_PROVIDER: Final = Keys("aggregates", since={19: "resource_provider_generation"})
CONSUMER: Final = Keys("allocations", since={12: "project_id user_id", 28: "consumer_generation", 38: "consumer_type"})
HOLDING_OF_PROVIDER: Final = Keys("resources", since={28: "consumer_generation"})
CANDIDATE: Final = Keys("allocations", since={34: "mappings"})
SUMMARY: Final = Keys("resources", since={17: "traits", 29: "parent_provider_uuid root_provider_uuid"})
CLASSES_OF_SUMMARY: Final = Keys("VCPU", since={27: "MEMORY_MB DISK_GB"})
