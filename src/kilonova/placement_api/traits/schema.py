"""What requests about traits look like."""

from typing import Final

from kilonova.http.shapes import Field, Shape
from kilonova.placement_api.numbers import ANY_GENERATION

CUSTOM_PATTERN: Final = "^CUSTOM_[A-Z0-9_]+$"
LIST: Final = Shape(
    [
        Field("name", {"type": "array", "maxItems": 1}),
        Field("associated", {"type": "array", "maxItems": 1}),
    ]
)
PUT_OF_PROVIDER: Final = Shape(
    [
        Field(
            "traits",
            {"type": "array", "items": {"type": "string", "pattern": "^[A-Z0-9_]{1,255}$"}, "uniqueItems": True},
            required=True,
        ),
        Field("resource_provider_generation", ANY_GENERATION, required=True),
    ]
)
