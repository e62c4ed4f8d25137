"""Server groups as transactions need them: locked, with how many members they have and what their policy allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import func, select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import server_groups, servers

_READ: Final = select(server_groups.c.id, server_groups.c.policy, server_groups.c.rules).where(
    any_of(server_groups.c.id, "groups")
)
_POLICIES: Final = Statement(_READ)
_LOCK: Final = Statement(_READ.order_by(server_groups.c.id).with_for_update(key_share=True))
_SIZES: Final = Statement(
    select(servers.c.group_id, func.count())
    .where(any_of(servers.c.group_id, "groups"), ~servers.c.deleted)
    .group_by(servers.c.group_id)
)


@dataclass(frozen=True, slots=True)
class GroupPolicy:
    """A group's policy and its rules (`max_server_per_host`)."""

    id: str
    policy: str
    rules: Mapping[str, Any]

    def allows(self, host: str, members_by_host: Mapping[str, int]) -> bool:
        """Whether one more member may go to `host`. Soft policies allow every host."""
        if self.policy == "anti-affinity":
            return members_by_host.get(host, 0) < int(self.rules.get("max_server_per_host", 1))
        if self.policy == "affinity":
            return not any(count for name, count in members_by_host.items() if name != host)
        return True


async def policies(transaction: Transaction, group_ids: Sequence[str]) -> dict[str, GroupPolicy]:
    """Those of the groups that exist."""
    return _groups(await transaction.rows(_POLICIES, {"groups": list(group_ids)}))


async def lock(transaction: Transaction, group_ids: Sequence[str]) -> dict[str, GroupPolicy]:
    """Those of the groups that exist, locked in id order."""
    return _groups(await transaction.rows(_LOCK, {"groups": sorted(group_ids)}))


async def lock_sizes(transaction: Transaction, group_ids: Sequence[str]) -> dict[str, int]:
    """How many live members those groups have that exist, with the groups locked."""
    present = await lock(transaction, group_ids)
    counts = {row[0]: row[1] for row in await transaction.rows(_SIZES, {"groups": sorted(present)})}
    return {group_id: counts.get(group_id, 0) for group_id in present}


def _groups(rows: Sequence[Any]) -> dict[str, GroupPolicy]:
    return {row[0]: GroupPolicy(row[0], row[1], orjson.loads(row[2])) for row in rows}
