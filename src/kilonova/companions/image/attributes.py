"""What an image has: which attributes are its own, which only the service sets, and what may be put in the others."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from kilonova.domain.errors import BadRequest, Forbidden
from kilonova.http.errors import TooLarge
from kilonova.storage.images import ImageRecord

VISIBILITIES: Final = ("public", "private", "shared", "community")
DISK_FORMATS: Final = (
    "ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop",
)  # fmt: skip
CONTAINER_FORMATS: Final = ("ami", "ari", "aki", "bare", "ovf", "ova", "docker", "compressed")
MOST_PROPERTIES: Final = 128
MOST_TAGS: Final = 128
LONGEST_VALUE: Final = 65_535

COLUMNS: Final[Mapping[str, str]] = {
    "name": "name",
    "owner": "owner",
    "visibility": "visibility",
    "protected": "protected",
    "os_hidden": "hidden",
    "disk_format": "disk_format",
    "container_format": "container_format",
    "min_disk": "min_disk",
    "min_ram": "min_ram",
    "tags": "tags",
}
"""Attributes that users set, by the names of the API, and the field of the record that each is."""

READ_ONLY: Final = frozenset(
    {
        "checksum", "created_at", "direct_url", "file", "id", "locations", "os_hash_algo", "os_hash_value", "schema", "self",
        "size", "status", "stores", "updated_at", "virtual_size",
    }
)  # fmt: skip
"""Attributes that the service alone sets."""

_FORMATS: Final = frozenset({"disk_format", "container_format"})


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _is_text(value: object, longest: int) -> bool:
    # PostgreSQL cannot keep U+0000.
    return isinstance(value, str) and len(value) <= longest and "\0" not in value


_RIGHT: Final[Mapping[str, Callable[[Any], bool]]] = {
    "name": lambda value: value is None or _is_text(value, 255),
    "owner": lambda value: _is_text(value, 255) and bool(value),
    "visibility": lambda value: value in VISIBILITIES,
    "protected": lambda value: isinstance(value, bool),
    "os_hidden": lambda value: isinstance(value, bool),
    "disk_format": lambda value: value is None or value in DISK_FORMATS,
    "container_format": lambda value: value is None or value in CONTAINER_FORMATS,
    "min_disk": _is_size,
    "min_ram": _is_size,
    "tags": lambda value: isinstance(value, list) and all(_is_text(tag, 255) for tag in value),
}


def with_attributes(record: ImageRecord, values: Mapping[str, Any]) -> ImageRecord:
    """The image with these attributes set, its own and free ones.

    Raises errors.BadRequest naming a bad value, errors.Forbidden for what users may not set, TooLarge for too many.
    """
    columns: dict[str, Any] = {}
    properties = dict(record.properties)
    for name, value in values.items():
        if name in READ_ONLY:
            raise Forbidden(f"Attribute '{name}' is read-only.")
        if name in COLUMNS:
            if not _RIGHT[name](value):
                raise BadRequest(f"Invalid value for attribute '{name}': {value!r}")
            if name in _FORMATS and record.status != "queued" and value != getattr(record, name):
                raise Forbidden(f"Attribute {name} can be only replaced for a queued image.")
            columns[COLUMNS[name]] = checked_tags(value) if name == "tags" else value
        else:
            properties[_checked_name(name)] = _checked_value(name, value)
    if len(properties) > MOST_PROPERTIES:
        raise TooLarge(f"An image may have {MOST_PROPERTIES} properties and not {len(properties)}.")
    return replace(record, properties=properties, **columns)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in order. Raises errors.BadRequest, TooLarge."""
    once = tuple(dict.fromkeys(tags))
    if len(once) > MOST_TAGS:
        raise TooLarge(f"An image may have {MOST_TAGS} tags and not {len(once)}.")
    if any(not tag or len(tag) > 255 for tag in once):
        raise BadRequest("Invalid value for attribute 'tags': a tag has 1 to 255 characters.")
    return once


def _checked_name(name: str) -> str:
    if not name or len(name) > 255:
        raise BadRequest("The name of a property has 1 to 255 characters.")
    return name


def _checked_value(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"Invalid value for property '{name}': {value!r} is not a string")
    if len(value) > LONGEST_VALUE:
        raise BadRequest(f"Invalid value for property '{name}': it is longer than {LONGEST_VALUE} characters")
    return value
