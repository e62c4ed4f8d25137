"""What requests about resource providers look like."""

from typing import Final

from kilonova.http.shapes import NAME, Field, Shape, nullable, queries
from kilonova.placement_api.uuids import ANY_UUID

_NAME: Final = {**NAME, "maxLength": 200, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
CREATE: Final = Shape(
    [Field("name", _NAME, required=True), Field("uuid", ANY_UUID), Field("parent_provider_uuid", nullable(ANY_UUID), since=14)]
)
UPDATE: Final = Shape([Field("name", _NAME, required=True), Field("parent_provider_uuid", nullable(ANY_UUID), since=14)])
LIST: Final = queries(
    {
        "name": {"type": "string"},
        "uuid": ANY_UUID,
        "member_of": {"type": "string"},
        "resources": {"type": "string"},
        "in_tree": ANY_UUID,
        "required": {"type": "string"},
    },
    since={"member_of": 3, "resources": 4, "in_tree": 14, "required": 18},
)
