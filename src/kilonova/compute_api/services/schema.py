"""What services take."""

from typing import Final

from kilonova.compute_api.queries import TEXT, list_query
from kilonova.http.shapes import BOOLEAN, Field, Shape, text

_REASON: Final = text(1, 255, r"^\S(.*\S)?$")
_NAME: Final = text(1, 255)

UPDATE: Final = Shape(
    [
        Field("status", {"enum": ["enabled", "disabled"]}),
        Field("disabled_reason", _REASON),
        Field("forced_down", BOOLEAN),
    ]
)
"""From 2.53 on: the service is in the path."""

ACT: Final = Shape(
    [
        Field("host", _NAME, required=True),
        Field("binary", _NAME, required=True),
        Field("disabled_reason", _REASON),
        Field("forced_down", BOOLEAN, since=11),
    ]
)
"""Until 2.52: the path says what is done, the body to which service."""

LIST: Final = list_query({"host": TEXT, "binary": TEXT})
