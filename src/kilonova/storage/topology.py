"""Hosts with their aggregates and root providers, read whole: what schedulers and conductors keep in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement
from kilonova.storage.tables import aggregate_hosts, aggregates, hosts, providers


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host as scheduling and commands need it; `root_id` is the ledger's number of its root provider."""

    name: str
    cell: str
    root_id: int
    epoch: int
    alive: bool
    disabled: bool
    disabled_reason: str
    forced_down: bool
    failed_builds: int
    hypervisor: Mapping[str, Any]

    @property
    def is_up(self) -> bool:
        """Whether it is taken to be alive."""
        return self.alive and not self.forced_down


@dataclass(frozen=True, slots=True)
class AggregateRow:
    """One host aggregate with its hosts."""

    id: int
    name: str
    metadata: Mapping[str, str]
    hosts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Topology:
    """All hosts by name, all aggregates by id."""

    hosts: Mapping[str, HostRow]
    aggregates: Mapping[int, AggregateRow]


_HOSTS: Final = Statement(
    select(
        hosts.c.name,
        hosts.c.cell,
        providers.c.id,
        hosts.c.epoch,
        hosts.c.alive,
        hosts.c.disabled,
        hosts.c.disabled_reason,
        hosts.c.forced_down,
        hosts.c.failed_builds,
        hosts.c.hypervisor,
    )
    .join(providers, providers.c.uuid == hosts.c.provider_uuid)
    .order_by(hosts.c.name)
)
_AGGREGATES: Final = Statement(select(aggregates.c.id, aggregates.c.name, aggregates.c.metadata))
_MEMBERS: Final = Statement(select(aggregate_hosts.c.aggregate_id, aggregate_hosts.c.host))


async def read(transaction: Transaction) -> Topology:
    """The whole topology as it is now."""
    members: dict[int, set[str]] = {}
    for aggregate_id, host in await transaction.rows(_MEMBERS):
        members.setdefault(aggregate_id, set()).add(host)
    found = {
        row[0]: AggregateRow(row[0], row[1], orjson.loads(row[2]), frozenset(members.get(row[0], ())))
        for row in await transaction.rows(_AGGREGATES)
    }
    rows = await transaction.rows(_HOSTS)
    return Topology({row[0]: _host_of(row) for row in rows}, found)


def _host_of(row: Any) -> HostRow:
    name, cell, root_id, epoch, alive, disabled, reason, forced_down, failed_builds, hypervisor = row
    return HostRow(
        name, cell, root_id, epoch, alive, disabled, reason or "", forced_down, failed_builds, orjson.loads(hypervisor)
    )
