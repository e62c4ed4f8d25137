"""One process's index of the ledger, brought up to date from the feed before it is used."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

from kilonova.placement.index import Index
from kilonova.storage import feed, ledger
from kilonova.storage.database import Database
from kilonova.storage.feed import Changes, Position

log = structlog.get_logger(__name__)

_CHUNK: Final = 2000


class LedgerIndex:
    """`fresh` gives the index as of a moment not before the call.

    The index is changed in place, on the loop, and replaced when it must be rebuilt: take it from `fresh` each time, and do
    not keep what was derived from it across an await. The functions of `on_change` are called with every batch of changes,
    after the index has them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._position: Position | None = None
        self._refreshing = asyncio.Lock()
        self._begun = 0
        self._done = 0
        self._pins = 0
        self._unpinned = asyncio.Event()
        self._unpinned.set()
        self.index = Index()
        self.on_change: list[Callable[[Changes], None]] = []

    async def fresh(self) -> Index:
        """The index with everything that was committed before the call."""
        await self.refresh()
        return self.index

    @property
    def position(self) -> Position | None:
        """How far the feed has been read; None before the first time."""
        return self._position

    @asynccontextmanager
    async def pinned(self) -> AsyncIterator[Index]:
        """The fresh index, which does not change while the context lasts: for searches that let others run in between.

        Who waits for something fresher meanwhile waits for the end of the context.
        """
        await self.refresh()
        self._pins += 1
        self._unpinned.clear()
        try:
            yield self.index
        finally:
            self._pins -= 1
            if not self._pins:
                self._unpinned.set()

    async def refresh(self) -> None:
        """Bring the index up to date. Calls that wait together share the next reading of the feed."""
        wanted = self._begun + 1
        async with self._refreshing:
            if self._done >= wanted:
                return
            self._begun += 1
            number = self._begun
            await self._read()
            self._done = number

    async def _read(self) -> None:
        if self._position is not None:
            async with self._database.read() as transaction:
                changes = await feed.changes_since(transaction, self._position)
            if not changes.rebuild:
                if changes:
                    await self._unpinned.wait()
                self.index.apply(changes.providers, changes.removed)
                self._position = changes.position
                if changes:
                    self._tell(changes)
                return
        await self._rebuild()

    async def _rebuild(self) -> None:
        async with self._database.snapshot() as transaction:
            position = await feed.current(transaction)
            providers = await ledger.providers_after(transaction, 0, _CHUNK)
            found = len(providers)
            while found == _CHUNK:
                # Between chunks the loop serves others; the snapshot stays the same.
                await asyncio.sleep(0)
                more = await ledger.providers_after(transaction, providers[-1].id, _CHUNK)
                found = len(more)
                providers.extend(more)
        index = Index()
        await asyncio.to_thread(index.load, providers)
        self.index, self._position = index, position
        log.info("ledger.index_loaded", providers=len(index))
        self._tell(Changes(position, rebuild=True))

    def _tell(self, changes: Changes) -> None:
        for listener in self.on_change:
            listener(changes)
