"""Changes of an image as the API takes them: JSON patch (RFC 6902), add, replace and remove, one level deep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from kilonova.companions.image.attributes import COLUMNS, READ_ONLY, with_attributes
from kilonova.domain.errors import BadRequest, Conflict, Forbidden
from kilonova.storage.images import ImageRecord

MEDIA_TYPE: Final = "application/openstack-images-v2.1-json-patch"


def patched(record: ImageRecord, changes: Sequence[Mapping[str, Any]]) -> ImageRecord:
    """The image after all changes, in order. Raises as `with_attributes`, and errors.Conflict for what is not there."""
    for change in changes:
        name = _name(change["path"])
        if change["op"] == "remove":
            record = _without(record, name)
            continue
        if "value" not in change:
            raise BadRequest(f'Operation "{change["op"]}" requires a member named "value".')
        known = name in COLUMNS or name in READ_ONLY or name in record.properties
        if change["op"] == "replace" and not known:
            raise Conflict(f"Property {name} does not exist.")
        record = with_attributes(record, {name: change["value"]})
    return record


def _without(record: ImageRecord, name: str) -> ImageRecord:
    if name in READ_ONLY:
        raise Forbidden(f"Attribute '{name}' is read-only.")
    if name in COLUMNS:
        raise Forbidden(f"Property {name} may not be removed.")
    if name not in record.properties:
        raise Conflict(f"Property {name} does not exist.")
    return replace(record, properties={key: value for key, value in record.properties.items() if key != name})


def _name(path: str) -> str:
    """The attribute that a pointer names; RFC 6901 writes `/` as ~1 and `~` as ~0."""
    if not path.startswith("/") or "/" in path[1:] or len(path) == 1:
        raise BadRequest(f"Invalid JSON pointer for this resource: '{path}'")
    return path[1:].replace("~1", "/").replace("~0", "~")
