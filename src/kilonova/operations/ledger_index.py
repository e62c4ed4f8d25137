"""One process's index of the ledger, brought up to date from the feed before it is used."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import structlog

from kilonova.domain.errors import Unavailable
from kilonova.domain.resources import Provider
from kilonova.placement.index import Index
from kilonova.storage import feed
from kilonova.storage.database import Database, Row, Transaction
from kilonova.storage.feed import Changes, Position
from kilonova.storage.provider_reading import pieces, providers_of, rows_between

log = structlog.get_logger(__name__)

PATIENCE: Final = 0.02
"""How long (seconds) what was read from the feed waits for searches that pin the index, before a copy is made."""

MOST_LEFT: Final = 2
"""So many older states of the index may be left to searches that take long; one of 100,000 providers takes about 50 MB."""

LONGEST_WAIT: Final = 60.0
"""How long (seconds) a search waits for one of these to become free."""

_MANY: Final = 10_000
"""From so many providers on it is worth keeping them out of the search for cycles."""

_BIT: Final = 500
"""So many providers of a former index are dropped at a time."""

_TURN: Final = 0.0005
"""How long (seconds) a thread of a rebuild may keep the interpreter when the loop wants it."""


class _State:
    """One index and how many searches pin it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.pins = 0
        self.free = asyncio.Event()
        self.free.set()

    def pin(self) -> None:
        self.pins += 1
        self.free.clear()

    def unpin(self) -> None:
        self.pins -= 1
        if not self.pins:
            self.free.set()


class LedgerIndex:
    """`fresh` gives the index as of a moment not before the call.

    The index is changed in place, on the loop, and replaced when it must be rebuilt or is pinned for long: take it from
    `fresh` each time, and do not keep what was derived from it across an await. The functions of `on_change` are called
    with every batch of changes, after the index has them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._position: Position | None = None
        self._refreshing = asyncio.Lock()
        self._rebuilding: asyncio.Task[None] | None = None
        self._moment: tuple[int, ...] | None = None
        self._begun = 0
        self._done = 0
        self._state = _State(Index())
        self._left: set[_State] = set()
        self._one_less = asyncio.Event()
        self.on_change: list[Callable[[Changes], None]] = []

    @property
    def index(self) -> Index:
        """The index as of the last refresh."""
        return self._state.index

    @property
    def position(self) -> Position | None:
        """How far the feed has been read; None before the first time."""
        return self._position

    async def fresh(self) -> Index:
        """The index with everything that was committed before the call."""
        await self.refresh()
        return self.index

    @asynccontextmanager
    async def pinned(self) -> AsyncIterator[Index]:
        """The fresh index, which does not change while the context lasts: for searches that let others run in between.

        Where the context outlasts PATIENCE, whoever needs something fresher goes on with a copy. While MOST_LEFT older
        states are still pinned by such searches, further ones wait here. Raises Unavailable when that takes LONGEST_WAIT.
        """
        await self.refresh()
        while len(self._left) >= MOST_LEFT:
            await self._wait_for_one_less()
            await self.refresh()
        state = self._state
        state.pin()
        try:
            yield state.index
        finally:
            state.unpin()
            if not state.pins and state in self._left:
                self._left.discard(state)
                self._one_less.set()

    async def refresh(self) -> None:
        """Bring the index up to date. Calls that wait together share the next reading of the feed."""
        if self._moment is not None and self._database.moment() == self._moment:
            return
        wanted = self._begun + 1
        async with self._refreshing:
            if self._done >= wanted:
                return
            self._begun += 1
            number = self._begun
            await self._read()
            self._done = number

    async def _read(self) -> None:
        if self._rebuilding is not None and not self._rebuilding.done():
            # Who asked for it was cancelled. What it finds may be older than this call, but is a place to start from.
            await self._until_rebuilt(self._rebuilding)
        moment = self._database.moment()
        if self._position is not None:
            async with self._database.read() as transaction:
                changes = await feed.changes_since(transaction, self._position)
            if not changes.rebuild:
                if changes:
                    await self._make_changeable()
                    self.index.apply(changes.providers, changes.removed)
                self._position, self._moment = changes.position, moment
                if changes:
                    self._tell(changes)
                return
        # A client that goes away must not throw away seconds of work that the next one needs as well.
        self._rebuilding = asyncio.create_task(self._rebuild(), name="ledger-index:rebuild")
        await self._until_rebuilt(self._rebuilding)

    async def _until_rebuilt(self, task: asyncio.Task[None]) -> None:
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._rebuilding = None

    async def _rebuild(self) -> None:
        with _sharing_the_interpreter():
            async with self._database.snapshot() as transaction:
                position = await feed.current(transaction)
                providers = await _all_providers(transaction)
            index = Index(self.index.rows.stamps)
            await asyncio.to_thread(index.load, providers)
            if len(index) >= _MANY:
                # They stay, and are no part of any cycle: without this each search for cycles would look at all of them.
                gc.freeze()
            former = [self.index]
            self._position, self._moment = position, None
            self._go_on_with(index)
            log.info("ledger.index_loaded", providers=len(index))
            self._tell(Changes(position, rebuild=True))
            await asyncio.to_thread(_let_go, former)

    def _go_on_with(self, index: Index) -> None:
        """Put an index in the place of the present one, which is left to the searches that pin it."""
        if self._state.pins:
            self._left.add(self._state)
        self._state = _State(index)

    async def _make_changeable(self) -> None:
        """Make sure that no search pins the present index: wait a moment for those that do, or leave it to them."""
        state = self._state
        if not state.pins:
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await state.free.wait()
        except TimeoutError:
            # In a thread, as a large one takes milliseconds. Nobody changes it meanwhile: that happens here alone.
            self._go_on_with(await asyncio.to_thread(state.index.copy))

    async def _wait_for_one_less(self) -> None:
        self._one_less.clear()
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._one_less.wait()
        except TimeoutError as error:
            raise Unavailable("Other searches take so long that this one cannot begin.") from error

    def _tell(self, changes: Changes) -> None:
        for listener in self.on_change:
            listener(changes)


async def _all_providers(transaction: Transaction) -> list[Provider]:
    """All providers as of the transaction's moment; one piece is made into values while the next is read."""
    found: list[Provider] = []
    rows: list[Row] = []
    for piece in await pieces(transaction):
        more, providers = await asyncio.gather(rows_between(transaction, piece), asyncio.to_thread(providers_of, rows))
        rows = list(more)
        found.extend(providers)
    found.extend(await asyncio.to_thread(providers_of, rows))
    return found


def _let_go(former: list[Index]) -> None:
    """Drop an index bit by bit: a hundred thousand providers that go at once would hold every thread."""
    providers = former.pop().everybody()
    while providers:
        del providers[-_BIT:]


@contextmanager
def _sharing_the_interpreter() -> Iterator[None]:
    """While threads of ours make a million objects, let the loop have its turn soon.

    A search for cycles among them would hold every thread for a tenth of a second, again and again.
    """
    was_on, interval = gc.isenabled(), sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if was_on:
            gc.enable()
