"""Transactions on PostgreSQL that go on one statement at a time, when they are told to: interleavings that can be repeated."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text

from kilonova.domain.errors import KilonovaError
from kilonova.storage.database import NOTHING, Database, Transaction
from kilonova.storage.statement import Bulk, Dialect, Statement

from .ledger_acts import Act, QuickClaim

LOOKS: Final = 20_000
LOOK_SECONDS: Final = 0.001
"""So often it is looked whether a statement has ended, or waits for a lock."""
_SELF: Final = Statement(text("SELECT pg_backend_pid()"))
_BLOCKED: Final = Statement(
    text("""SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND cardinality(pg_blocking_pids(pid)) > 0""")
)


class Turns:
    """One write at work. In a transaction it stops before every statement and before its commit; a quick claim has one turn."""

    def __init__(self, database: Database, act: Act | QuickClaim, busy: set[int]) -> None:
        """`busy` are the server's processes that serve a transaction of some writer."""
        self.act = act
        self._busy = busy
        self.tries = 0
        self.is_ready = False
        """Whether only its commit is missing."""
        self._database = database
        self._pid: int | None = None
        self._go = asyncio.Event()
        self._stands = asyncio.Event()
        self._task = asyncio.create_task(self._quick(act) if isinstance(act, QuickClaim) else database.transact(self._work))

    def __repr__(self) -> str:
        return f"the writer of {self.act}"

    @property
    def is_over(self) -> bool:
        return self._task.done()

    @property
    def stands(self) -> bool:
        """Whether it waits for its next turn, and not for somebody's lock."""
        return self._stands.is_set()

    @property
    def outcome(self) -> Any:
        """What it gave, or the refusal that it ended with."""
        error = self._task.exception()
        if error is not None and not isinstance(error, KilonovaError):
            raise error
        return error or self._task.result()

    async def take(self) -> None:
        """Go on by one statement, until it stands again, is over, or waits for a lock."""
        self._stands.clear()
        self._go.set()
        await self.settle()

    async def settle(self) -> None:
        """Wait until it stands, is over, or waits for a lock."""
        for _ in range(LOOKS):
            if self.is_over or self.stands or await self._is_blocked():
                return
            await asyncio.sleep(LOOK_SECONDS)
        raise TimeoutError(f"{self.act} neither ended nor waits for anybody")

    async def end(self) -> None:
        """Give up what is not over."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def turn(self) -> None:
        """Stand until told to go on."""
        self._stands.set()
        await self._go.wait()
        self._go.clear()

    async def _quick(self, act: QuickClaim) -> None:
        self.tries += 1
        await self.turn()
        await act.run_on(self._database)

    async def _work(self, transaction: Transaction) -> Any:
        assert not isinstance(self.act, QuickClaim)
        self.tries += 1
        self._pid = int((await transaction.rows(_SELF))[0][0])
        self._busy.add(self._pid)
        try:
            result = await self.act.run(_Stepped(transaction, self))
            self.is_ready = True
            await self.turn()
        except KilonovaError:
            await self.turn()
            raise
        finally:
            self._busy.discard(self._pid)
        return result

    async def _is_blocked(self) -> bool:
        async with self._database.read() as transaction:
            blocked = {row[0] for row in await transaction.rows(_BLOCKED)}
        # Which connection a quick claim has nobody knows; it is one that is no transaction's.
        return bool(blocked - self._busy) if isinstance(self.act, QuickClaim) else self._pid in blocked


class _Stepped:
    """A transaction that waits for its turn before each statement."""

    dialect: Dialect = "postgresql"

    def __init__(self, transaction: Transaction, turns: Turns) -> None:
        self._transaction = transaction
        self._turns = turns

    async def rows(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Sequence[Any]:
        await self._turns.turn()
        return await self._transaction.rows(statement, parameters)

    async def one(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> Any | None:
        await self._turns.turn()
        return await self._transaction.one(statement, parameters)

    async def run(self, statement: Statement, parameters: Mapping[str, Any] = NOTHING) -> int:
        await self._turns.turn()
        return await self._transaction.run(statement, parameters)

    async def many(self, bulk: Bulk, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            await self._turns.turn()
            await self._transaction.many(bulk, rows)

    async def together(self, writes: Sequence[tuple[Bulk, Sequence[Sequence[Any]]]]) -> None:
        await self._turns.turn()
        await self._transaction.together(writes)
