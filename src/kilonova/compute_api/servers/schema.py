"""What may be sent about servers: every field with the versions that know it. Source: compute API reference."""

from typing import Final

from kilonova.http.shapes import (
    BOOLEAN,
    METADATA,
    NAME,
    UUID,
    Field,
    Schema,
    Shape,
    either,
    integer,
    nullable,
    queries,
    text,
)

DISK_CONFIG: Final[Schema] = {"enum": ["AUTO", "MANUAL"]}
DESCRIPTION: Final[Schema] = nullable(text(maximum=255, pattern=r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$"))
IPV4: Final[Schema] = either({"type": "string", "format": "ipv4"}, {"enum": ["", None]})
IPV6: Final[Schema] = either({"type": "string", "format": "ipv6"}, {"enum": ["", None]})
TAG: Final[Schema] = text(1, 60, r"^[^/,]*$")
HOST_NAME: Final[Schema] = text(2, 63, r"^[a-zA-Z0-9]+[a-zA-Z0-9-]*[a-zA-Z0-9]+$")
DOMAIN_NAME: Final[Schema] = text(2, 255, r"^[a-zA-Z0-9]+[a-zA-Z0-9.-]*[a-zA-Z0-9]+$")
CERTIFICATES: Final[Schema] = nullable(
    {"type": "array", "minItems": 1, "maxItems": 50, "uniqueItems": True, "items": dict(text(1, 255))}
)
_ANY: Final[Schema] = {}
_DEVICE_TAG: Final[Schema] = text(1, 60, r"^[^,/]*$")
_PERSONALITY: Final[Schema] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "contents": {"type": "string"}},
        "required": ["path", "contents"],
        "additionalProperties": False,
    },
}


def _cards(network_id: Schema) -> Shape:
    # A tag was taken from 2.32, by an oversight not from 2.37 to 2.41, and again from 2.42.
    return Shape(
        array=True,
        fields=(
            Field("uuid", nullable(network_id)),
            Field("port", nullable(UUID)),
            Field("fixed_ip", nullable(either({"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}))),
            Field("tag", _DEVICE_TAG, since=32, until=36),
            Field("tag", _DEVICE_TAG, since=42),
        ),
    )


def _networks() -> tuple[Field, ...]:
    cards, words = _cards(UUID), {"enum": ["auto", "none"]}
    return (
        Field("networks", _cards({"type": "string"}), until=36),
        Field("networks", either(cards.schema(37), words), since=37, until=41, required=True),
        Field("networks", either(cards.schema(42), words), since=42, required=True),
    )


_BLOCK_DEVICE: Final = Shape(
    array=True,
    fields=(
        Field("boot_index", nullable({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}]})),
        Field("delete_on_termination", BOOLEAN),
        Field("destination_type", nullable({"enum": ["local", "volume"]})),
        Field("device_name", nullable(text(maximum=255))),
        Field("device_type", nullable(text(maximum=255))),
        Field("disk_bus", nullable(text(maximum=255))),
        Field("guest_format", nullable(text(maximum=255))),
        Field("no_device", _ANY),
        Field("source_type", {"enum": ["volume", "image", "snapshot", "blank"]}),
        Field("uuid", nullable(text(maximum=36))),
        Field("image_id", nullable(text(maximum=36))),
        Field("volume_id", nullable(text(maximum=36))),
        Field("snapshot_id", nullable(text(maximum=36))),
        Field("virtual_name", nullable(text(maximum=255))),
        Field("connection_info", _ANY),
        Field("volume_size", nullable(integer(0))),
        Field("volume_type", nullable(text(maximum=255)), since=67),
        Field("tag", _DEVICE_TAG, since=32, until=32),
        Field("tag", _DEVICE_TAG, since=42),
    ),
)
_SERVERS_ASKED: Final[Schema] = either(UUID, {"type": "array", "items": dict(UUID)})
HINTS: Final = Shape(
    extra=True,
    fields=(
        Field("group", UUID),
        Field("different_host", _SERVERS_ASKED),
        Field("same_host", _SERVERS_ASKED),
        Field("query", {"type": ["string", "object", "array"]}),
        Field("target_cell", NAME),
        Field("different_cell", {"type": ["string", "array"], "items": {"type": "string"}}),
        Field("build_near_host_ip", either({"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"})),
        Field("cidr", text(maximum=255, pattern=r"^/[0-9a-f.:]+$")),
    ),
)

_SERVER_CREATE: Final = Shape(
    fields=(
        Field("name", NAME, required=True),
        Field("flavorRef", either(text(1, 255), {"type": "integer"}), required=True),
        Field("imageRef", {"type": "string"}),
        Field("adminPass", {"type": "string"}),
        Field("metadata", METADATA),
        Field("key_name", text(1, 255)),
        Field("user_data", nullable({"type": "string", "maxLength": 65535})),
        Field("config_drive", nullable(BOOLEAN)),
        Field("availability_zone", NAME),
        Field(
            "security_groups",
            Shape((Field("name", text(1, 255)),), array=True),
        ),
        Field("min_count", integer(1)),
        Field("max_count", integer(1)),
        Field("return_reservation_id", BOOLEAN),
        Field("accessIPv4", IPV4),
        Field("accessIPv6", IPV6),
        Field("OS-DCF:diskConfig", DISK_CONFIG),
        Field("block_device_mapping", {"type": "array", "items": {"type": "object"}}),
        Field("block_device_mapping_v2", _BLOCK_DEVICE),
        *_networks(),
        Field("personality", _PERSONALITY, until=56),
        Field("description", DESCRIPTION, since=19),
        Field("tags", {"type": "array", "maxItems": 50, "items": dict(TAG)}, since=52),
        Field("trusted_image_certificates", CERTIFICATES, since=63),
        Field("host", text(1, 255), since=74),
        Field("hypervisor_hostname", text(1, 255), since=74),
        Field("hostname", HOST_NAME, since=90, until=93),
        Field("hostname", DOMAIN_NAME, since=94),
    ),
)
CREATE: Final = Shape(
    fields=(
        Field("server", _SERVER_CREATE, required=True),
        Field("os:scheduler_hints", HINTS),
        Field("OS-SCH-HNT:scheduler_hints", HINTS),
    ),
)

_SERVER_UPDATE: Final = Shape(
    fields=(
        Field("name", NAME),
        Field("OS-DCF:diskConfig", DISK_CONFIG),
        Field("accessIPv4", IPV4),
        Field("accessIPv6", IPV6),
        Field("description", DESCRIPTION, since=19),
        Field("hostname", HOST_NAME, since=90, until=93),
        Field("hostname", DOMAIN_NAME, since=94),
        Field("pinned_availability_zone", nullable(NAME), since=104),
    ),
)
UPDATE: Final = Shape(fields=(Field("server", _SERVER_UPDATE, required=True),))

# ---- lists ---------------------------------------------------------------------------------------------------------

_TAG_LIST: Final[Schema] = text(pattern=r"^[^/]*$", maximum=4096)
_NUMBER: Final[Schema] = text(1, 20, r"^[0-9]+$")
_SINCE: Final = {
    "changes-before": 66,
    "locked": 73,
    **dict.fromkeys(("tags", "tags-any", "not-tags", "not-tags-any"), 26),
}
_TEXT: Final[Schema] = {"type": "string"}
_LIST: Final[dict[str, Schema]] = {
    **dict.fromkeys(
        (
            "access_ip_v4", "access_ip_v6", "all_tenants", "auto_disk_config", "availability_zone", "changes-before",
            "changes-since", "config_drive", "created_at", "deleted", "description", "display_description", "display_name",
            "flavor", "host", "hostname", "image", "image_ref", "ip", "ip6", "kernel_id", "key_name", "launch_index",
            "launched_at", "locked", "locked_by", "marker", "name", "node", "power_state", "progress", "project_id",
            "ramdisk_id", "reservation_id", "root_device_name", "soft_deleted", "sort_dir", "sort_key", "status",
            "task_state", "tenant_id", "terminated_at", "user_id", "uuid", "vm_state", "metadata",
        ),
        _TEXT,
    ),
    **dict.fromkeys(("tags", "tags-any", "not-tags", "not-tags-any"), _TAG_LIST),
    "limit": _NUMBER,
}  # fmt: skip
LOOSE_LIST: Final = queries(_LIST, extra=True, since=_SINCE)
"""Until 2.74 unknown parameters were taken and had no effect."""
STRICT_LIST: Final = queries(_LIST, since=_SINCE)

# ---- metadata, tags ------------------------------------------------------------------------------------------------

METADATA_BODY: Final = Shape(fields=(Field("metadata", METADATA, required=True),))
META_ITEM: Final = Shape(fields=(Field("meta", {**METADATA, "minProperties": 1, "maxProperties": 1}, required=True),))
TAGS_BODY: Final = Shape(
    fields=(Field("tags", {"type": "array", "maxItems": 50, "items": dict(TAG)}, required=True),),
)

# ---- actions -------------------------------------------------------------------------------------------------------


def bare(name: str) -> Shape:
    """An action that takes nothing: what stands beside its name has no effect."""
    return Shape(fields=(Field(name, _ANY, required=True),))


REBOOT: Final = Shape(
    fields=(
        Field(
            "reboot",
            Shape((Field("type", {"enum": ["HARD", "Hard", "hard", "SOFT", "Soft", "soft"]}, required=True),)),
            required=True,
        ),
    ),
)
CONSOLE_OUTPUT: Final = Shape(
    fields=(
        Field(
            "os-getConsoleOutput",
            Shape((Field("length", nullable({"anyOf": [{"type": "integer"}, text(1, 20, "^-?[0-9]+$")]})),)),
            required=True,
        ),
    ),
)
RESET_STATE: Final = Shape(
    fields=(Field("os-resetState", Shape((Field("state", {"enum": ["active", "error"]}, required=True),)), required=True),),
)
LOCK: Final = Shape(
    fields=(
        Field("lock", _ANY, until=72, required=True),
        Field("lock", Shape((Field("locked_reason", text(1, 255)),), nullable=True), since=73, required=True),
    ),
)
