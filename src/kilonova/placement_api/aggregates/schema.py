"""What requests about a provider's aggregates look like."""

from typing import Final

from kilonova.http.shapes import Field, Shape
from kilonova.placement_api.numbers import ANY_GENERATION
from kilonova.placement_api.uuids import ANY_UUID

_LIST: Final = {"type": "array", "items": ANY_UUID, "uniqueItems": True}
PUT_LIST: Final = Shape(more=_LIST)
PUT: Final = Shape(
    [
        Field("aggregates", _LIST, required=True),
        Field("resource_provider_generation", ANY_GENERATION, required=True),
    ]
)
