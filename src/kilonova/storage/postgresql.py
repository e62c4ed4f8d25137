"""PostgreSQL by asyncpg: a pool, READ COMMITTED, and another try where the database says that a try may help."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from kilonova.domain.errors import Unavailable
from kilonova.storage.database import NOTHING, Duplicate, Transaction
from kilonova.storage.statement import Bulk, Dialect, Statement

Result = TypeVar("Result")

_TRY_AGAIN = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
)
_AWAY = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # Told by the server that it ends while nobody asked anything, the driver notices at the next question.
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    ConnectionError,
    TimeoutError,
)


class PostgresqlTransaction:
    """One connection inside a transaction, or outside of one for single reads."""

    dialect: Dialect = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """See Transaction."""
        text, names, fixed = statement.text("postgresql")
        values = [parameters[name] if name in parameters else fixed[name] for name in names]
        try:
            found: Sequence[Any] = await self._connection.fetch(text, *values)
        except asyncpg.UniqueViolationError as error:
            raise Duplicate(str(error)) from error
        return found

    async def one(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Any | None:
        """See Transaction."""
        found = await self.rows(statement, parameters)
        return found[0] if found else None

    async def run(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> int:
        """See Transaction."""
        text, names, fixed = statement.text("postgresql")
        values = [parameters[name] if name in parameters else fixed[name] for name in names]
        try:
            status: str = await self._connection.execute(text, *values)
        except asyncpg.UniqueViolationError as error:
            raise Duplicate(str(error)) from error
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def many(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> None:
        """See Transaction."""
        if not rows:
            return
        try:
            await self._connection.fetch(bulk.postgresql, *[list(column) for column in zip(*rows, strict=True)])
        except asyncpg.UniqueViolationError as error:
            raise Duplicate(str(error)) from error


async def _keep(connection: Any) -> None:
    """Nothing is ever set on a session, so a connection goes back to the pool as it is."""


class PostgresqlDatabase:
    """A pool on one PostgreSQL; made by `connect`."""

    dialect: Dialect = "postgresql"

    def __init__(self, pool: Any, attempts: int) -> None:
        self._pool = pool
        self._attempts = attempts

    @classmethod
    async def connect(cls, url: str, *, connections: int, seconds: float, attempts: int = 10) -> "PostgresqlDatabase":
        """Open a pool of at most `connections`; a statement may take `seconds`. Raises errors.Unavailable."""
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=connections,
                command_timeout=seconds,
                statement_cache_size=1000,
                max_cached_statement_lifetime=0,
                reset=_keep,
                server_settings={"application_name": "kilonova", "jit": "off"},
            )
        except _AWAY as error:
            raise Unavailable(f"The database does not answer: {error}") from error
        return cls(pool, attempts)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        try:
            async with self._pool.acquire() as connection:
                try:
                    yield connection
                except asyncio.CancelledError:
                    # The driver prepares a statement and runs it in two steps. Ended between them, the server stays in a
                    # transaction that the driver knows nothing of, and the next user's BEGIN is refused.
                    await connection.execute("ROLLBACK")
                    raise
        except (*_AWAY, *_TRY_AGAIN) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                # Cleaning up failed; whoever wants this task to end must not find it trying again.
                raise asyncio.CancelledError from error
            if isinstance(error, _TRY_AGAIN):
                raise
            raise Unavailable(f"The database does not answer: {error}") from error

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """See Database."""
        for attempt in range(self._attempts):
            try:
                async with self._connection() as connection, connection.transaction():
                    return await work(PostgresqlTransaction(connection))
            except _TRY_AGAIN:
                # Whoever met in a deadlock must not meet again at the same moment.
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise Unavailable("The database refused a transaction again and again.")

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        """See Database."""
        async with self._connection() as connection:
            yield PostgresqlTransaction(connection)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        """See Database."""
        async with self._connection() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            yield PostgresqlTransaction(connection)

    async def script(self, text: str) -> None:
        """See Database."""
        async with self._connection() as connection, connection.transaction():
            await connection.execute(text)

    async def close(self) -> None:
        """See Database."""
        await self._pool.close()
