"""A task may be ended at any moment while it asks PostgreSQL: the connection that it used serves the next one as ever."""

import asyncio

from sqlalchemy import text

from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.statement import Statement

TURNS = 400
"""A statement takes about a hundred turns of the loop; each of these tasks is ended at another one."""


async def test_a_cancelled_statement_leaves_no_transaction_behind(postgresql_server: str) -> None:
    database = await PostgresqlDatabase.connect(postgresql_server, connections=1, seconds=30)

    async def ask(statement: Statement) -> None:
        async with database.read() as transaction:
            await transaction.rows(statement)

    for number in range(TURNS):
        # A text of its own: it must be prepared, and between preparing and running is the moment that matters.
        task = asyncio.create_task(ask(Statement(text(f"SELECT {number}"))))
        for _ in range(number % 120 + 1):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # Refused where a transaction is open already.
        async with database.snapshot():
            pass
    await database.close()
