"""Query strings of lists: until 2.74 parameters that nobody knows are ignored, from 2.75 on they are refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kilonova.http.shapes import Schema, Shape, queries

_STRICT_SINCE: Final = 75

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "string", "pattern": r"^[0-9]{1,18}$"}
"""A whole number of 0 or more, as a query string has it."""


@dataclass(frozen=True, slots=True)
class ListQuery(Shape):
    """A query's shape that becomes strict with 2.75, whatever `extra` says."""

    def schema(self, version: int) -> dict[str, Any]:
        """See Shape."""
        # Not super(): a dataclass with slots is another class than the one that this body belongs to.
        made = Shape.schema(self, version)
        made["additionalProperties"] = version < _STRICT_SINCE
        return made


def list_query(names: Mapping[str, Schema], since: Mapping[str, int] | None = None) -> ListQuery:
    """The shape of a list's query: parameters by name, and the versions that some of them came with."""
    return ListQuery(fields=queries(names, since=since).fields)
