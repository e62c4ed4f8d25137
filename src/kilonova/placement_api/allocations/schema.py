"""What requests about allocations look like, at every version."""

from dataclasses import dataclass
from typing import Any, Final

from kilonova.http.shapes import Field, Shape
from kilonova.placement_api.inventories.schema import CLASS_PATTERN
from kilonova.placement_api.numbers import ANY_GENERATION
from kilonova.placement_api.uuids import ANY_UUID, UUID_PATTERN

_RESOURCES: Final[dict[str, Any]] = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {CLASS_PATTERN: {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}},
    "additionalProperties": False,
}
_LISTED: Final[dict[str, Any]] = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "resource_provider": {
                "type": "object",
                "properties": {"uuid": ANY_UUID},
                "required": ["uuid"],
                "additionalProperties": False,
            },
            "resources": _RESOURCES,
        },
        "required": ["resource_provider", "resources"],
        "additionalProperties": False,
    },
}
_KEYED: Final[dict[str, Any]] = {
    "type": "object",
    "patternProperties": {
        UUID_PATTERN: {
            "type": "object",
            # A generation is there when a client sends back what it got; it says nothing.
            "properties": {"generation": ANY_GENERATION, "resources": _RESOURCES},
            "required": ["resources"],
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
_ID: Final = {"type": "string", "minLength": 1, "maxLength": 255}
_MAPPINGS: Final = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {"^([a-zA-Z0-9_-]{1,64})?$": {"type": "array", "minItems": 1, "items": ANY_UUID}},
    "additionalProperties": False,
}
_OWNER: Final = (
    Field("project_id", _ID, since=8, required=True),
    Field("user_id", _ID, since=8, required=True),
    Field("consumer_generation", {**ANY_GENERATION, "type": ["integer", "null"]}, since=28, required=True),
    Field("mappings", _MAPPINGS, since=34),
    Field(
        "consumer_type", {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Z0-9_]+$"}, since=38, required=True
    ),
)
PUT: Final = Shape(
    [
        Field("allocations", _LISTED, until=11, required=True),
        Field("allocations", {**_KEYED, "minProperties": 1}, since=12, until=27, required=True),
        Field("allocations", _KEYED, since=28, required=True),
        *_OWNER,
    ]
)
ENTRY: Final = Shape([Field("allocations", _KEYED, required=True), *_OWNER])
"""What one consumer is to hold, where several are written at once."""


@dataclass(frozen=True, slots=True)
class ByConsumer(Shape):
    """Entries by the uuid of their consumers; at least `least` of them."""

    least: int = 0

    def schema(self, version: int) -> dict[str, Any]:
        """See Shape."""
        return {
            "type": "object",
            "minProperties": self.least,
            "patternProperties": {UUID_PATTERN: ENTRY.schema(version)},
            "additionalProperties": False,
        }


POST: Final = ByConsumer(least=1)
