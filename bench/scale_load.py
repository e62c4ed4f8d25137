"""Loads the index of one database in a process of its own, and says what that took: a line of JSON.

Run by `scale.py`: python bench/scale_load.py URL_OR_FILE
"""

import asyncio
import gc
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
import structlog
import uvloop

from kilonova.operations.ledger_index import LedgerIndex
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

TICK_SECONDS: Final = 0.001
REFRESHES: Final = 2000


@dataclass(slots=True)
class Ticker:
    """Asks for the loop every millisecond; `longest` is how long (seconds) it did not get it while this process computed.

    A gap counts no longer than the CPU time that the process took in it: what others do to the machine is not ours.
    """

    longest: float = 0.0

    async def run(self) -> None:
        """Until it is cancelled."""
        wall, cpu = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, used = time.perf_counter(), time.process_time()
            self.longest = max(self.longest, min(now - wall, used - cpu) - TICK_SECONDS)
            wall, cpu = now, used


def resident() -> float:
    """Memory of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


async def opened(where: str) -> Database:
    """A database by its URL, or a SQLite file by its path."""
    if where.startswith("postgresql:"):
        return await PostgresqlDatabase.connect(where, connections=2, seconds=60)
    return SqliteDatabase(where)


async def load(where: str) -> dict[str, float]:
    """What loading took: seconds, CPU seconds of this process, MB, and the longest hold of the loop in ms."""
    database = await opened(where)
    # As a server does when it is ready.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    ticker = Ticker()
    ticking = asyncio.create_task(ticker.run())
    await asyncio.sleep(10 * TICK_SECONDS)
    before, wall, cpu = resident(), time.perf_counter(), time.process_time()
    index = LedgerIndex(database)
    await index.refresh()
    found = {
        "providers": len(index.index),
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "megabytes": resident() - before,
        "hold": 1e3 * ticker.longest,
    }
    ticking.cancel()
    cpu = time.process_time()
    for _ in range(REFRESHES):
        await index.refresh()
    found["refresh"] = 1e6 * (time.process_time() - cpu) / REFRESHES
    await database.close()
    return found


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    print(orjson.dumps(uvloop.run(load(sys.argv[1]))).decode())
