"""What the image API takes. The values of an image's attributes are checked where they are set, as a patch sets them too."""

from typing import Final

from kilonova.http.shapes import UUID, Field, Schema, Shape, queries, text

_NONE: Final[Schema] = {}

NEW_IMAGE: Final = Shape([Field("id", UUID)], extra=True)
CHANGES: Final = Shape(
    [
        Field("op", {"enum": ["add", "replace", "remove"]}, required=True),
        Field("path", text(1, 600), required=True),
        Field("value", _NONE),
    ],
    array=True,
)
LIST: Final = queries({"limit": text(), "marker": text(), "sort": text()}, extra=True)
