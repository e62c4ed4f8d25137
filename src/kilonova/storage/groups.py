"""Server groups as rows. A server carries its group's id, so members are read from the servers and never kept twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import BigInteger, bindparam, delete, func, insert, select

from kilonova.storage.database import Row, Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import server_groups, servers

_COLUMNS: Final[Sequence[str]] = ("id", "project_id", "user_id", "name", "policy", "rules", "created_at")
"""The order of ServerGroup's fields."""

_SELECT: Final = select(*[server_groups.c[name] for name in _COLUMNS])
_OF_PROJECT: Final = server_groups.c.project_id == bindparam("project_id")
_ONE: Final = Statement(_SELECT.where(server_groups.c.id == bindparam("id")))
_PAGED: Final = (
    _SELECT.order_by(server_groups.c.created_at, server_groups.c.id)
    .limit(bindparam("limit", type_=BigInteger))
    .offset(bindparam("offset", type_=BigInteger))
)
_ALL: Final = Statement(_PAGED)
_OWN: Final = Statement(_PAGED.where(_OF_PROJECT))
_COUNT: Final = Statement(select(func.count()).select_from(server_groups).where(_OF_PROJECT))
_INSERT: Final = Statement(insert(server_groups).values({name: bindparam(name) for name in _COLUMNS}))
_DELETE: Final = Statement(delete(server_groups).where(server_groups.c.id == bindparam("id")))
_MEMBERS: Final = Statement(
    select(servers.c.group_id, servers.c.id)
    .where(any_of(servers.c.group_id, "ids"), ~servers.c.deleted)
    .order_by(servers.c.created_at, servers.c.id)
)


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """`policy` is affinity, anti-affinity or one of their soft kinds; `rules` has max_server_per_host where it was given."""

    id: str
    project_id: str
    user_id: str
    name: str
    policy: str
    rules: Mapping[str, int]
    created_at: int


def _group_of(row: Row) -> ServerGroup:
    values = list(row)
    values[5] = orjson.loads(values[5])
    return ServerGroup(*values)


async def find_group(tx: Transaction, group_id: str) -> ServerGroup | None:
    """The group, whosever it is."""
    row = await tx.one(_ONE, {"id": group_id})
    return None if row is None else _group_of(row)


async def list_groups(tx: Transaction, project_id: str | None, limit: int, offset: int) -> list[ServerGroup]:
    """Groups of a project, or of all for None, oldest first."""
    page = {"limit": limit, "offset": offset}
    if project_id is None:
        rows = await tx.rows(_ALL, page)
    else:
        rows = await tx.rows(_OWN, {**page, "project_id": project_id})
    return [_group_of(row) for row in rows]


async def count_groups(tx: Transaction, project_id: str) -> int:
    """How many groups the project has."""
    row = await tx.one(_COUNT, {"project_id": project_id})
    return int(row[0]) if row else 0


async def insert_group(tx: Transaction, group: ServerGroup) -> None:
    """Store a new group."""
    values = {name: getattr(group, name) for name in _COLUMNS}
    await tx.run(_INSERT, {**values, "rules": orjson.dumps(group.rules).decode()})


async def delete_group(tx: Transaction, group_id: str) -> bool:
    """Remove the group; False when there is none. Its servers go on with a group that constrains nothing."""
    return await tx.run(_DELETE, {"id": group_id}) > 0


async def members_of(tx: Transaction, group_ids: Sequence[str]) -> Mapping[str, list[str]]:
    """Ids of live servers by group id, oldest first; groups without servers are not in it."""
    found: dict[str, list[str]] = {}
    for row in await tx.rows(_MEMBERS, {"ids": list(group_ids)}):
        found.setdefault(row[0], []).append(row[1])
    return found
