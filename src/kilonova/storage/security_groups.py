"""Security groups and their rules as rows."""

from typing import Final

from sqlalchemy import bindparam, delete

from kilonova.storage.database import Transaction
from kilonova.storage.networks import Collection
from kilonova.storage.ports import PORTS
from kilonova.storage.statement import Statement
from kilonova.storage.tables import ports, security_group_rules, security_groups

GROUPS: Final = Collection(security_groups)
RULES: Final = Collection(security_group_rules, ("security_group_id",))

_MENTIONED: Final = Statement(PORTS.query.where(ports.c.document.contains(bindparam("group_id"))))
_DELETE_RULES: Final = Statement(
    delete(security_group_rules).where(security_group_rules.c.security_group_id == bindparam("group_id"))
)


async def group_in_use(transaction: Transaction, group_id: str) -> bool:
    """Whether any port is in the group. Reads every port: only for the rare removal of a group."""
    found = await transaction.rows(_MENTIONED, {"group_id": group_id})
    return any(group_id in PORTS.record(row).fields["security_groups"] for row in found)


async def delete_group(transaction: Transaction, group_id: str) -> None:
    """Remove a group and its rules."""
    await transaction.run(_DELETE_RULES, {"group_id": group_id})
    await GROUPS.delete(transaction, [group_id])
