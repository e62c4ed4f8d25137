"""Hosts as rows: what registration and liveness know of a hypervisor. Its providers are the ledger's (see host_trees)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Integer, bindparam, delete, func, insert, select, text, update

from kilonova.domain.errors import NotFound
from kilonova.storage.changes import HOST, note
from kilonova.storage.database import Row, Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import hosts, servers

_COLUMNS: Final[Sequence[str]] = (
    "name", "id", "service_id", "cell", "provider_uuid", "epoch", "incarnation", "alive", "disabled", "disabled_reason",
    "forced_down", "failed_builds", "hypervisor", "reported", "created_at", "updated_at", "seen_at",
)  # fmt: skip
"""The order of HostRecord's fields."""

_CHANGING: Final = tuple(name for name in _COLUMNS if name not in {"name", "id", "service_id", "created_at"})

_SELECT: Final = select(*[hosts.c[name] for name in _COLUMNS])
_NAMED: Final = _SELECT.where(hosts.c.name == bindparam("host"))
_ALL: Final = Statement(_SELECT.order_by(hosts.c.id))
_ONE: Final = Statement(_NAMED)
_LOCK: Final = Statement(_NAMED.with_for_update(key_share=True))
_BY_SERVICE: Final = Statement(_SELECT.where(hosts.c.service_id == bindparam("service_id")))
_BY_NUMBER: Final = Statement(_SELECT.where(hosts.c.id == bindparam("number", type_=Integer)))
_BY_PROVIDER: Final = Statement(_SELECT.where(hosts.c.provider_uuid == bindparam("uuid")))
_INSERT: Final = Statement(insert(hosts).values({name: bindparam(name) for name in _COLUMNS}))
_UPDATE: Final = Statement(
    update(hosts).where(hosts.c.name == bindparam("host")).values({name: bindparam(name) for name in _CHANGING})
)
_DELETE: Final = Statement(delete(hosts).where(hosts.c.name == bindparam("host")))
_NEXT: Final = Statement(
    text("""
    INSERT INTO counters (name, value) VALUES ('service', 1)
    ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value""")
)
_COUNTS: Final = Statement(
    select(servers.c.host, func.count()).where(any_of(servers.c.host, "hosts"), ~servers.c.deleted).group_by(servers.c.host)
)
_ON_HOSTS: Final = Statement(
    select(servers.c.host, servers.c.id, servers.c.name)
    .where(any_of(servers.c.host, "hosts"), ~servers.c.deleted)
    .order_by(servers.c.created_at, servers.c.id)
)


@dataclass(frozen=True, slots=True)
class HostRecord:
    """One host. Times in microseconds. `id` is the number that older API versions show, one row of numbers with processes.

    `hypervisor` is what the driver says of itself: type, version, arch, cpu_info, hostname, host_ip. `reported` is the last
    report as registration stored it.
    """

    name: str
    id: int
    service_id: str
    cell: str
    provider_uuid: str
    epoch: int
    incarnation: str
    alive: bool
    disabled: bool
    disabled_reason: str | None
    forced_down: bool
    failed_builds: int
    hypervisor: Mapping[str, Any]
    reported: str
    created_at: int
    updated_at: int
    seen_at: int

    @property
    def up(self) -> bool:
        """Whether it lives and nobody declared it down."""
        return self.alive and not self.forced_down


@dataclass(frozen=True, slots=True)
class ServerOnHost:
    """A live server as lists of a host show it."""

    id: str
    name: str


def _host_of(row: Row) -> HostRecord:
    values = list(row)
    values[12] = orjson.loads(values[12])
    return HostRecord(*values)


def _values(host: HostRecord, columns: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(host, name) for name in columns}
    return {**values, "hypervisor": orjson.dumps(host.hypervisor).decode()}


async def all_hosts(tx: Transaction) -> list[HostRecord]:
    """Every host, by number."""
    return [_host_of(row) for row in await tx.rows(_ALL)]


async def _found(tx: Transaction, statement: Statement, parameters: Mapping[str, Any]) -> HostRecord | None:
    row = await tx.one(statement, parameters)
    return None if row is None else _host_of(row)


async def find_host(tx: Transaction, name: str) -> HostRecord | None:
    """The host of this name."""
    return await _found(tx, _ONE, {"host": name})


async def lock_host(tx: Transaction, name: str) -> HostRecord:
    """The host, locked until the transaction ends; what is updated should be read so. Raises errors.NotFound."""
    host = await _found(tx, _LOCK, {"host": name})
    if host is None:
        raise NotFound(f"Compute host {name} could not be found.")
    return host


async def find_by_service(tx: Transaction, service_id: str) -> HostRecord | None:
    """The host whose compute service has this uuid."""
    return await _found(tx, _BY_SERVICE, {"service_id": service_id})


async def find_by_number(tx: Transaction, number: int) -> HostRecord | None:
    """The host of this number; None for one that no column could hold."""
    return await _found(tx, _BY_NUMBER, {"number": number}) if 0 <= number < 2**31 else None


async def find_by_provider(tx: Transaction, uuid: str) -> HostRecord | None:
    """The host whose root provider has this uuid."""
    return await _found(tx, _BY_PROVIDER, {"uuid": uuid})


async def next_number(tx: Transaction) -> int:
    """A number that no host and no process has: older API versions name services of both kinds by it."""
    row = await tx.one(_NEXT)
    assert row is not None
    return int(row[0])


async def insert_host(tx: Transaction, host: HostRecord) -> None:
    """Store a new host and note it. Raises storage.Duplicate."""
    await tx.run(_INSERT, _values(host, _COLUMNS))
    await note(tx, [(HOST, host.name)])


async def update_host(tx: Transaction, host: HostRecord) -> None:
    """Write all that may change of a host that was read with `lock_host`, and note it."""
    await tx.run(_UPDATE, {**_values(host, _CHANGING), "host": host.name})
    await note(tx, [(HOST, host.name)])


async def delete_host(tx: Transaction, name: str) -> None:
    """Remove the row and note it; its providers are another matter."""
    await tx.run(_DELETE, {"host": name})
    await note(tx, [(HOST, name)])


async def count_servers(tx: Transaction, names: Sequence[str]) -> Mapping[str, int]:
    """Live servers by host; hosts without any are not in it."""
    return {row[0]: int(row[1]) for row in await tx.rows(_COUNTS, {"hosts": list(names)})}


async def servers_on(tx: Transaction, names: Sequence[str]) -> Mapping[str, list[ServerOnHost]]:
    """The live servers by host, oldest first; hosts without any are not in it."""
    found: dict[str, list[ServerOnHost]] = {}
    for row in await tx.rows(_ON_HOSTS, {"hosts": list(names)}):
        found.setdefault(row[0], []).append(ServerOnHost(row[1], row[2]))
    return found
