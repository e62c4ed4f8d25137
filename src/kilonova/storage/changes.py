"""The feed that keeps every process's picture of the ledger true: who writes a thing of a kind it knows appends a line here."""

from collections.abc import Sequence
from typing import Final

from kilonova.storage.database import Transaction
from kilonova.storage.statement import BulkInsert
from kilonova.storage.tables import changes

PROVIDER: Final = "provider"
AGGREGATE: Final = "aggregate"
HOST: Final = "host"

NOTES: Final = BulkInsert(changes, ("kind", "key"))
"""What `note` writes, for who writes it together with something else."""


async def note(tx: Transaction, entries: Sequence[tuple[str, str]]) -> None:
    """Append (kind, key) pairs in the transaction that made the changes; the key names what a reader has to read again."""
    await tx.many(NOTES, entries)
