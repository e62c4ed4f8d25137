"""What projects use of their quota, counted in the transaction that changes it. The rows are locked last of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, BulkUpdate, Statement, any_of
from kilonova.storage.tables import quota_limits, quota_usages

_LOCK: Final = Statement(
    select(quota_usages.c.project_id, quota_usages.c.instances, quota_usages.c.cores, quota_usages.c.ram)
    .where(any_of(quota_usages.c.project_id, "projects"))
    .order_by(quota_usages.c.project_id)
    .with_for_update(key_share=True)
)
_LIMITS: Final = Statement(
    select(quota_limits.c.project_id, quota_limits.c.resource, quota_limits.c.amount).where(
        any_of(quota_limits.c.project_id, "projects")
    )
)
_START: Final = BulkInsert(quota_usages, ("project_id", "instances", "cores", "ram"), "nothing")
_ADD: Final = BulkUpdate(quota_usages, ("project_id",), adds=("instances", "cores", "ram"))


@dataclass(frozen=True, slots=True)
class Counted:
    """What a project uses, or a difference to it: servers, VCPUs, MB of memory."""

    project_id: str
    instances: int = 0
    cores: int = 0
    ram: int = 0

    def plus(self, other: "Counted") -> "Counted":
        """The sum, for the same project."""
        return Counted(self.project_id, self.instances + other.instances, self.cores + other.cores, self.ram + other.ram)


async def lock(transaction: Transaction, projects: Sequence[str]) -> dict[str, Counted]:
    """Lock what projects use, in order; projects that never used anything get a row first."""
    wanted = sorted(set(projects))
    found = {row[0]: Counted(*row) for row in await transaction.rows(_LOCK, {"projects": wanted})}
    missing = [project for project in wanted if project not in found]
    if missing:
        await transaction.many(_START, [(project, 0, 0, 0) for project in missing])
        found = {row[0]: Counted(*row) for row in await transaction.rows(_LOCK, {"projects": wanted})}
    return found


async def limits(transaction: Transaction, projects: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """The limits set for projects, those of the default class included; what is not in it has the settings' default.

    A user's own limits are under "user/resource" (storage/quotas.py).
    """
    wanted = sorted(set(projects))
    found: dict[str, dict[str, int]] = {}
    for project, resource, amount in await transaction.rows(_LIMITS, {"projects": ["", *wanted]}):
        found.setdefault(project, {})[resource] = amount
    return {project: {**found.get("", {}), **found.get(project, {})} for project in wanted}


async def add(transaction: Transaction, differences: Sequence[Counted]) -> None:
    """Count differences, summed by project. The rows must be locked."""
    sums: dict[str, Counted] = {}
    for entry in differences:
        sums[entry.project_id] = sums[entry.project_id].plus(entry) if entry.project_id in sums else entry
    await transaction.many(
        _ADD, [(project, sums[project].instances, sums[project].cores, sums[project].ram) for project in sorted(sums)]
    )
