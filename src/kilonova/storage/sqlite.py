"""SQLite on the loop's own thread: one connection, WAL, BEGIN IMMEDIATE. Made for one process that owns the file."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson

from kilonova.storage.database import NOTHING, Duplicate, Transaction
from kilonova.storage.statement import Bulk, Dialect, Statement

Result = TypeVar("Result")


def _boolean(value: bytes) -> bool:
    return value == b"1"


sqlite3.register_converter("BOOLEAN", _boolean)


def _now() -> int:
    return time.time_ns() // 1000


class SqliteTransaction:
    """The one connection seen as a transaction; nothing in it ever waits."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def _execute(self, statement: Statement, parameters: Mapping[str, Any]) -> sqlite3.Cursor:
        text, _, fixed = statement.text("sqlite")
        values = {**fixed, **parameters}
        for name, value in parameters.items():
            if isinstance(value, list):
                values[name] = orjson.dumps(value).decode()
        try:
            return self._connection.execute(text, values)
        except sqlite3.IntegrityError as error:
            raise Duplicate(str(error)) from error

    def _fetch(self, statement: Statement, parameters: Mapping[str, Any]) -> Sequence[Any]:
        return self._execute(statement, parameters).fetchall()

    async def rows(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """See Transaction."""
        return self._fetch(statement, parameters)

    async def one(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Any | None:
        """See Transaction."""
        cursor = self._execute(statement, parameters)
        row = cursor.fetchone()
        cursor.close()
        return row

    async def run(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> int:
        """See Transaction."""
        return self._execute(statement, parameters).rowcount

    async def many(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> None:
        """See Transaction."""
        if not rows:
            return
        try:
            self._connection.executemany(bulk.sqlite, rows)
        except sqlite3.IntegrityError as error:
            raise Duplicate(str(error)) from error

    async def together(self, writes: Sequence[tuple[Bulk, Sequence[Sequence[Any]]]]) -> None:
        """See Transaction."""
        for bulk, rows in writes:
            await self.many(bulk, rows)


class _Snapshot(SqliteTransaction):
    """One moment, seen by a connection of its own. Its reads run in `thread`, as they may be long, and only there."""

    def __init__(self, connection: sqlite3.Connection, thread: Executor) -> None:
        super().__init__(connection)
        self._thread = thread

    async def rows(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """See Transaction."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._fetch, statement, parameters)

    async def one(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Any | None:
        """See Transaction."""
        found = await self.rows(statement, parameters)
        return found[0] if found else None


def _finish(work: Awaitable[Result]) -> Result:
    """Drive `work` to its end in one go. Raises RuntimeError where it waits for anything but its own statements."""
    coroutine = cast(Coroutine[Any, Any, Result], work)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast(Result, done.value)
    coroutine.close()
    raise RuntimeError("a unit of work awaited something that is not a statement of its own")


class SqliteDatabase:
    """One SQLite file, or `:memory:`. `full_sync` makes every commit survive a power cut, at ten times the cost."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path | str, *, full_sync: bool = False) -> None:
        self.path = str(path)
        self._connection = sqlite3.connect(
            self.path, isolation_level=None, detect_types=sqlite3.PARSE_DECLTYPES, cached_statements=1000
        )
        self._connection.row_factory = sqlite3.Row
        self._connection.create_function("kilonova_now", 0, _now)
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={'FULL' if full_sync else 'NORMAL'}",
            "busy_timeout=5000",
            "wal_autocheckpoint=0",
            "foreign_keys=ON",
            "cache_size=-65536",
            "temp_store=MEMORY",
        ):
            self._connection.execute(f"PRAGMA {pragma}")
        self._transaction = SqliteTransaction(self._connection)

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """See Database. `work` runs without giving up the loop."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = _finish(work(self._transaction))
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return result

    async def single(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """See Database."""
        return await self._transaction.rows(statement, parameters)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        """See Database."""
        yield self._transaction

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        """See Database. A second connection holds the moment, so that writers go on meanwhile."""
        if self.path == ":memory:":
            yield self._transaction
            return
        thread = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        connection = self._open_snapshot()
        try:
            yield _Snapshot(connection, thread)
        finally:
            # In the same thread, after a statement that its caller has given up.
            thread.submit(connection.close)
            thread.shutdown(wait=False)

    def _open_snapshot(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, detect_types=sqlite3.PARSE_DECLTYPES, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.create_function("kilonova_now", 0, _now)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("BEGIN")
        return connection

    def moment(self) -> tuple[int, ...] | None:
        """See Database. What others write raises the one number, what this connection writes the other."""
        return (*self._connection.execute("PRAGMA data_version").fetchone(), self._connection.total_changes)

    async def checkpoint(self) -> None:
        """Move the write-ahead log into the file, in a thread: a checkpoint waits for the disk."""
        await asyncio.to_thread(self._checkpoint)

    def _checkpoint(self) -> None:
        connection = sqlite3.connect(self.path)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()

    async def script(self, text: str) -> None:
        """See Database."""
        self._connection.executescript(f"BEGIN IMMEDIATE;\n{text}\nCOMMIT;")

    async def close(self) -> None:
        """See Database."""
        self._connection.close()
