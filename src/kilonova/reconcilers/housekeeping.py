"""Small chores on a timer, each safe to do twice and by several processes: the feed's tail, the log's checkpoint, dead cards."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from kilonova.companions.network.contract import NetworkService
from kilonova.domain.clock import now
from kilonova.domain.errors import KilonovaError
from kilonova.storage import audits, feed, purging
from kilonova.storage.database import Database
from kilonova.storage.sqlite import SqliteDatabase

PURGED_AT_ONCE: Final = 500
"""Servers that one transaction forgets, so that none is long."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do every `seconds`."""

    name: str
    seconds: float
    work: Callable[[], Awaitable[object]]


async def run(chores: Sequence[Chore]) -> None:
    """Do all chores, each on its own timer, until cancelled. One that fails is logged and done again at its next time."""
    await asyncio.gather(*(_repeat(chore) for chore in chores))


async def _repeat(chore: Chore) -> None:
    while True:
        await asyncio.sleep(chore.seconds)
        try:
            await chore.work()
        except KilonovaError as error:
            log.warning("chore.failed", chore=chore.name, reason=str(error))


def feed_tail(database: Database, keep: int) -> Chore:
    """Forget changes but the last `keep`; who has fallen further behind reads everything anew."""
    return Chore("feed_tail", 60.0, lambda: database.transact(lambda tx: feed.trim(tx, keep)))


def checkpoint(database: SqliteDatabase, seconds: float) -> Chore:
    """Move SQLite's write-ahead log into its file."""
    return Chore("checkpoint", seconds, database.checkpoint)


def dead_cards(database: Database, networks: NetworkService) -> Chore:
    """Release network cards of servers that are deleted or on no host, left by a call that outlived its operation."""

    async def work() -> None:
        async with database.read() as transaction:
            found = {server for _, server in await audits.dead_ports(transaction)}
        for server in sorted(found):
            log.info("dead_cards.released", server=server)
            await networks.release(server)

    return Chore("dead_cards", 10.0, work)


def old_history(database: Database, seconds: float) -> Chore:
    """Forget servers that were deleted so long ago, with their operations."""

    async def work() -> None:
        before = now() - int(seconds * 1_000_000)
        purged = PURGED_AT_ONCE
        while purged == PURGED_AT_ONCE:
            purged = await database.transact(lambda tx: purging.purge(tx, before, PURGED_AT_ONCE))

    return Chore("old_history", 60.0, work)
