"""Lets parked operations go on when their cell can be reached again, or when nobody there is waited for any more."""

import structlog

from kilonova.bus import Bus
from kilonova.operations.accept import WAKE_SUBJECT
from kilonova.storage import operations
from kilonova.storage.database import Database

log = structlog.get_logger(__name__)


async def unpark(database: Database, bus: Bus) -> None:
    """Look once; safe to do twice and in several processes."""
    async with database.read() as transaction:
        if not await operations.any_parked(transaction):
            return
    count = await database.transact(operations.unpark)
    if count:
        log.info("operations.unparked", operations=count)
        await bus.publish(WAKE_SUBJECT, b"")
