"""Lists of servers: SQL for a shape of filters, order and page is made once and kept; reading a row is kept cheap."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
)

from kilonova.domain.errors import BadRequest
from kilonova.domain.flavor import Flavor
from kilonova.storage.database import Row, Transaction
from kilonova.storage.server_filters import CONDITIONS, Filter, json_text
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import hosts, servers

SORT_KEYS: Final[Mapping[str, ColumnElement[Any]]] = MappingProxyType(
    {
        "access_ip_v4": func.coalesce(servers.c.access_ip_v4, ""),
        "access_ip_v6": func.coalesce(servers.c.access_ip_v6, ""),
        "availability_zone": func.coalesce(servers.c.availability_zone, ""),
        "config_drive": servers.c.config_drive,
        "created_at": servers.c.created_at,
        "display_description": func.coalesce(servers.c.description, ""),
        "display_name": servers.c.name,
        "host": func.coalesce(servers.c.host, ""),
        "hostname": servers.c.hostname,
        "image_ref": servers.c.image_id,
        "instance_type_id": json_text(servers.c.flavor, "flavorid"),
        "key_name": func.coalesce(servers.c.key_name, ""),
        "launch_index": servers.c.launch_index,
        "launched_at": func.coalesce(servers.c.launched_at, 0),
        "locked": func.coalesce(servers.c.locked_by, ""),
        "power_state": servers.c.power_state,
        "project_id": servers.c.project_id,
        "root_device_name": servers.c.root_device_name,
        "task_state": func.coalesce(servers.c.task_state, ""),
        "terminated_at": func.coalesce(servers.c.terminated_at, 0),
        "updated_at": servers.c.updated_at,
        "user_id": servers.c.user_id,
        "uuid": servers.c.id,
        "vm_state": servers.c.vm_state,
    }
)
"""What a list can be ordered by. Nothing in it is NULL, so that a page can go on after any row."""


@dataclass(frozen=True, slots=True)
class ServerQuery:
    """Which servers, in which order (key of SORT_KEYS, whether descending), how many, after which one."""

    filters: tuple[Filter, ...] = ()
    sort: tuple[tuple[str, bool], ...] = (("created_at", True),)
    limit: int = 1000
    marker: str | None = None


class Brief(NamedTuple):
    """The two things that the short list shows."""

    id: str
    name: str


class ListedServer(NamedTuple):
    """A server as lists and shows read it: Server's fields that can be seen, JSON that is only passed on as JSON text.

    It is not a Server because a page has a thousand of them and making a frozen dataclass takes longer than all the rest.
    `config_drive` is "True" or "". `wish` is a JSON list of what is shown of the wish: the image's properties, the
    scheduler hints, the trusted certificates. What a Sight leaves out is None.
    """

    id: str
    name: str
    project_id: str
    user_id: str
    hostname: str
    description: str | None
    created_at: int
    updated_at: int
    launched_at: int | None
    terminated_at: int | None
    vm_state: str
    task_state: str | None
    power_state: int
    host: str | None
    flavor: Flavor
    image_id: str
    key_name: str | None
    availability_zone: str | None
    pinned_zone: str | None
    config_drive: str
    metadata: str
    system_metadata: Mapping[str, str]
    addresses: Sequence[Mapping[str, Any]]
    security_groups: str
    access_ip_v4: str | None
    access_ip_v6: str | None
    fault: Mapping[str, Any] | None
    locked_by: str | None
    locked_reason: str | None
    group_id: str | None
    reservation_id: str | None
    launch_index: int | None
    root_device_name: str | None
    user_data: str | None
    wish: str | None


@dataclass(frozen=True, slots=True)
class Sight:
    """What of a server is read besides its usual fields: what only administrators see of it, and what was asked for it."""

    attributes: bool = False
    wish: bool = False


@dataclass(frozen=True, slots=True)
class _Form:
    """What shapes the SQL of a list; the values of its parameters do not. Without a sight it is ids and names."""

    sight: Sight | None
    filters: tuple[tuple[str, int, tuple[Any, ...]], ...]
    sort: tuple[tuple[str, bool], ...]
    marked: bool


@dataclass(frozen=True, slots=True)
class HostSeen:
    """What servers show of their host. `status` is UP, DOWN, UNKNOWN or MAINTENANCE."""

    hypervisor_hostname: str
    status: str


@dataclass(frozen=True, slots=True)
class _Made:
    page: Statement
    marker: Statement = field(repr=False)


def _order(sort: tuple[tuple[str, bool], ...]) -> list[tuple[ColumnElement[Any], bool]]:
    keys = [(SORT_KEYS[name], descending) for name, descending in sort]
    if all(name != "uuid" for name, _ in sort):
        keys.append((servers.c.id, sort[-1][1]))
    return keys


def _after_marker(order: list[tuple[ColumnElement[Any], bool]]) -> ColumnElement[bool]:
    values = [bindparam(f"m{place}", type_=key.type) for place, (key, _) in enumerate(order)]
    if len({descending for _, descending in order}) == 1:
        # One comparison of rows, which an index on the same columns can answer.
        here, there = tuple_(*[key for key, _ in order]), tuple_(*values)
        return here < there if order[0][1] else here > there
    steps = []
    for place, (key, descending) in enumerate(order):
        same = [order[before][0] == values[before] for before in range(place)]
        steps.append(and_(*same, key < values[place] if descending else key > values[place]))
    return or_(*steps)


_ATTRIBUTES: Final = frozenset(("reservation_id", "launch_index", "root_device_name", "user_data"))


def _select(sight: Sight) -> Select[Any]:
    columns: list[ColumnElement[Any]] = []
    for name in ListedServer._fields:
        if name == "config_drive":
            columns.append(case((servers.c.config_drive, literal_column("'True'")), else_=literal_column("''")))
        elif name == "wish":
            columns.append(servers.c.asked if sight.wish else null())
        else:
            columns.append(servers.c[name] if sight.attributes or name not in _ATTRIBUTES else null())
    return select(*[column.label(f"c{place}") for place, column in enumerate(columns)])


@lru_cache(maxsize=1024)
def _made(form: _Form) -> _Made:
    order = _order(form.sort)
    query = select(servers.c.id, servers.c.name) if form.sight is None else _select(form.sight)
    for place, (name, count, shape) in enumerate(form.filters):
        query = query.where(CONDITIONS[name](f"f{place}_", Filter(name, (None,) * count, shape)))
    if form.marked:
        query = query.where(_after_marker(order))
    ordered = [key.desc() if descending else key.asc() for key, descending in order]
    page = query.order_by(*ordered).limit(bindparam("limit", type_=Integer()))
    marker = select(*[key for key, _ in order]).where(servers.c.id == bindparam("id"))
    return _Made(Statement(page), Statement(marker))


async def _rows(transaction: Transaction, query: ServerQuery, sight: Sight | None) -> Sequence[Row]:
    shapes = tuple((entry.name, len(entry.values), entry.shape) for entry in query.filters)
    made = _made(_Form(sight, shapes, query.sort, query.marker is not None))
    values: dict[str, Any] = {"limit": query.limit}
    for place, entry in enumerate(query.filters):
        values.update({f"f{place}_{number}": value for number, value in enumerate(entry.values)})
    if query.marker is not None:
        marker = await transaction.one(made.marker, {"id": query.marker})
        if marker is None:
            raise BadRequest(f"marker [{query.marker}] not found")
        values.update({f"m{place}": value for place, value in enumerate(marker)})
    return await transaction.rows(made.page, values)


async def brief(transaction: Transaction, query: ServerQuery) -> list[Brief]:
    """Ids and names of a page. Raises errors.BadRequest for a marker that is no server."""
    return [Brief(row[0], row[1]) for row in await _rows(transaction, query, None)]


class ListedRows:
    """A page as the database gave it. Its servers are made one at a time, so that a long list never lies in memory whole."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[ListedServer]:
        return map(_listed, self._rows)

    def ids(self) -> list[str]:
        """The servers' ids, in order."""
        return [row[0] for row in self._rows]

    def hosts(self) -> list[str]:
        """The hosts that the servers are on, each once."""
        return sorted({row[_HOST] for row in self._rows if row[_HOST]})


async def whole(transaction: Transaction, query: ServerQuery, sight: Sight) -> ListedRows:
    """The servers of a page. Raises errors.BadRequest for a marker that is no server."""
    return ListedRows(await _rows(transaction, query, sight))


async def find(transaction: Transaction, server_id: str, sight: Sight) -> ListedServer | None:
    """One live server; None if there is none."""
    query = ServerQuery((Filter("id", (server_id,)), Filter("deleted", (False,))), limit=1)
    return next(iter(await whole(transaction, query, sight)), None)


_HOST, _FLAVOR, _SYSTEM, _ADDRESSES, _FAULT = (
    ListedServer._fields.index(name) for name in ("host", "flavor", "system_metadata", "addresses", "fault")
)
_EMPTY: Final[Mapping[str, Any]] = {"{}": {}, "[]": ()}


@lru_cache(maxsize=4096)
def _flavor(text: str) -> Flavor:
    return Flavor(**orjson.loads(text))


def _listed(row: Row) -> ListedServer:
    # Servers of one list share what is equal in them: nobody may change it.
    values = list(row)
    values[_FLAVOR] = _flavor(values[_FLAVOR])
    text = values[_SYSTEM]
    values[_SYSTEM] = _EMPTY[text] if text in _EMPTY else orjson.loads(text)
    text = values[_ADDRESSES]
    values[_ADDRESSES] = _EMPTY[text] if text in _EMPTY else orjson.loads(text)
    if values[_FAULT] is not None:
        values[_FAULT] = orjson.loads(values[_FAULT])
    return ListedServer._make(values)


_HOSTS: Final = Statement(
    select(hosts.c.name, hosts.c.alive, hosts.c.disabled, hosts.c.forced_down, hosts.c.hypervisor).where(
        any_of(hosts.c.name, "names")
    )
)


async def hosts_seen(transaction: Transaction, names: Sequence[str]) -> dict[str, HostSeen]:
    """What servers show of their hosts, by host name; unknown names are left out."""
    if not names:
        return {}
    found = {}
    for name, alive, disabled, forced_down, hypervisor in await transaction.rows(_HOSTS, {"names": list(names)}):
        # Source: compute API reference, "host_status".
        status = "DOWN" if forced_down else "MAINTENANCE" if disabled else "UP" if alive else "UNKNOWN"
        found[name] = HostSeen(orjson.loads(hypervisor).get("hostname", name), status)
    return found
