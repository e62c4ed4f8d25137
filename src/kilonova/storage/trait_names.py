"""Which names are custom traits of this cloud; standard traits are not in the database."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import traits

_KNOWN: Final = Statement(select(traits.c.name).where(any_of(traits.c.name, "names")))


async def custom_traits(transaction: Transaction, names: Sequence[str]) -> frozenset[str]:
    """Those of the names that are traits in the database."""
    if not names:
        return frozenset()
    return frozenset(row[0] for row in await transaction.rows(_KNOWN, {"names": list(names)}))
