"""Limits and uses of projects. A limit comes from the user's row, the project's, the default class's, or the settings."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import orjson
from sqlalchemy import bindparam, delete, select

from kilonova.settings import QuotaSettings
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert, Statement, any_of
from kilonova.storage.tables import quota_limits, quota_usages, servers

RESOURCES: Final[Sequence[str]] = (
    "instances",
    "cores",
    "ram",
    "metadata_items",
    "key_pairs",
    "server_groups",
    "server_group_members",
)
"""What can be limited, by the community's names."""

# The default class is a project with no name, a user's limits are resources of the project with the user's id before them:
# both keep the table as it is and are read by the same statement.
_DEFAULT_CLASS: Final = ""

_LIMITS: Final = Statement(
    select(quota_limits.c.project_id, quota_limits.c.resource, quota_limits.c.amount).where(
        any_of(quota_limits.c.project_id, "projects")
    )
)
_SET: Final = BulkInsert(quota_limits, ("project_id", "resource", "amount"), on_conflict="update")
_FORGET: Final = Statement(delete(quota_limits).where(quota_limits.c.project_id == bindparam("project_id")))
_FORGET_SOME: Final = Statement(
    delete(quota_limits).where(quota_limits.c.project_id == bindparam("project_id"), any_of(quota_limits.c.resource, "resources"))
)
_USAGE: Final = Statement(
    select(quota_usages.c.instances, quota_usages.c.cores, quota_usages.c.ram).where(
        quota_usages.c.project_id == bindparam("project_id")
    )
)
_SERVERS_OF_USER: Final = Statement(
    select(servers.c.flavor).where(
        servers.c.project_id == bindparam("project_id"),
        servers.c.user_id == bindparam("user_id"),
        ~servers.c.deleted,
    )
)


class Usage(NamedTuple):
    """What is counted: servers, VCPUs, memory in MB."""

    instances: int = 0
    cores: int = 0
    ram: int = 0


def _user_key(user_id: str, resource: str) -> str:
    return f"{user_id}/{resource}"


async def default_limits(tx: Transaction, defaults: QuotaSettings) -> Mapping[str, int]:
    """The limits of a project that has none of its own; -1 is no limit."""
    return await limits_of(tx, _DEFAULT_CLASS, defaults)


async def limits_of(tx: Transaction, project_id: str, defaults: QuotaSettings) -> Mapping[str, int]:
    """The project's limits by resource; -1 is no limit."""
    limits = {name: int(getattr(defaults, name)) for name in RESOURCES}
    rows = await tx.rows(_LIMITS, {"projects": [_DEFAULT_CLASS, project_id]})
    for wanted in (_DEFAULT_CLASS, project_id):
        limits.update({row[1]: row[2] for row in rows if row[0] == wanted and row[1] in limits})
    return limits


async def user_limits_of(tx: Transaction, project_id: str, user_id: str) -> Mapping[str, int]:
    """The limits set for one user of a project, which hold beside the project's; resources without one are not in it."""
    rows = await tx.rows(_LIMITS, {"projects": [project_id]})
    found = {row[1]: row[2] for row in rows}
    keys = {name: _user_key(user_id, name) for name in RESOURCES}
    return {name: found[key] for name, key in keys.items() if key in found}


async def usage_of(tx: Transaction, project_id: str) -> Usage:
    """What the project uses; zeros for one that never had a server."""
    row = await tx.one(_USAGE, {"project_id": project_id})
    return Usage() if row is None else Usage(*row)


async def user_usage_of(tx: Transaction, project_id: str, user_id: str) -> Usage:
    """What one user's live servers in a project use. Counted anew each time: only users with limits need it."""
    rows = await tx.rows(_SERVERS_OF_USER, {"project_id": project_id, "user_id": user_id})
    flavors = [orjson.loads(row[0]) for row in rows]
    return Usage(len(flavors), sum(flavor["vcpus"] for flavor in flavors), sum(flavor["memory_mb"] for flavor in flavors))


async def set_limits(tx: Transaction, project_id: str, amounts: Mapping[str, int]) -> None:
    """Set some limits of a project."""
    await tx.many(_SET, [(project_id, name, amount) for name, amount in sorted(amounts.items())])


async def set_default_limits(tx: Transaction, amounts: Mapping[str, int]) -> None:
    """Set some limits of the default class."""
    await set_limits(tx, _DEFAULT_CLASS, amounts)


async def set_user_limits(tx: Transaction, project_id: str, user_id: str, amounts: Mapping[str, int]) -> None:
    """Set some limits of one user of a project."""
    await set_limits(tx, project_id, {_user_key(user_id, name): amount for name, amount in amounts.items()})


async def forget_limits(tx: Transaction, project_id: str) -> None:
    """Give the project and its users the default limits again."""
    await tx.run(_FORGET, {"project_id": project_id})


async def forget_user_limits(tx: Transaction, project_id: str, user_id: str) -> None:
    """Give one user the project's limits again."""
    keys = [_user_key(user_id, name) for name in RESOURCES]
    await tx.run(_FORGET_SOME, {"project_id": project_id, "resources": keys})
