"""The engine: takes operations under a lease, runs their functions, renews the leases, and ends what cannot go on.

A conductor that loses a lease stops and undoes nothing: whoever holds it now goes on from what is on record.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from kilonova.bus import Bus, Message
from kilonova.bus.tasks import keep_going
from kilonova.domain.errors import KilonovaError, LeaseLost, Unavailable
from kilonova.domain.operation import Operation
from kilonova.operations.accept import WAKE_SUBJECT
from kilonova.operations.commands import CellAway
from kilonova.operations.run import Run, RunParts
from kilonova.operations.table import Definition
from kilonova.storage import operations
from kilonova.storage.database import Transaction
from kilonova.storage.operations import Lease, Wanted

log = structlog.get_logger(__name__)
RENEWALS_A_LEASE: Final = 3


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`slots` is about how many operations of one cell run at once, so that a slow cell holds up no other.

    `tries` is how many holders an operation that breaks unexpectedly gets. Times in seconds.
    """

    conductor: str
    lease_seconds: float = 15.0
    poll_seconds: float = 1.0
    slots: int = 256
    batch: int = 64
    tries: int = 10


class Engine:
    """One conductor's engine."""

    def __init__(self, table: Mapping[str, Definition], parts: RunParts, bus: Bus, settings: EngineSettings) -> None:
        self._table = table
        self._definitions = [f"{entry.kind.name}:{entry.kind.version}" for entry in table.values()]
        self._parts = parts
        self._bus = bus
        self._settings = settings
        self._lease = Lease(settings.conductor, int(settings.lease_seconds * 1_000_000))
        self._running: dict[str, asyncio.Task[None]] = {}
        self._cells: Counter[str] = Counter()
        self._loops: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()

    @property
    def running(self) -> int:
        """How many operations run now."""
        return len(self._running)

    async def start(self) -> None:
        """Begin to take and run operations."""
        await self._bus.subscribe(WAKE_SUBJECT, self._on_wake)
        self._wake.set()
        for name, loop in (("take", self._take_loop), ("renew", self._renew_loop)):
            going = keep_going(loop, f"engine:{name}", self._settings.poll_seconds)
            self._loops.append(asyncio.create_task(going, name=f"engine:{name}"))

    async def stop(self) -> None:
        """Stop taking, stop running, and let go of what was held, so that others need not wait for the lease."""
        held = list(self._running)
        await self.drop()
        if held:
            await self._parts.database.transact(lambda tx: operations.let_go(tx, self._settings.conductor, held))

    async def drop(self) -> None:
        """Stop at once and leave everything as it lies, as a crash would; leases run out by themselves."""
        tasks = [*self._loops, *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._loops.clear()
        self._running.clear()
        self._cells.clear()

    async def _on_wake(self, message: Message) -> None:
        self._wake.set()

    async def _take_loop(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._settings.poll_seconds):
                    await self._wake.wait()
            except TimeoutError:
                # A wake-up may be lost: look all the same.
                pass
            self._wake.clear()
            try:
                more = True
                while more:
                    more = await self._take()
            except Unavailable as error:
                log.warning("engine.cannot_take", reason=str(error))
                await asyncio.sleep(self._settings.poll_seconds)

    async def _take(self) -> bool:
        """Take what is free; whether there may be more."""
        full = [cell for cell, count in self._cells.items() if count >= self._settings.slots]
        wanted = Wanted(self._definitions, full, self._settings.batch)
        taken = await self._parts.database.transact(lambda tx: operations.take(tx, self._lease, wanted))
        for operation in taken:
            self._cells[operation.cell] += 1
            before = self._running.get(operation.id)
            task = asyncio.create_task(self._run(operation, before), name=f"operation:{operation.id}")
            self._running[operation.id] = task
        return len(taken) == self._settings.batch

    async def _renew_loop(self) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_seconds / RENEWALS_A_LEASE)
            if not self._running:
                continue
            try:
                await self._parts.database.transact(self._renew)
            except Unavailable as error:
                log.warning("engine.cannot_renew", reason=str(error))

    async def _renew(self, transaction: Transaction) -> None:
        # Only what runs: an operation whose run broke must come free, or nobody would ever try it again.
        await operations.renew(transaction, self._lease, list(self._running))

    async def _run(self, operation: Operation, before: "asyncio.Task[None] | None") -> None:
        definition = self._table[operation.kind]
        run = Run(operation, self._parts)
        try:
            if before is not None:
                # This process slept past its own lease. Two runs of one operation must not wait for the same report.
                before.cancel()
                await asyncio.wait((before,))
            await self._to_the_end(definition, run)
        except LeaseLost:
            log.info("operation.lease_lost", operation=operation.id, kind=operation.kind, server=operation.server_id)
        except CellAway as away:
            await self._park(operation, away.cell)
        except Exception as error:
            log.exception("operation.broke", operation=operation.id, kind=operation.kind, server=operation.server_id)
            await self._give_up(definition, run, error)
        finally:
            if self._running.get(operation.id) is asyncio.current_task():
                del self._running[operation.id]
            self._cells[operation.cell] -= 1
            if self._cells[operation.cell] == self._settings.slots - 1:
                self._wake.set()

    async def _to_the_end(self, definition: Definition, run: Run) -> None:
        try:
            await definition.run(run)
        except (LeaseLost, CellAway):
            raise
        except KilonovaError as failure:
            log.warning("operation.failed", operation=run.operation.id, kind=run.operation.kind, reason=str(failure))
            if definition.fail is None:
                raise
            await definition.fail(run, str(failure))

    async def _park(self, operation: Operation, cell: str) -> None:
        """Lay an operation aside until its cell is back: it holds no slot and no lease meanwhile."""
        log.info("operation.parked", operation=operation.id, kind=operation.kind, server=operation.server_id, cell=cell)
        try:
            await self._parts.database.transact(lambda tx: operations.park(tx, operation, cell))
        except Unavailable as error:
            log.warning("operation.cannot_park", operation=operation.id, reason=str(error))

    async def _give_up(self, definition: Definition, run: Run, error: Exception) -> None:
        """After so many holders the fault is in the operation: it ends, and its server's owner is told."""
        if run.operation.token < self._settings.tries or definition.fail is None:
            return
        try:
            await definition.fail(run, f"Unexpected error ({type(error).__name__}); the log has it under {run.operation.id}.")
        except KilonovaError as failure:
            log.warning("operation.cannot_fail", operation=run.operation.id, reason=str(failure))
