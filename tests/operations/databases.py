"""A database as one process sees it when things go wrong between the two; everybody else sees the database itself."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from kilonova.domain.errors import Unavailable
from kilonova.storage.database import NOTHING, Database, Transaction
from kilonova.storage.statement import Statement

Result = TypeVar("Result")


class SeenDatabase:
    """Another database, which it does not own."""

    def __init__(self, database: Database) -> None:
        self.dialect = database.dialect
        self._database = database

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self._database.transact(work)

    async def single(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        return await self._database.single(statement, parameters)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        async with self._database.read() as transaction:
            yield transaction

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        async with self._database.snapshot() as transaction:
            yield transaction

    def moment(self) -> tuple[int, ...] | None:
        return self._database.moment()

    async def script(self, text: str) -> None:
        await self._database.script(text)

    async def close(self) -> None:
        """It belongs to somebody else."""


class StallingDatabase(SeenDatabase):
    """While `gate` is closed no write gets through, as if the process were stopped; then all that waited do."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.gate = asyncio.Event()
        self.gate.set()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        await self.gate.wait()
        return await super().transact(work)


class LossyDatabase(SeenDatabase):
    """The connection breaks after commits: of each kind of transaction the first answer is lost."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.lost: Counter[str] = Counter()

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        result = await super().transact(work)
        kind = work.__qualname__
        if not self.lost[kind]:
            self.lost[kind] += 1
            raise Unavailable("The connection broke after the commit.")
        return result


class AbsentDatabase(SeenDatabase):
    """Whoever wants a snapshot waits for `gate`; there is none while `away`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.gate = asyncio.Event()
        self.refused = asyncio.Event()
        self.away = True

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        await self.gate.wait()
        if self.away:
            self.refused.set()
            raise Unavailable("The database does not answer.")
        async with super().snapshot() as transaction:
            yield transaction
