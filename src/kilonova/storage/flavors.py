"""Flavors as rows, who may see the private ones, and their extra specs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, ColumnElement, Text, and_, bindparam, delete, func, insert, or_, select, update

from kilonova.domain.clock import now
from kilonova.domain.errors import BadRequest, Conflict, NotFound
from kilonova.domain.flavor import Flavor
from kilonova.storage.database import Duplicate, Row, Transaction
from kilonova.storage.statement import BulkInsert, Statement
from kilonova.storage.tables import flavor_projects, flavors

_COLUMNS: Final[Sequence[str]] = (
    "id", "flavorid", "name", "vcpus", "memory_mb", "root_gb", "ephemeral_gb", "swap_mb", "rxtx_factor", "is_public",
    "disabled", "description", "extra_specs",
)  # fmt: skip
"""The order of Flavor's fields."""

_SELECT: Final = select(*[flavors.c[name] for name in _COLUMNS])
_ACCESS: Final = flavors.c.id.in_(
    select(flavor_projects.c.flavor_id).where(flavor_projects.c.project_id == bindparam("project_id"))
)
_ONE: Final = Statement(_SELECT.where(flavors.c.flavorid == bindparam("flavorid")))
_LOCK: Final = Statement(_SELECT.where(flavors.c.flavorid == bindparam("flavorid")).with_for_update(key_share=True))
_INSERT: Final = Statement(
    insert(flavors).values({name: bindparam(name) for name in (*_COLUMNS[1:], "created_at")}).returning(flavors.c.id)
)
_DESCRIBE: Final = Statement(
    update(flavors)
    .where(flavors.c.id == bindparam("number"))
    .values(description=bindparam("text"), updated_at=bindparam("moment"))
)
_SET_SPECS: Final = Statement(
    update(flavors)
    .where(flavors.c.id == bindparam("number"))
    .values(extra_specs=bindparam("specs"), updated_at=bindparam("moment"))
)
_DELETE: Final = Statement(delete(flavors).where(flavors.c.id == bindparam("number")))
_DELETE_ACCESS: Final = Statement(delete(flavor_projects).where(flavor_projects.c.flavor_id == bindparam("number")))
_PROJECTS: Final = Statement(
    select(flavor_projects.c.project_id)
    .where(flavor_projects.c.flavor_id == bindparam("number"))
    .order_by(flavor_projects.c.project_id)
)
_HAS_ACCESS: Final = Statement(
    select(flavor_projects.c.flavor_id).where(
        flavor_projects.c.flavor_id == bindparam("number"), flavor_projects.c.project_id == bindparam("project_id")
    )
)
_ADD_PROJECT: Final = BulkInsert(flavor_projects, ("flavor_id", "project_id"))
_DROP_PROJECT: Final = Statement(
    delete(flavor_projects).where(
        flavor_projects.c.flavor_id == bindparam("number"), flavor_projects.c.project_id == bindparam("project_id")
    )
)

SORT_KEYS: Final[Mapping[str, ColumnElement[Any]]] = {
    # Columns that may be null sort as empty, so that both databases put them at the same end.
    "created_at": flavors.c.created_at,
    "description": func.coalesce(flavors.c.description, ""),
    "disabled": flavors.c.disabled,
    "ephemeral_gb": flavors.c.ephemeral_gb,
    "flavorid": flavors.c.flavorid,
    "id": flavors.c.id,
    "is_public": flavors.c.is_public,
    "memory_mb": flavors.c.memory_mb,
    "name": flavors.c.name,
    "root_gb": flavors.c.root_gb,
    "rxtx_factor": flavors.c.rxtx_factor,
    "swap": flavors.c.swap_mb,
    "updated_at": func.coalesce(flavors.c.updated_at, 0),
    "vcpus": flavors.c.vcpus,
}
"""What a list may be sorted by, by the API's names."""

ANY, PUBLIC, PRIVATE = "any", "public", "private"


@dataclass(frozen=True, slots=True)
class FlavorQuery:
    """Which flavors: `access` PUBLIC adds the private ones that `project_id` was given, PRIVATE and ANY ignore access.

    `min_ram` in MB, `min_disk` in GB. `marker` is the flavorid that the page comes after.
    """

    project_id: str
    access: str = PUBLIC
    min_ram: int = 0
    min_disk: int = 0
    sort_key: str = "flavorid"
    descending: bool = False
    marker: str | None = None
    limit: int = 1000


def _flavor_of(row: Row) -> Flavor:
    values = list(row)
    # The two drivers give booleans and floats in their own ways.
    values[8], values[9], values[10] = float(values[8]), bool(values[9]), bool(values[10])
    values[12] = orjson.loads(values[12])
    return Flavor(*values)


@lru_cache(maxsize=2 * len(SORT_KEYS))
def _list(sort_key: str, descending: bool) -> Statement:
    access = bindparam("access", type_=Text)
    column = SORT_KEYS[sort_key]
    direction = column.desc() if descending else column.asc()
    return Statement(
        _SELECT.where(
            flavors.c.memory_mb >= bindparam("min_ram", type_=BigInteger),
            flavors.c.root_gb >= bindparam("min_disk", type_=BigInteger),
            or_(
                access == ANY,
                and_(access == PUBLIC, or_(flavors.c.is_public, _ACCESS)),
                and_(access == PRIVATE, ~flavors.c.is_public),
            ),
        ).order_by(direction, flavors.c.id.desc() if descending else flavors.c.id)
    )


async def list_flavors(tx: Transaction, query: FlavorQuery) -> list[Flavor]:
    """One page of flavors. Raises errors.BadRequest for a marker that is not in the list.

    All matching rows are read: flavors are few, and their order by any key needs no index then.
    """
    parameters = {
        "min_ram": query.min_ram,
        "min_disk": query.min_disk,
        "access": query.access,
        "project_id": query.project_id,
    }
    found = [_flavor_of(row) for row in await tx.rows(_list(query.sort_key, query.descending), parameters)]
    start = 0
    if query.marker is not None:
        start = next((place for place, flavor in enumerate(found, 1) if flavor.flavorid == query.marker), 0)
        if not start:
            raise BadRequest(f"marker [{query.marker}] not found")
    return found[start : start + query.limit]


async def find_flavor(tx: Transaction, flavorid: str) -> Flavor | None:
    """The flavor with this public id."""
    row = await tx.one(_ONE, {"flavorid": flavorid})
    return None if row is None else _flavor_of(row)


async def lock_flavor(tx: Transaction, flavorid: str) -> Flavor:
    """The flavor, locked until the transaction ends, so that two edits of its specs do not lose one. Raises NotFound."""
    row = await tx.one(_LOCK, {"flavorid": flavorid})
    if row is None:
        raise NotFound(f"Flavor {flavorid} could not be found.")
    return _flavor_of(row)


async def visible_to(tx: Transaction, flavor: Flavor, project_id: str) -> bool:
    """Whether the project may use the flavor: it is public, or the project was given access."""
    if flavor.is_public:
        return True
    return await tx.one(_HAS_ACCESS, {"number": flavor.id, "project_id": project_id}) is not None


async def insert_flavor(tx: Transaction, flavor: Flavor) -> int:
    """Store a new flavor (its `id` is not looked at) and give its number. Raises errors.Conflict for a taken id or name."""
    values = {name: getattr(flavor, name) for name in _COLUMNS[1:]}
    values["extra_specs"] = orjson.dumps(flavor.extra_specs).decode()
    try:
        row = await tx.one(_INSERT, {**values, "created_at": now()})
    except Duplicate as error:
        taken = f"ID {flavor.flavorid}" if "flavorid" in str(error) else f"name {flavor.name}"
        raise Conflict(f"Flavor with {taken} already exists.") from error
    assert row is not None
    return int(row[0])


async def describe_flavor(tx: Transaction, flavor: Flavor, description: str | None) -> None:
    """Set the description."""
    await tx.run(_DESCRIBE, {"number": flavor.id, "text": description, "moment": now()})


async def set_extra_specs(tx: Transaction, flavor: Flavor, specs: Mapping[str, str]) -> None:
    """Set all extra specs; lock the flavor before reading the ones that are kept."""
    await tx.run(_SET_SPECS, {"number": flavor.id, "specs": orjson.dumps(specs).decode(), "moment": now()})


async def delete_flavor(tx: Transaction, flavor: Flavor) -> None:
    """Remove the flavor and who had access. Servers keep their copies."""
    await tx.run(_DELETE_ACCESS, {"number": flavor.id})
    await tx.run(_DELETE, {"number": flavor.id})


async def projects_of(tx: Transaction, flavor: Flavor) -> list[str]:
    """The projects that were given access, sorted."""
    return [row[0] for row in await tx.rows(_PROJECTS, {"number": flavor.id})]


async def give_access(tx: Transaction, flavor: Flavor, project_id: str) -> None:
    """Let a project use a private flavor. Raises errors.Conflict when it may already."""
    try:
        await tx.many(_ADD_PROJECT, [(flavor.id, project_id)])
    except Duplicate as error:
        raise Conflict(
            f"Flavor access already exists for flavor {flavor.flavorid} and project {project_id} combination."
        ) from error


async def take_access(tx: Transaction, flavor: Flavor, project_id: str) -> bool:
    """Take a project's access; False when it had none."""
    return await tx.run(_DROP_PROJECT, {"number": flavor.id, "project_id": project_id}) > 0
