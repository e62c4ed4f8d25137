"""What requests about a provider's aggregates look like."""

from typing import Final

from kilonova.http.shapes import UUID, Field, Shape

_LIST: Final = {"type": "array", "items": UUID, "uniqueItems": True}
PUT_LIST: Final = Shape(more=_LIST)
PUT: Final = Shape(
    [
        Field("aggregates", _LIST, required=True),
        Field("resource_provider_generation", {"type": "integer"}, required=True),
    ]
)
