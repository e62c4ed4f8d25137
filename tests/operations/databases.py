"""A database as one process sees it when things go wrong between the two; everybody else sees the database itself."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from kilonova.domain.errors import Unavailable
from kilonova.storage.database import Database, Transaction

Result = TypeVar("Result")


class SeenDatabase:
    """Another database, which it does not own."""

    def __init__(self, database: Database) -> None:
        self.dialect = database.dialect
        self._database = database

    async def transact(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        return await self._database.transact(work)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        async with self._database.read() as transaction:
            yield transaction

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Transaction]:
        async with self._database.snapshot() as transaction:
            yield transaction

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
