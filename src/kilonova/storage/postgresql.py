"""PostgreSQL by asyncpg: a pool, READ COMMITTED, and another try where the database says that a try may help."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from kilonova.domain.errors import Unavailable
from kilonova.storage.database import NOTHING, Duplicate, Transaction
from kilonova.storage.statement import Bulk, Dialect, Statement, together

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

# Every statement finds its rows by keys, so one plan serves all parameters; making it takes longer than running it. A plan
# made while tables are small must serve when they have grown, too: it may not walk through them where there is an index.
_SESSION = {"application_name": "kilonova", "jit": "off", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}


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

    async def together(self, writes: Sequence[tuple[Bulk, Sequence[Sequence[Any]]]]) -> None:
        """See Transaction."""
        wanted = [(bulk, rows) for bulk, rows in writes if rows]
        if not wanted:
            return
        values = [list(column) for _, rows in wanted for column in zip(*rows, strict=True)]
        try:
            await self._connection.fetch(together(tuple(bulk for bulk, _ in wanted)), *values)
        except asyncpg.UniqueViolationError as error:
            raise Duplicate(str(error)) from error


class _Connections:
    """The driver's pool, and those of its connections that wait for their next user outside of it.

    To give a connection back to the driver and take it again costs more than a small statement.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._ready: list[Any] = []
        self._waiting = 0
        self._closing = False

    async def take(self) -> Any:
        """One that nobody uses; waits where all are used."""
        while self._ready:
            connection = self._ready.pop()
            if not _is_closed(connection):
                return connection
            await self._pool.release(connection)
        self._waiting += 1
        try:
            return await self._pool.acquire()
        finally:
            self._waiting -= 1

    async def give_back(self, connection: Any, *, sound: bool) -> None:
        """Let the next user have it. One that is not sound, or that somebody waits for, goes through the driver's hands."""
        if sound and not self._waiting and not self._closing:
            self._ready.append(connection)
        else:
            await self._pool.release(connection)

    async def close(self) -> None:
        """Close all, those in use when they are given back."""
        self._closing = True
        while self._ready:
            await self._pool.release(self._ready.pop())
        await self._pool.close()


def _is_closed(connection: Any) -> bool:
    try:
        closed: bool = connection.is_closed()
    except asyncpg.InterfaceError:
        # The server ended it, and the driver has taken it back already.
        return True
    return closed


async def _keep(connection: Any) -> None:
    """Nothing is ever set on a session, so a connection goes back to the pool as it is."""


class PostgresqlDatabase:
    """A pool on one PostgreSQL; made by `connect`."""

    dialect: Dialect = "postgresql"

    def __init__(self, pool: Any, attempts: int) -> None:
        self._connections = _Connections(pool)
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
                server_settings=_SESSION,
            )
        except _AWAY as error:
            raise Unavailable(f"The database does not answer: {error}") from error
        return cls(pool, attempts)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        try:
            connection = await self._connections.take()
            sound = False
            try:
                yield connection
                sound = True
            except asyncio.CancelledError:
                # The driver prepares a statement and runs it in two steps. Ended between them, the server stays in a
                # transaction that the driver knows nothing of, and the next user's BEGIN is refused.
                await connection.execute("ROLLBACK")
                raise
            finally:
                await self._connections.give_back(connection, sound=sound)
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

        async def whole() -> Result:
            async with self._connection() as connection, connection.transaction():
                return await work(PostgresqlTransaction(connection))

        return await self._again(whole)

    async def single(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """See Database."""

        async def whole() -> Sequence[Any]:
            async with self._connection() as connection:
                return await PostgresqlTransaction(connection).rows(statement, parameters)

        return await self._again(whole)

    async def _again(self, whole: Callable[[], Awaitable[Result]]) -> Result:
        for attempt in range(self._attempts):
            try:
                return await whole()
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

    def moment(self) -> tuple[int, ...] | None:
        """See Database. Other processes write, too."""
        return None

    async def script(self, text: str) -> None:
        """See Database."""
        async with self._connection() as connection, connection.transaction():
            await connection.execute(text)

    async def close(self) -> None:
        """See Database."""
        await self._connections.close()
