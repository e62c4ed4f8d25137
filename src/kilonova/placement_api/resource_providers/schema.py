"""What requests about resource providers look like."""

from typing import Final

from kilonova.http.shapes import NAME, UUID, Field, Shape, nullable, queries

_NAME: Final = {**NAME, "maxLength": 200, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
CREATE: Final = Shape(
    [Field("name", _NAME, required=True), Field("uuid", UUID), Field("parent_provider_uuid", nullable(UUID), since=14)]
)
UPDATE: Final = Shape([Field("name", _NAME, required=True), Field("parent_provider_uuid", nullable(UUID), since=14)])
LIST: Final = queries(
    {
        "name": {"type": "string"},
        "uuid": UUID,
        "member_of": {"type": "string"},
        "resources": {"type": "string"},
        "in_tree": UUID,
        "required": {"type": "string"},
    },
    since={"member_of": 3, "resources": 4, "in_tree": 14, "required": 18},
)
