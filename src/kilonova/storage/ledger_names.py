"""Custom resource classes and traits. The standard ones are code (os-resource-classes, os-traits) and never rows."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Table, bindparam, delete, insert, select

from kilonova.domain.clock import now
from kilonova.storage.database import Duplicate, Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import allocations, inventories, provider_traits, resource_classes, traits


@dataclass(frozen=True, slots=True)
class Names:
    """The custom names of one kind. Made for CLASSES and TRAITS below."""

    listing: Statement
    finding: Statement
    locking: Statement
    adding: Statement
    dropping: Statement
    using: tuple[Statement, ...]

    async def all(self, transaction: Transaction) -> dict[str, int]:
        """Every custom name and when it was made."""
        return {row[0]: row[1] for row in await transaction.rows(self.listing)}

    async def present(self, transaction: Transaction, names: Collection[str]) -> frozenset[str]:
        """Those that exist at the moment."""
        return frozenset(row[0] for row in await transaction.rows(self.finding, {"names": sorted(names)}))

    async def lock(self, transaction: Transaction, names: Collection[str]) -> frozenset[str]:
        """Those that exist; none of them can go before the transaction ends. No names cost nothing."""
        if not names:
            return frozenset()
        return frozenset(row[0] for row in await transaction.rows(self.locking, {"names": sorted(names)}))

    async def add(self, transaction: Transaction, name: str) -> bool:
        """Make a name; False where it exists."""
        if await self.lock(transaction, [name]):
            return False
        try:
            await transaction.run(self.adding, {"new_name": name, "moment": now()})
        except Duplicate:
            # Another transaction was faster; PostgreSQL takes nothing more in this one, so it must end here.
            return False
        return True

    async def drop(self, transaction: Transaction, name: str) -> bool:
        """Take a name away; False where there is none. Ask `in_use` after it: from then on nobody new can use it."""
        return await transaction.run(self.dropping, {"old_name": name}) > 0

    async def in_use(self, transaction: Transaction, name: str) -> bool:
        """Whether a provider or consumer uses the name."""
        for statement in self.using:
            if await transaction.one(statement, {"used_name": name}) is not None:
                return True
        return False


def _names(table: Table, *users: ColumnElement[str]) -> Names:
    named = select(table.c.name).where(any_of(table.c.name, "names")).order_by(table.c.name)
    return Names(
        Statement(select(table.c.name, table.c.created_at).order_by(table.c.name)),
        Statement(named),
        Statement(named.with_for_update(read=True)),
        Statement(insert(table).values(name=bindparam("new_name"), created_at=bindparam("moment"))),
        Statement(delete(table).where(table.c.name == bindparam("old_name"))),
        tuple(Statement(select(column).where(column == bindparam("used_name")).limit(1)) for column in users),
    )


CLASSES: Final = _names(resource_classes, inventories.c.resource_class, allocations.c.resource_class)
TRAITS: Final = _names(traits, provider_traits.c.trait)
