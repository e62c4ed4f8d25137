"""Reads every table of the community's placement as it is. Source: its schema since 6.0.0 (Xena)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from kilonova.storage.takeover.source import Source, Unreadable

_QUERIES: Final = {
    "classes": ("resource_classes", "id, name, created_at"),
    "traits": ("traits", "id, name, created_at"),
    "projects": ("projects", "id, external_id"),
    "users": ("users", "id, external_id"),
    "consumer_types": ("consumer_types", "id, name"),
    "aggregates": ("placement_aggregates", "id, uuid"),
    "providers": (
        "resource_providers",
        "id, uuid, name, generation, parent_provider_id, root_provider_id, created_at, updated_at",
    ),
    "inventories": (
        "inventories",
        "resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio",
    ),
    "provider_traits": ("resource_provider_traits", "resource_provider_id, trait_id"),
    "provider_aggregates": ("resource_provider_aggregates", "resource_provider_id, aggregate_id"),
    "consumers": ("consumers", "uuid, generation, project_id, user_id, consumer_type_id, created_at, updated_at"),
    "allocations": ("allocations", "consumer_id, resource_provider_id, resource_class_id, used"),
}
"""Table and columns of each field of Tables."""

_ORDERED: Final = frozenset({"providers", "classes", "traits"})
"""What keeps the order in which it was made."""

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of each table, with the columns of _QUERIES in their order."""

    classes: Rows
    traits: Rows
    projects: Rows
    users: Rows
    consumer_types: Rows
    aggregates: Rows
    providers: Rows
    inventories: Rows
    provider_traits: Rows
    provider_aggregates: Rows
    consumers: Rows
    allocations: Rows


async def read(source: Source) -> Tables:
    """Everything. Raises Unreadable for another schema, errors.Unavailable."""
    found: dict[str, Rows] = {}
    for entry in fields(Tables):
        table, columns = _QUERIES[entry.name]
        try:
            found[entry.name] = await source.rows(
                f"SELECT {columns} FROM {table}" + (" ORDER BY id" if entry.name in _ORDERED else "")
            )
        except Unreadable as error:
            raise Unreadable(
                f"The table {table} cannot be read: {error}. What can be taken over is the database of a placement service, with "
                "the schema of its release 6.0.0 (Xena) or a newer one; `placement-manage db sync` brings an older one there."
            ) from error
    return Tables(**found)
