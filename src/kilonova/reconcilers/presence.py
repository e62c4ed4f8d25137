"""Makes a control process show in `os-services`: its rows are made at its start and seen again from time to time."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from kilonova.domain.clock import new_uuid, now
from kilonova.reconcilers.housekeeping import Chore
from kilonova.storage import hosts, processes
from kilonova.storage.database import Database, Duplicate, Transaction
from kilonova.storage.processes import ProcessRecord

CONDUCTOR_BINARIES: Final = ("nova-conductor", "nova-scheduler")
"""What a conductor does, by the names that operators and their tools know."""


async def announce(database: Database, host: str, binaries: Sequence[str]) -> None:
    """Say that these run on `host`, now."""

    async def work(transaction: Transaction) -> None:
        at = now()
        for binary in binaries:
            known = await processes.find_process(transaction, binary, host)
            if known is not None:
                await processes.see_process(transaction, known.id, at)
                continue
            number = await hosts.next_number(transaction)
            await processes.insert_process(transaction, ProcessRecord(new_uuid(), number, binary, host, False, None, at, at))

    # Another process of this machine may make the same rows at the same moment.
    with suppress(Duplicate):
        await database.transact(work)


def presence(database: Database, host: str, binaries: Sequence[str]) -> Chore:
    """Say it again every so often."""
    return Chore("presence", 30.0, lambda: announce(database, host, binaries))
