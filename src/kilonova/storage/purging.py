"""Forgets what is over: finished operations with their steps, and deleted servers with all that hung on them."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, select

from kilonova.storage.database import Transaction
from kilonova.storage.statement import Statement, any_of
from kilonova.storage.tables import operation_steps, operations, server_tags, server_wishes, servers

_DEAD: Final = Statement(
    select(servers.c.id)
    .where(servers.c.deleted, servers.c.terminated_at < bindparam("before"))
    .order_by(servers.c.id)
    .limit(bindparam("most"))
)
_OPERATIONS: Final = Statement(
    select(operations.c.id).where(any_of(operations.c.server_id, "servers"), ~operations.c.live).order_by(operations.c.id)
)
_STILL_LIVE: Final = Statement(select(operations.c.server_id).where(any_of(operations.c.server_id, "servers"), operations.c.live))
_FORGET_STEPS: Final = Statement(delete(operation_steps).where(any_of(operation_steps.c.operation_id, "ids")))
_FORGET_OPERATIONS: Final = Statement(delete(operations).where(any_of(operations.c.id, "ids")))
_FORGET_SERVERS: Final = tuple(
    Statement(delete(column.table).where(any_of(column, "servers")))
    for column in (server_tags.c.server_id, server_wishes.c.server_id, servers.c.id)
)


async def purge(transaction: Transaction, before: int, most: int) -> int:
    """Forget at most `most` servers that were deleted before a time (microseconds), with their history; how many."""
    dead: Sequence[str] = [row[0] for row in await transaction.rows(_DEAD, {"before": before, "most": most})]
    if not dead:
        return 0
    live = {row[0] for row in await transaction.rows(_STILL_LIVE, {"servers": dead})}
    gone = [server for server in dead if server not in live]
    history = [row[0] for row in await transaction.rows(_OPERATIONS, {"servers": gone})]
    for statement in (_FORGET_STEPS, _FORGET_OPERATIONS):
        await transaction.run(statement, {"ids": history})
    for statement in _FORGET_SERVERS:
        await transaction.run(statement, {"servers": gone})
    return len(gone)
