"""What keypairs take."""

from typing import Final

from kilonova.compute_api.queries import NUMBER, TEXT, list_query
from kilonova.http.shapes import Field, Shape, text

_OLD_NAME: Final = text(1, 255, r"^(?! )[a-zA-Z0-9 _-]*[a-zA-Z0-9_-]$")
_NAME: Final = text(1, 255, r"^(?! )[a-zA-Z0-9 @._-]*[a-zA-Z0-9@._-]$")
_KEY: Final = {"type": "string"}

CREATE: Final = Shape(
    [
        Field(
            "keypair",
            Shape(
                [
                    Field("name", _OLD_NAME, until=91, required=True),
                    Field("name", _NAME, since=92, required=True),
                    Field("public_key", _KEY, until=91),
                    Field("public_key", {**_KEY, "minLength": 1}, since=92, required=True),
                    Field("type", {"enum": ["ssh", "x509"]}, since=2),
                    Field("user_id", text(1, 255), since=10),
                ]
            ),
            required=True,
        )
    ]
)
LIST: Final = list_query({"user_id": TEXT, "limit": NUMBER, "marker": TEXT}, since={"user_id": 10, "limit": 35, "marker": 35})
ONE: Final = list_query({"user_id": TEXT}, since={"user_id": 10})
