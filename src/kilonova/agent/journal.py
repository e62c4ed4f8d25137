"""The file in which a host writes down what it took on, before it does it, and how that ended.

All hosts of a process share one file and one writer thread: what they write at the same time costs one sync to the disk.
"""

import asyncio
import queue
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from kilonova.bus.messages import Command, Report

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, key TEXT NOT NULL, server TEXT NOT NULL, generation INTEGER NOT NULL,
    conductor TEXT NOT NULL, command BLOB, state TEXT NOT NULL, report BLOB, acknowledged INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS tombstone (
    host TEXT NOT NULL, server TEXT NOT NULL, generation INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (host, server)
) WITHOUT ROWID;
"""
# In the order in which they happen to one entry, so that a batch may run one kind after the other.
ACCEPT: Final = (
    "INSERT INTO entry (id, host, key, server, generation, conductor, command, state, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 'accepted', ?)"
)
REPORT: Final = "UPDATE entry SET state = 'reported', command = NULL, report = ? WHERE id = ?"
ACKNOWLEDGE: Final = "UPDATE entry SET acknowledged = 1 WHERE id = ?"
BURY: Final = "REPLACE INTO tombstone (host, server, generation, at) VALUES (?, ?, ?, ?)"
FORGET: Final = "DELETE FROM entry WHERE id = ?"
UNBURY: Final = "DELETE FROM tombstone WHERE host = ? AND server = ?"
STATEMENTS: Final = (ACCEPT, REPORT, ACKNOWLEDGE, BURY, FORGET, UNBURY)


class JournalError(Exception):
    """The journal could not be written; nothing of what was to be written counts."""


@dataclass(slots=True, eq=False)
class Entry:
    """One command that a host took on. `command` is dropped once there is a report; `at` is when it was taken on."""

    id: int
    host: str
    key: str
    server: str
    generation: int
    conductor: str
    at: int
    command: Command | None
    report: Report | None = None
    is_acknowledged: bool = False
    is_durable: bool = False


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A server that was destroyed here, at which generation and when."""

    server: str
    generation: int
    at: int


@dataclass(slots=True)
class _Batch:
    """What one transaction will write, and who waits for it."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {statement: [] for statement in STATEMENTS})
    fresh: list[Entry] = field(default_factory=list)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)


class Journal:
    """The open file. It belongs to one process and to the event loop that first writes.

    Raises JournalError when another process has it open.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = _open_file(path)
            self.incarnation = _find_incarnation(self._connection)
        except sqlite3.OperationalError as error:
            raise JournalError(f"The journal {path} cannot be opened: {error}") from None
        row = self._connection.execute("SELECT coalesce(max(id), 0) FROM entry").fetchone()
        self._last_id: int = row[0]
        self._batch = _Batch()
        self._is_writing = False
        self._is_planned = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def load(self, host: str) -> tuple[list[Entry], list[Tombstone]]:
        """What is on file for a host, oldest first; to be called before the host's first write."""
        entries = [
            _entry_from(row)
            for row in self._connection.execute(
                "SELECT id, host, key, server, generation, conductor, at, command, report, acknowledged"
                " FROM entry WHERE host = ? ORDER BY id",
                (host,),
            )
        ]
        tombstones = self._connection.execute("SELECT server, generation, at FROM tombstone WHERE host = ?", (host,))
        return entries, [Tombstone(*row) for row in tombstones]

    def accept(self, host: str, conductor: str, command: Command) -> Entry:
        """Take a command on; it counts once `durable` has returned."""
        self._last_id += 1
        entry = Entry(self._last_id, host, command.key, command.server, command.generation, conductor, now_micros(), command)
        self._add(
            ACCEPT,
            (
                entry.id,
                host,
                entry.key,
                entry.server,
                entry.generation,
                conductor,
                orjson.dumps(command),
                entry.at,
            ),
        )
        self._batch.fresh.append(entry)
        return entry

    def report(self, entry: Entry, report: Report) -> None:
        """Write how it ended; the command itself is not needed any more."""
        entry.report, entry.command = report, None
        self._add(REPORT, (orjson.dumps(report), entry.id))

    def acknowledge(self, entry: Entry) -> None:
        """Write that the report is safe elsewhere, or that nobody wants it any more."""
        entry.is_acknowledged = True
        self._add(ACKNOWLEDGE, (entry.id,))

    def bury(self, host: str, tombstone: Tombstone) -> None:
        """Remember that a server was destroyed here."""
        self._add(BURY, (host, tombstone.server, tombstone.generation, tombstone.at))

    def forget(self, host: str, entries: Iterable[Entry], tombstones: Iterable[Tombstone]) -> None:
        """Drop what nobody will ask for."""
        for entry in entries:
            self._add(FORGET, (entry.id,))
        for tombstone in tombstones:
            self._add(UNBURY, (host, tombstone.server))

    async def durable(self) -> None:
        """Return when all that was written before this call is on the disk. Raises JournalError."""
        waiter = asyncio.get_running_loop().create_future()
        self._batch.waiting.append(waiter)
        self._plan()
        await waiter

    async def close(self) -> None:
        """Write what is left and close the file. Raises JournalError when that fails; the file is closed all the same."""
        try:
            await self.durable()
        finally:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)
            self._connection.close()

    def _add(self, statement: str, row: tuple[Any, ...]) -> None:
        self._batch.rows[statement].append(row)
        self._plan()

    def _plan(self) -> None:
        # Not at once: what else is written in this turn of the loop goes into the same transaction.
        if not self._is_planned and not self._is_writing:
            self._is_planned = True
            self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._is_planned, self._is_writing = False, True
        batch, self._batch = self._batch, _Batch()
        self._queue.put(batch)

    def _write(self) -> None:
        """The writer thread: one transaction a batch."""
        while (batch := self._queue.get()) is not None:
            failure = _commit(self._connection, batch)
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._written, batch, failure)

    def _written(self, batch: _Batch, failure: str) -> None:
        self._is_writing = False
        for entry in batch.fresh:
            entry.is_durable = not failure
        for waiter in batch.waiting:
            if waiter.done():
                continue
            if failure:
                waiter.set_exception(JournalError(f"The journal cannot be written: {failure}"))
            else:
                waiter.set_result(None)
        if self._batch.waiting or any(self._batch.rows.values()):
            self._plan()


def now_micros() -> int:
    """The host's wall clock in microseconds since the epoch."""
    return time.time_ns() // 1000


def _open_file(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
    # Exclusive: a second process on the same journal would answer for commands that it does not know of.
    for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.executescript(SCHEMA)
    return connection


def _find_incarnation(connection: sqlite3.Connection) -> str:
    connection.execute("INSERT OR IGNORE INTO about VALUES ('incarnation', ?)", (str(uuid.uuid4()),))
    found: str = connection.execute("SELECT value FROM about WHERE name = 'incarnation'").fetchone()[0]
    return found


def _commit(connection: sqlite3.Connection, batch: _Batch) -> str:
    """Write a batch, all or nothing; returns why it failed, or ""."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement, rows in batch.rows.items():
            if rows:
                connection.executemany(statement, rows)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return str(error)
    return ""


def _entry_from(row: tuple[Any, ...]) -> Entry:
    number, host, key, server, generation, conductor, at, command, report, acknowledged = row
    return Entry(
        id=number,
        host=host,
        key=key,
        server=server,
        generation=generation,
        conductor=conductor,
        at=at,
        command=Command(**orjson.loads(command)) if command else None,
        report=Report(**orjson.loads(report)) if report else None,
        is_acknowledged=bool(acknowledged),
        is_durable=True,
    )
