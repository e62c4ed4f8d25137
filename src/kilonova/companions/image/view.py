"""What the image API shows of an image: its own attributes, and its free ones beside them."""

from typing import Any, Final

from kilonova.companions.image.attributes import CONTAINER_FORMATS, DISK_FORMATS, VISIBILITIES
from kilonova.domain.clock import iso_z
from kilonova.storage.images import ImageRecord


def image(record: ImageRecord) -> dict[str, Any]:
    """An image. No property can hide an attribute, as none may have the name of one."""
    path = f"/v2/images/{record.id}"
    return {
        **record.properties,
        "id": record.id,
        "name": record.name,
        "status": record.status,
        "visibility": record.visibility,
        "protected": record.protected,
        "os_hidden": record.hidden,
        "owner": record.owner,
        "disk_format": record.disk_format,
        "container_format": record.container_format,
        "min_disk": record.min_disk,
        "min_ram": record.min_ram,
        "size": record.size,
        "virtual_size": record.virtual_size,
        "checksum": record.checksum,
        "os_hash_algo": record.hash_algorithm,
        "os_hash_value": record.hash_value,
        "tags": record.tags,
        "created_at": iso_z(record.created_at),
        "updated_at": iso_z(record.updated_at),
        "self": path,
        "file": f"{path}/file",
        "schema": "/v2/schemas/image",
    }


def _text(description: str, *, fixed: bool = False, null: bool = False, **more: object) -> dict[str, Any]:
    made: dict[str, Any] = {"description": description, "type": ["null", "string"] if null else "string", **more}
    return {**made, "readOnly": True} if fixed else made


def _number(description: str, *, fixed: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = {"description": description, "type": ["null", "integer"] if fixed else "integer"}
    return {**made, "readOnly": True} if fixed else made


SCHEMA: Final[dict[str, Any]] = {
    "name": "image",
    "properties": {
        "id": _text("An identifier for the image"),
        "name": _text("Name of the image", null=True, maxLength=255),
        "status": _text("Status of the image", fixed=True),
        "visibility": _text("Who may see the image", enum=list(VISIBILITIES)),
        "protected": {"description": "Whether the image cannot be deleted", "type": "boolean"},
        "os_hidden": {"description": "Whether lists leave the image out", "type": "boolean"},
        "owner": _text("Project that owns the image", null=True, maxLength=255),
        "disk_format": _text("Format of the disk", null=True, enum=[None, *DISK_FORMATS]),
        "container_format": _text("Format of the container", null=True, enum=[None, *CONTAINER_FORMATS]),
        "min_disk": _number("Disk that the image needs, in GB"),
        "min_ram": _number("Memory that the image needs, in MB"),
        "size": _number("Size of the data in bytes", fixed=True),
        "virtual_size": _number("Size of the unpacked data in bytes", fixed=True),
        "checksum": _text("MD5 of the data", fixed=True, null=True),
        "os_hash_algo": _text("Algorithm of os_hash_value", fixed=True, null=True),
        "os_hash_value": _text("Hash of the data", fixed=True, null=True),
        "tags": {"description": "Tags of the image", "type": "array", "items": {"type": "string", "maxLength": 255}},
        "created_at": _text("When the image was made", fixed=True),
        "updated_at": _text("When the image was last changed", fixed=True),
        "self": _text("Where the image is", fixed=True),
        "file": _text("Where the image's data is", fixed=True),
        "schema": _text("Where this schema is", fixed=True),
    },
    "additionalProperties": {"type": "string"},
    "links": [
        {"rel": "self", "href": "{self}"},
        {"rel": "enclosure", "href": "{file}"},
        {"rel": "describedby", "href": "{schema}"},
    ],
}
LIST_SCHEMA: Final[dict[str, Any]] = {
    "name": "images",
    "properties": {
        "images": {"type": "array", "items": SCHEMA},
        "first": {"type": "string"},
        "next": {"type": "string"},
        "schema": {"type": "string"},
    },
    "links": [
        {"rel": "first", "href": "{first}"},
        {"rel": "next", "href": "{next}"},
        {"rel": "describedby", "href": "{schema}"},
    ],
}
