"""What limits and quota sets take."""

from typing import Final

from kilonova.compute_api.limits.view import GONE_WITH_FILES, GONE_WITH_NETWORKS, NETWORK_RESOURCES
from kilonova.compute_api.queries import TEXT, list_query
from kilonova.http.shapes import BOOLEAN, Field, Schema, Shape, either
from kilonova.storage.quotas import RESOURCES

_MOST: Final = 2**31 - 1
_AMOUNT: Final[Schema] = either(
    {"type": "integer", "minimum": -1, "maximum": _MOST}, {"type": "string", "pattern": r"^(-1|[0-9]{1,9})$"}
)
_OWN: Final = tuple(Field(name, _AMOUNT) for name in RESOURCES)
_FILES: Final = tuple(
    Field(name, _AMOUNT, until=GONE_WITH_FILES - 1)
    for name in ("injected_files", "injected_file_content_bytes", "injected_file_path_bytes")
)


def _networks(gone: int) -> tuple[Field, ...]:
    return tuple(Field(name, _AMOUNT, until=gone - 1) for name in (*NETWORK_RESOURCES, "networks"))


UPDATE: Final = Shape(
    [
        Field(
            "quota_set",
            Shape(
                [
                    *_OWN,
                    *_FILES,
                    *_networks(GONE_WITH_NETWORKS),
                    Field("force", BOOLEAN),
                    # Older clients repeat the project here.
                    Field("tenant_id", TEXT, until=74),
                ]
            ),
            required=True,
        )
    ]
)
UPDATE_CLASS: Final = Shape(
    [Field("quota_class_set", Shape([*_OWN, *_FILES, *_networks(50)], more={"minProperties": 1}), required=True)]
)
QUERY: Final = list_query({"user_id": TEXT})
LIMITS: Final = list_query({"tenant_id": TEXT, "reserved": TEXT})
