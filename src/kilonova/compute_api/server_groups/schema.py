"""What server groups take."""

from typing import Final

from kilonova.compute_api.queries import NUMBER, TEXT, list_query
from kilonova.http.shapes import NAME, Field, Schema, Shape, integer

_HARD: Final = ("anti-affinity", "affinity")
_ALL: Final = (*_HARD, "soft-anti-affinity", "soft-affinity")


def _one_of(*policies: str) -> Schema:
    return {"type": "array", "items": {"enum": list(policies)}, "minItems": 1, "maxItems": 1}


CREATE: Final = Shape(
    [
        Field(
            "server_group",
            Shape(
                [
                    Field("name", NAME, required=True),
                    Field("policies", _one_of(*_HARD), until=14, required=True),
                    Field("policies", _one_of(*_ALL), since=15, until=63, required=True),
                    Field("policy", {"enum": list(_ALL)}, since=64, required=True),
                    Field("rules", Shape([Field("max_server_per_host", integer(1, 2**31 - 1))]), since=64),
                ]
            ),
            required=True,
        )
    ]
)
LIST: Final = list_query({"all_projects": TEXT, "limit": NUMBER, "offset": NUMBER})
