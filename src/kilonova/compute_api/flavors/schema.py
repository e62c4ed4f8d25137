"""What flavors take."""

from typing import Final

from kilonova.compute_api.queries import NUMBER, TEXT, list_query
from kilonova.http.shapes import BOOLEAN, NAME, NULL, Field, Schema, Shape, either, integer, nullable, text

_MOST: Final = 2**31 - 1

_ID: Final = either(text(1, 255, r"^(?! )[a-zA-Z0-9. _-]*[a-zA-Z0-9._-]$"), {"type": "integer"}, NULL)
_FACTOR: Final = either(
    {"type": "number", "exclusiveMinimum": 0, "maximum": 3.40282e38},
    {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$", "maxLength": 64},
)
_DESCRIPTION: Final = nullable(text(0, 65535))

CREATE: Final = Shape(
    [
        Field(
            "flavor",
            Shape(
                [
                    Field("name", NAME, required=True),
                    Field("id", _ID),
                    Field("ram", integer(1, _MOST), required=True),
                    Field("vcpus", integer(1, _MOST), required=True),
                    Field("disk", integer(0, _MOST), required=True),
                    Field("OS-FLV-EXT-DATA:ephemeral", integer(0, _MOST)),
                    Field("swap", integer(0, _MOST)),
                    Field("rxtx_factor", _FACTOR),
                    Field("os-flavor-access:is_public", BOOLEAN),
                    Field("description", _DESCRIPTION, since=55),
                ]
            ),
            required=True,
        )
    ]
)
UPDATE: Final = Shape([Field("flavor", Shape([Field("description", _DESCRIPTION, required=True)]), required=True)])

_KEYS: Final[Schema] = {"pattern": r"^[a-zA-Z0-9\-_:. ]{1,255}$"}
_VALUE: Final = either(text(0, 255), {"type": "number"})

SPECS: Final = Shape(
    [Field("extra_specs", {"type": "object", "propertyNames": _KEYS, "additionalProperties": _VALUE}, required=True)]
)
ONE_SPEC: Final = Shape(more={"propertyNames": _KEYS, "additionalProperties": _VALUE, "minProperties": 1, "maxProperties": 1})

_TENANT: Final = Shape([Field("tenant", text(1, 255), required=True)])
ACTION: Final = Shape(
    [Field("addTenantAccess", _TENANT), Field("removeTenantAccess", _TENANT)],
    more={"minProperties": 1, "maxProperties": 1},
)

LIST: Final = list_query(
    {
        "limit": NUMBER,
        "marker": TEXT,
        "is_public": TEXT,
        "minRam": TEXT,
        "minDisk": TEXT,
        "sort_key": TEXT,
        "sort_dir": {"enum": ["asc", "desc"]},
    }
)
