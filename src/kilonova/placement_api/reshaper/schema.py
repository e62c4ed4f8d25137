"""What a request to the reshaper looks like."""

from typing import Final

from kilonova.http.shapes import Field, Shape
from kilonova.placement_api.allocations.schema import ByConsumer
from kilonova.placement_api.inventories.schema import INVENTORIES
from kilonova.placement_api.numbers import ANY_GENERATION
from kilonova.placement_api.uuids import UUID_PATTERN

_INVENTORIES: Final = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {
        UUID_PATTERN: {
            "type": "object",
            "properties": {"resource_provider_generation": ANY_GENERATION, "inventories": INVENTORIES},
            "required": ["resource_provider_generation", "inventories"],
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
POST: Final = Shape([Field("inventories", _INVENTORIES, required=True), Field("allocations", ByConsumer(), required=True)])
