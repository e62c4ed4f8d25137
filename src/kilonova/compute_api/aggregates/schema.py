"""What aggregates take."""

from typing import Final

from kilonova.http.shapes import NAME, NULL, Field, Schema, Shape, either, nullable, text

_ZONE: Final[Schema] = {**NAME, "pattern": r"^(?! )[^:\u0000-\u001f\u007f]*[^:\s\u0000-\u001f\u007f]$"}
"""A zone's name: servers ask for `zone:host`, so it has no colon."""

CREATE: Final = Shape(
    [
        Field(
            "aggregate",
            Shape([Field("name", NAME, required=True), Field("availability_zone", nullable(_ZONE))]),
            required=True,
        )
    ]
)
UPDATE: Final = Shape(
    [
        Field(
            "aggregate",
            Shape([Field("name", NAME), Field("availability_zone", _ZONE)], more={"minProperties": 1}),
            required=True,
        )
    ]
)

_HOST: Final = Shape([Field("host", text(1, 255, r"^[a-zA-Z0-9._-]+$"), required=True)])
_METADATA: Final[Schema] = {
    "type": "object",
    "propertyNames": {"pattern": r"^[a-zA-Z0-9\-_:. ]{1,255}$"},
    "additionalProperties": either(text(0, 255), NULL),
}
ACTION: Final = Shape(
    [
        Field("add_host", _HOST),
        Field("remove_host", _HOST),
        Field("set_metadata", Shape([Field("metadata", _METADATA, required=True)])),
    ],
    more={"minProperties": 1, "maxProperties": 1},
)
