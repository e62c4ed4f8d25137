"""What every repository writes against: a transaction with four verbs, and a database that opens them.

A unit of work awaits nothing but its own statements: on SQLite it then runs to its end without giving up the loop, which
is what keeps two units apart there.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from kilonova.domain.errors import Conflict
from kilonova.storage.statement import Bulk, Dialect, Statement

Result = TypeVar("Result")
Row = Sequence[Any]
"""A row answers to position and to column name, and nothing else may be asked of it."""

NOTHING: Mapping[str, Any] = {}


class Duplicate(Conflict):
    """A row with this key exists already; a repository that can meet it turns it into a sentence."""

    code = "storage.duplicate"


class Transaction(Protocol):
    """One open transaction."""

    dialect: Dialect

    async def rows(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """All rows of a query, or of a write that returns some. Raises Duplicate."""
        ...

    async def one(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Any | None:
        """The first row or None."""
        ...

    async def run(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> int:
        """Run a write; how many rows it touched. Raises Duplicate."""
        ...

    async def many(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> None:
        """Write many rows at once; no rows is nothing to do. Raises Duplicate."""
        ...

    async def together(self, writes: Sequence[tuple[Bulk, Sequence[Sequence[Any]]]]) -> None:
        """`many` for each pair, in one statement where the database can; no two of them may touch the same rows."""
        ...


class Database(Protocol):
    """Opens transactions; knows one dialect."""

    dialect: Dialect

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction that writes, and commit it. Deadlocks and time-outs run it again from the start."""
        ...

    async def single(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        """One statement that is a transaction of its own, and its rows. Raises Duplicate."""
        ...

    def read(self) -> AbstractAsyncContextManager[Transaction]:
        """A transaction for reads. On PostgreSQL each statement sees what is committed when it starts."""
        ...

    def snapshot(self) -> AbstractAsyncContextManager[Transaction]:
        """A transaction for reads that all see the same moment."""
        ...

    def moment(self) -> tuple[int, ...] | None:
        """Another value whenever something may have been written since; None where only a statement can tell."""
        ...

    async def script(self, text: str) -> None:
        """Run DDL of a migration in one transaction."""
        ...

    async def close(self) -> None:
        """Give back all connections."""
        ...
