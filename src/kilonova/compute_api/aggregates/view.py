"""What aggregates look like."""

from collections.abc import Sequence
from typing import Final

from kilonova.domain.clock import iso_micro
from kilonova.http.views import Shown, View
from kilonova.storage.aggregates import Aggregate

_CORE: Final[Sequence[Shown[Aggregate]]] = (
    Shown("id", lambda item: item.id),
    Shown("name", lambda item: item.name),
    Shown("availability_zone", lambda item: item.zone),
    Shown("created_at", lambda item: iso_micro(item.created_at)),
    Shown("updated_at", lambda item: iso_micro(item.updated_at)),
    Shown("deleted", lambda item: False),
    Shown("deleted_at", lambda item: None),
    Shown("uuid", lambda item: item.uuid, since=41),
)
CREATED: Final = View[Aggregate](_CORE)
"""The answer to a create has neither hosts nor metadata, at any version."""

FULL: Final = View[Aggregate]((*_CORE, Shown("hosts", lambda item: item.hosts), Shown("metadata", lambda item: item.metadata)))
