"""Host aggregates as rows, and their mirror on the hosts' providers, always written in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson
from sqlalchemy import BigInteger, bindparam, delete, insert, select, update

from kilonova.domain.clock import now
from kilonova.domain.errors import Conflict
from kilonova.storage.changes import AGGREGATE, HOST, note
from kilonova.storage.database import Duplicate, Row, Transaction
from kilonova.storage.host_trees import join_aggregate, leave_aggregate
from kilonova.storage.hosts import HostRecord
from kilonova.storage.statement import BulkInsert, Statement
from kilonova.storage.tables import aggregate_hosts, aggregates

ZONE_KEY: Final = "availability_zone"
"""The metadata key that makes an aggregate an availability zone. Source: the community's documentation of aggregates."""

_COLUMNS: Final[Sequence[str]] = ("id", "uuid", "name", "metadata", "created_at", "updated_at")
"""The order of Aggregate's fields."""

_SELECT: Final = select(*[aggregates.c[name] for name in _COLUMNS])
_BY_ID: Final = _SELECT.where(aggregates.c.id == bindparam("number", type_=BigInteger))
_ALL: Final = Statement(_SELECT.order_by(aggregates.c.id))
_ONE: Final = Statement(_BY_ID)
_LOCK: Final = Statement(_BY_ID.with_for_update(key_share=True))
_MEMBERS: Final = select(aggregate_hosts.c.aggregate_id, aggregate_hosts.c.host)
_ALL_MEMBERS: Final = Statement(_MEMBERS.order_by(aggregate_hosts.c.aggregate_id, aggregate_hosts.c.host))
_MEMBERS_OF: Final = Statement(
    _MEMBERS.where(aggregate_hosts.c.aggregate_id == bindparam("number", type_=BigInteger)).order_by(aggregate_hosts.c.host)
)
_INSERT: Final = Statement(
    insert(aggregates)
    .values({name: bindparam(name) for name in ("uuid", "name", "metadata", "created_at")})
    .returning(aggregates.c.id)
)
_UPDATE: Final = Statement(
    update(aggregates)
    .where(aggregates.c.id == bindparam("number", type_=BigInteger))
    .values({name: bindparam(name) for name in ("name", "metadata", "updated_at")})
)
_DELETE: Final = Statement(delete(aggregates).where(aggregates.c.id == bindparam("number", type_=BigInteger)))
_ADD_HOST: Final = BulkInsert(aggregate_hosts, ("aggregate_id", "host"))
_DROP_HOST: Final = Statement(
    delete(aggregate_hosts).where(
        aggregate_hosts.c.aggregate_id == bindparam("number", type_=BigInteger),
        aggregate_hosts.c.host == bindparam("host"),
    )
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A set of hosts under metadata that the scheduler reads; its `uuid` is the placement aggregate's. Times in microseconds."""

    id: int
    uuid: str
    name: str
    metadata: Mapping[str, str]
    created_at: int
    updated_at: int | None = None
    hosts: tuple[str, ...] = ()

    @property
    def zone(self) -> str | None:
        """The availability zone that it makes of its hosts, if any."""
        return self.metadata.get(ZONE_KEY)


def _aggregate_of(row: Row, hosts: Sequence[str]) -> Aggregate:
    values = list(row)
    values[3] = orjson.loads(values[3])
    values.append(tuple(hosts))
    return Aggregate(*values)


async def all_aggregates(tx: Transaction) -> list[Aggregate]:
    """Every aggregate with its hosts, by number."""
    members: dict[int, list[str]] = {}
    for row in await tx.rows(_ALL_MEMBERS):
        members.setdefault(row[0], []).append(row[1])
    return [_aggregate_of(row, members.get(row[0], ())) for row in await tx.rows(_ALL)]


async def _found(tx: Transaction, statement: Statement, number: int) -> Aggregate | None:
    row = await tx.one(statement, {"number": number})
    if row is None:
        return None
    return _aggregate_of(row, [member[1] for member in await tx.rows(_MEMBERS_OF, {"number": number})])


async def find_aggregate(tx: Transaction, number: int) -> Aggregate | None:
    """The aggregate of this number."""
    return await _found(tx, _ONE, number)


async def lock_aggregate(tx: Transaction, number: int) -> Aggregate | None:
    """The aggregate, locked until the transaction ends; what is changed should be read so."""
    return await _found(tx, _LOCK, number)


async def insert_aggregate(tx: Transaction, aggregate: Aggregate) -> Aggregate:
    """Store a new one without hosts (its `id` is not looked at). Raises errors.Conflict for a taken name."""
    values = {"uuid": aggregate.uuid, "name": aggregate.name, "created_at": aggregate.created_at}
    try:
        row = await tx.one(_INSERT, {**values, "metadata": orjson.dumps(aggregate.metadata).decode()})
    except Duplicate as error:
        raise Conflict(f"Aggregate {aggregate.name} already exists.") from error
    assert row is not None
    stored = replace(aggregate, id=int(row[0]))
    await note(tx, [(AGGREGATE, str(stored.id))])
    return stored


async def update_aggregate(tx: Transaction, aggregate: Aggregate) -> Aggregate:
    """Write name and metadata. Raises errors.Conflict for a taken name."""
    changed = replace(aggregate, updated_at=now())
    values = {"number": changed.id, "name": changed.name, "updated_at": changed.updated_at}
    try:
        await tx.run(_UPDATE, {**values, "metadata": orjson.dumps(changed.metadata).decode()})
    except Duplicate as error:
        raise Conflict(f"Aggregate {aggregate.name} already exists.") from error
    await note(tx, [(AGGREGATE, str(changed.id))])
    return changed


async def delete_aggregate(tx: Transaction, aggregate: Aggregate) -> None:
    """Remove one that has no hosts."""
    await tx.run(_DELETE, {"number": aggregate.id})
    await note(tx, [(AGGREGATE, str(aggregate.id))])


async def add_host(tx: Transaction, aggregate: Aggregate, host: HostRecord) -> Aggregate:
    """Take a host in, its provider too. Raises errors.Conflict when it is in already or has no provider."""
    try:
        await tx.many(_ADD_HOST, [(aggregate.id, host.name)])
    except Duplicate as error:
        raise Conflict(f"Aggregate {aggregate.id} already has host {host.name}.") from error
    await join_aggregate(tx, host.provider_uuid, aggregate.uuid)
    await note(tx, [(AGGREGATE, str(aggregate.id)), (HOST, host.name)])
    return replace(aggregate, hosts=tuple(sorted({*aggregate.hosts, host.name})))


async def remove_host(tx: Transaction, aggregate: Aggregate, host: HostRecord) -> Aggregate:
    """Let a host go, its provider too."""
    await tx.run(_DROP_HOST, {"number": aggregate.id, "host": host.name})
    await leave_aggregate(tx, host.provider_uuid, aggregate.uuid)
    await note(tx, [(AGGREGATE, str(aggregate.id)), (HOST, host.name)])
    return replace(aggregate, hosts=tuple(name for name in aggregate.hosts if name != host.name))


def zones_by_host(found: Sequence[Aggregate]) -> dict[str, str]:
    """The zone of each host that is in an aggregate with one."""
    zones: dict[str, str] = {}
    for aggregate in found:
        if aggregate.zone:
            for host in aggregate.hosts:
                zones.setdefault(host, aggregate.zone)
    return zones
