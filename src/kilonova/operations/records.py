"""Puts intents and outcomes on record, many operations in one transaction, each only while its lease holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kilonova.domain.errors import LeaseLost
from kilonova.storage import operations, servers
from kilonova.storage.database import Database, Transaction
from kilonova.storage.group_commit import GroupCommit
from kilonova.storage.operations import Conclusion, Intent

Verdicts = list[Mapping[str, Any] | Exception]


@dataclass(frozen=True, slots=True)
class Held:
    """An operation as its holder knows it: every write names the token that the lease was taken with."""

    operation_id: str
    token: int
    server_id: str

    def lost(self) -> LeaseLost:
        """The error for a write that came too late."""
        return LeaseLost(f"operation {self.operation_id} is no longer held")


@dataclass(frozen=True, slots=True)
class Record:
    """What one operation wants written. With `raises_generation` the intent is for a host and gets the server's next one.

    `earlier` are intents of steps that ended without having been on record; their outcomes are among the conclusions.
    """

    held: Held
    intent: Intent
    conclusions: tuple[Conclusion, ...] = ()
    raises_generation: bool = False
    earlier: tuple[Intent, ...] = ()


class Recorder:
    """One process's way to write records; `most` is how many share a transaction."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._group: GroupCommit[Record, Mapping[str, Any]] = GroupCommit("records", self._write_group, most)

    async def write(self, record: Record) -> Mapping[str, Any]:
        """The intent's content as written. Raises errors.LeaseLost."""
        return await self._group.submit(record)

    async def _write_group(self, records: Sequence[Record]) -> Verdicts:
        async def work(transaction: Transaction) -> Verdicts:
            return await _write(transaction, records)

        return await self._database.transact(work)


async def _write(transaction: Transaction, records: Sequence[Record]) -> Verdicts:
    held = await operations.lock_held(transaction, {entry.held.operation_id: entry.held.token for entry in records})
    good = [entry for entry in records if entry.held.operation_id in held]
    raising = [entry.held.server_id for entry in good if entry.raises_generation]
    generations = await servers.raise_generations(transaction, raising) if raising else {}
    intents = {entry.held.operation_id: _intent(entry, generations) for entry in good}
    await operations.record(
        transaction,
        [*(intent for entry in good for intent in entry.earlier), *intents.values()],
        [done for entry in good for done in entry.conclusions],
    )
    return [
        intents[entry.held.operation_id].content if entry.held.operation_id in intents else entry.held.lost() for entry in records
    ]


def _intent(record: Record, generations: Mapping[str, int]) -> Intent:
    if not record.raises_generation:
        return record.intent
    return replace(record.intent, content={**record.intent.content, "generation": generations[record.held.server_id]})
