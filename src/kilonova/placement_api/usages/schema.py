"""What queries about usages look like."""

from typing import Final

from kilonova.http.shapes import Field, Shape

_WHO: Final = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255}, "maxItems": 1}
_TYPE: Final = {"type": "array", "items": {"type": "string", "pattern": "^([A-Z0-9_]{1,255}|all|unknown)$"}, "maxItems": 1}
OF_PROJECT: Final = Shape(
    [Field("project_id", _WHO, required=True), Field("user_id", _WHO), Field("consumer_type", _TYPE, since=38)]
)
