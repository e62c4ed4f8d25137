"""Servers and their wishes as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, func, select, update

from kilonova.domain.errors import NotFound
from kilonova.domain.flavor import Flavor
from kilonova.domain.lifecycle import State
from kilonova.domain.server import Server
from kilonova.domain.wish import Wish
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, BulkUpdate, Statement, any_of
from kilonova.storage.tables import server_tags, server_wishes, servers

COLUMNS: Final[Sequence[str]] = (
    "id", "project_id", "user_id", "name", "hostname", "description", "created_at", "updated_at", "launched_at", "terminated_at",
    "deleted", "vm_state", "task_state", "power_state", "cell", "host", "generation", "flavor", "image_id", "key_name",
    "availability_zone", "pinned_zone", "config_drive", "user_data", "metadata", "system_metadata", "addresses",
    "security_groups", "access_ip_v4", "access_ip_v6", "fault", "locked_by", "locked_reason", "group_id", "reservation_id",
    "launch_index", "root_device_name",
)  # fmt: skip
"""The order of Server's fields."""

SELECT: Final = select(*[servers.c[name] for name in COLUMNS])
_ONE: Final = Statement(SELECT.where(servers.c.id == bindparam("id")))
_TAGS: Final = Statement(
    select(server_tags.c.server_id, server_tags.c.tag)
    .where(any_of(server_tags.c.server_id, "ids"))
    .order_by(server_tags.c.server_id, server_tags.c.tag)
)


def server_of(row: Any) -> Server:
    """A row of COLUMNS as a Server."""
    values = list(row)
    loads = orjson.loads
    values[17] = Flavor(**loads(values[17]))
    for place in (24, 25, 26, 27):
        values[place] = loads(values[place])
    if values[30] is not None:
        values[30] = loads(values[30])
    return Server(*values)


async def find(transaction: Transaction, server_id: str) -> Server | None:
    """The server, deleted or not; None if there never was one."""
    row = await transaction.one(_ONE, {"id": server_id})
    return None if row is None else server_of(row)


async def get(transaction: Transaction, server_id: str) -> Server:
    """The server, if it lives. Raises errors.NotFound."""
    server = await find(transaction, server_id)
    if server is None or server.deleted:
        raise NotFound(f"Instance {server_id} could not be found.")
    return server


async def tags_of(transaction: Transaction, server_ids: Sequence[str]) -> Mapping[str, list[str]]:
    """Tags by server id, sorted; servers without tags are not in it."""
    found: dict[str, list[str]] = {}
    for row in await transaction.rows(_TAGS, {"ids": list(server_ids)}):
        found.setdefault(row[0], []).append(row[1])
    return found


# ---- what operations write -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """The part of a server that operations move; `flavor`, `addresses` and `fault` are as stored."""

    id: str
    project_id: str
    flavor: str
    vm_state: str
    task_state: str | None
    power_state: int
    cell: str
    host: str | None
    availability_zone: str | None
    generation: int
    launched_at: int | None
    terminated_at: int | None
    deleted: bool
    addresses: str
    fault: str | None
    updated_at: int

    @property
    def state(self) -> State:
        """Where it stands in its lifecycle."""
        return State(self.vm_state, self.task_state, self.power_state)


_STANDING: Final = tuple(Standing.__dataclass_fields__)
_LOCK: Final = Statement(
    select(*[servers.c[name] for name in _STANDING])
    .where(any_of(servers.c.id, "ids"))
    .order_by(servers.c.id)
    .with_for_update(key_share=True)
)
_MOVED: Final = tuple(name for name in _STANDING if name not in {"id", "project_id", "flavor"})
_SAVE: Final = BulkUpdate(servers, ("id",), sets=_MOVED)
_SAVED: Final = attrgetter("id", *_MOVED)
_INSERT: Final = BulkInsert(servers, (*COLUMNS, "asked"))
_INSERT_WISH: Final = BulkInsert(server_wishes, ("server_id", "project_id", "document"))
_INSERT_TAG: Final = BulkInsert(server_tags, ("server_id", "tag", "project_id"))
_WISHES: Final = Statement(
    select(server_wishes.c.server_id, server_wishes.c.document).where(any_of(server_wishes.c.server_id, "ids"))
)
_RAISE: Final = Statement(
    update(servers)
    .where(any_of(servers.c.id, "ids"))
    .values(generation=servers.c.generation + 1)
    .returning(servers.c.id, servers.c.generation)
)
_ON_HOST: Final = Statement(
    select(servers.c.id, servers.c.generation).where(servers.c.host == bindparam("host"), ~servers.c.deleted)
)
_WHEREABOUTS: Final = Statement(
    select(servers.c.id, servers.c.host, servers.c.deleted, servers.c.vm_state).where(any_of(servers.c.id, "ids"))
)
_GROUP_MEMBERS: Final = Statement(
    select(servers.c.group_id, servers.c.host, func.count())
    .where(any_of(servers.c.group_id, "groups"), ~servers.c.deleted, servers.c.host.is_not(None))
    .group_by(servers.c.group_id, servers.c.host)
)


async def lock(transaction: Transaction, server_ids: Sequence[str]) -> dict[str, Standing]:
    """Lock servers in id order; those that exist, deleted or not, by id."""
    rows = await transaction.rows(_LOCK, {"ids": sorted(server_ids)})
    return {row[0]: Standing(*row) for row in rows}


async def save(transaction: Transaction, changed: Sequence[Standing]) -> None:
    """Write back locked servers."""
    await transaction.many(_SAVE, [_SAVED(entry) for entry in changed])


async def insert(transaction: Transaction, new: Sequence[tuple[Server, Wish]]) -> None:
    """Write new servers with their wishes and tags."""
    await transaction.many(_INSERT, [(*_row_of(server), _shown_of(wish)) for server, wish in new])
    await transaction.many(_INSERT_WISH, [(server.id, server.project_id, wish.to_json()) for server, wish in new])
    await transaction.many(_INSERT_TAG, [(server.id, tag, server.project_id) for server, wish in new for tag in wish.tags])


def _shown_of(wish: Wish) -> str:
    """What lists show of a wish, kept beside the server so that a list need not read whole wishes."""
    properties = wish.image.properties if wish.image else {}
    return orjson.dumps([properties, wish.hints, wish.trusted_certificates]).decode()


def _row_of(server: Server) -> tuple[Any, ...]:
    def stored(name: str) -> Any:
        value = getattr(server, name)
        if name in _DOCUMENTS and value is not None:
            return orjson.dumps(value).decode()
        return value

    return tuple(stored(name) for name in COLUMNS)


_DOCUMENTS: Final = frozenset({"flavor", "metadata", "system_metadata", "addresses", "security_groups", "fault"})


async def wishes(transaction: Transaction, server_ids: Sequence[str]) -> dict[str, Wish]:
    """Wishes by server id."""
    rows = await transaction.rows(_WISHES, {"ids": list(server_ids)})
    return {row[0]: Wish.from_json(row[1]) for row in rows}


async def raise_generations(transaction: Transaction, server_ids: Sequence[str]) -> dict[str, int]:
    """Raise each server's generation by one; the new ones by id."""
    rows = await transaction.rows(_RAISE, {"ids": sorted(server_ids)})
    return {row[0]: row[1] for row in rows}


async def on_host(transaction: Transaction, host: str) -> dict[str, int]:
    """The live servers of a host with their generations."""
    return {row[0]: row[1] for row in await transaction.rows(_ON_HOST, {"host": host})}


async def whereabouts(transaction: Transaction, server_ids: Sequence[str]) -> dict[str, tuple[str | None, bool]]:
    """Host and whether it is deleted, for those of the ids that are servers."""
    return {row[0]: (row[1], row[2]) for row in await transaction.rows(_WHEREABOUTS, {"ids": list(server_ids)})}


async def members_by_host(transaction: Transaction, group_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many live members each group has on each host."""
    found: dict[str, dict[str, int]] = {}
    for group_id, host, count in await transaction.rows(_GROUP_MEMBERS, {"groups": list(group_ids)}):
        found.setdefault(group_id, {})[host] = count
    return found
