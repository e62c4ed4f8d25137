"""What requests about inventories look like."""

from collections.abc import Mapping
from typing import Any, Final

from kilonova.http.shapes import Field, Shape
from kilonova.placement_api.numbers import ANY_GENERATION

CLASS_PATTERN: Final = "^[A-Z0-9_]{1,255}$"
_MOST: Final = 2**31 - 1
_AMOUNT: Final = {"type": "integer", "minimum": 1, "maximum": _MOST}
INVENTORY: Final[Mapping[str, Any]] = {
    "total": _AMOUNT,
    "reserved": {"type": "integer", "minimum": 0, "maximum": _MOST},
    "min_unit": _AMOUNT,
    "max_unit": _AMOUNT,
    "step_size": _AMOUNT,
    "allocation_ratio": {"type": "number", "minimum": 0, "maximum": 3.40282e38},
}
INVENTORIES: Final[Mapping[str, Any]] = {
    "type": "object",
    "patternProperties": {
        CLASS_PATTERN: {
            "type": "object",
            "properties": INVENTORY,
            "required": ["total"],
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
GENERATION: Final = Field("resource_provider_generation", ANY_GENERATION, required=True)
_FIELDS: Final = [Field(name, schema, required=name == "total") for name, schema in INVENTORY.items()]
PUT_ALL: Final = Shape([GENERATION, Field("inventories", INVENTORIES, required=True)])
PUT_ONE: Final = Shape([GENERATION, *_FIELDS])
POST: Final = Shape(
    [
        Field("resource_class", {"type": "string", "pattern": CLASS_PATTERN}, required=True),
        Field("resource_provider_generation", ANY_GENERATION),
        *_FIELDS,
    ]
)
