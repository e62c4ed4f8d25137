"""Connections to PostgreSQL: kept for the next user, never when the server has ended them, and closed when all is closed."""

import asyncio

import asyncpg
from sqlalchemy import text

from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.statement import Statement
from tests.conftest import TEMPLATE, copy_of

CONNECTIONS = 4
SECONDS = 20.0
LOOKS, LOOK_SECONDS = 1000, 0.01
BRIEF = Statement(text("SELECT pg_sleep(0.05)"))
LONG = Statement(text("SELECT pg_sleep(0.5)"))
OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


async def ask(database: Database, statement: Statement = BRIEF) -> None:
    async with database.read() as transaction:
        await transaction.rows(statement)


async def test_after_the_server_ended_all_connections_nobody_gets_one_of_them(postgresql_server: str) -> None:
    url = await copy_of(postgresql_server, TEMPLATE)
    database = await PostgresqlDatabase.connect(url, connections=CONNECTIONS, seconds=SECONDS)
    await asyncio.gather(*(ask(database) for _ in range(CONNECTIONS)))
    operator = await asyncpg.connect(url)
    assert await operator.fetchval(f"SELECT count(pg_terminate_backend(pid)) {OTHERS}") == CONNECTIONS
    for _ in range(LOOKS):
        if not await operator.fetchval(f"SELECT count(*) {OTHERS}"):
            break
        await asyncio.sleep(LOOK_SECONDS)
    async with asyncio.timeout(SECONDS):
        for _ in range(CONNECTIONS):
            await ask(database)
        await asyncio.gather(*(ask(database) for _ in range(2 * CONNECTIONS)))
    assert await operator.fetchval(f"SELECT count(*) {OTHERS}") <= CONNECTIONS
    await operator.close()
    await database.close()


async def test_closing_waits_for_who_still_asks_and_for_nothing_else(postgresql_server: str) -> None:
    database = await PostgresqlDatabase.connect(postgresql_server, connections=CONNECTIONS, seconds=SECONDS)
    await asyncio.gather(*(ask(database) for _ in range(CONNECTIONS)))
    asking = asyncio.create_task(ask(database, LONG))
    await asyncio.sleep(0)
    async with asyncio.timeout(SECONDS):
        await database.close()
    assert asking.done()
    await asking
