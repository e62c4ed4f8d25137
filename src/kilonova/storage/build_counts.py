"""How often builds failed on each host since the last that did not; the scheduler pushes such hosts back."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import update

from kilonova.storage import changes
from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkUpdate, Statement, any_of
from kilonova.storage.tables import hosts

_ADD: Final = BulkUpdate(hosts, ("name",), adds=("failed_builds",))
_FORGET: Final = Statement(
    update(hosts).where(any_of(hosts.c.name, "names"), hosts.c.failed_builds > 0).values(failed_builds=0).returning(hosts.c.name)
)


async def add(transaction: Transaction, failed: Sequence[str]) -> None:
    """One more failed build for each mention of a host."""
    names = sorted(set(failed))
    await transaction.many(_ADD, [(name, failed.count(name)) for name in names])
    await changes.note(transaction, [("host", name) for name in names])


async def forget(transaction: Transaction, names: Sequence[str]) -> None:
    """Start anew for hosts on which a build went well."""
    cleared = await transaction.rows(_FORGET, {"names": list(names)})
    if cleared:
        await changes.note(transaction, [("host", row[0]) for row in cleared])
