"""Ten thousand and a hundred thousand providers: loading the index, and whether a question's cost grows with the cloud.

Clouds of flat hosts, and of trees of seven, are written straight into SQLite and PostgreSQL. For each: how long loading
takes, how much memory it needs, how long the loop is held meanwhile, and the CPU (database included) of the questions of
`placement.py` over HTTP.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson
from placement_client import Asker
from placement_measure import measure
from placement_queries import QUERIES, Query
from placement_service import PlacementService
from scale_data import cloud_of, fill, open_postgresql, open_sqlite

HERE: Final = Path(__file__).resolve().parent
LOAD_SECONDS: Final = 300.0
SIZES: Final = "10000,100000"


@dataclass(slots=True)
class Cloud:
    """One cloud in one database: filled, loaded by a process for the figures, then served."""

    directory: Path
    kind: str
    size: int
    postgres: bool
    _service: PlacementService = field(init=False)

    def __post_init__(self) -> None:
        self._service = PlacementService(self.directory)

    @property
    def asker(self) -> Asker:
        """Who asks it."""
        return self._service.asker

    @property
    def database(self) -> str:
        """What it is kept in, for people."""
        return "PostgreSQL" if self.postgres else "SQLite"

    async def fill(self) -> None:
        """Write it."""
        await self._service.prepare(postgres=self.postgres)
        server = self._service.server
        database = await (open_postgresql(server.get_uri()) if server else open_sqlite(self._service.file))
        await fill(database, cloud_of(self.kind, self.size))
        await database.close()
        if server:
            await asyncio.to_thread(server.psql, "VACUUM ANALYZE")

    async def load(self) -> Mapping[str, float]:
        """The figures of `scale_load.py`, and CPU seconds of the database as `server`."""
        service = self._service
        where = service.server.get_uri() if service.server else str(service.file)
        before = service.database_cpu()
        command = [sys.executable, str(HERE / "scale_load.py"), where]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True, timeout=LOAD_SECONDS)
        found: dict[str, float] = orjson.loads(done.stdout)
        return {**found, "server": service.database_cpu() - before}

    async def serve(self) -> None:
        """Run `kilonova placement` until it answers."""
        await self._service.start()

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""
        return self._service.cpu()

    async def stop(self) -> None:
        """End its processes."""
        await self._service.stop()


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to one cloud: milliseconds of CPU, and kilobytes of the answer."""

    cpu: float
    kilobytes: float


async def ask(cloud: Cloud, queries: Sequence[Query], seconds: float) -> dict[str, Asked]:
    """Each question's cost."""
    found = {}
    for query in queries:
        reply = await cloud.asker.must("GET", query.target)
        measured = await measure(cloud.asker, cloud.cpu, query.target, seconds)
        found[query.name] = Asked(measured.total, len(reply.body) / 1024)
    return found


def tell_load(cloud: Cloud, found: Mapping[str, float]) -> None:
    """One line of the first table."""
    print(
        f"| {cloud.kind}, {found['providers']:,.0f}, {cloud.database} | {found['seconds']:.1f} | {found['cpu']:.1f} + "
        f"{found['server']:.1f} | {found['megabytes']:.0f} | {found['hold']:.0f} | {found['refresh']:.0f} |",
        flush=True,
    )


def tell_questions(kind: str, sizes: Sequence[int], found: Mapping[tuple[str, int], Mapping[str, Asked]]) -> None:
    """The second table: a line a question, columns by database and size."""
    columns = [(database, size) for database in dict.fromkeys(name for name, _ in found) for size in sizes]
    print(f"\n{kind}: ms of CPU, database included (kB of the answer)\n")
    print("| | " + " | ".join(f"{database}, {size:,}" for database, size in columns) + " |")
    print("| --- " * (len(columns) + 1) + "|")
    for name in found[columns[0]]:
        print(f"| {name} | " + " | ".join(_cell(found[column][name]) for column in columns) + " |", flush=True)


def _cell(asked: Asked) -> str:
    return f"{asked.cpu:.1f} ({asked.kilobytes:,.0f})"


async def bench(kinds: Sequence[str], sizes: Sequence[int], postgres: Sequence[bool], seconds: float) -> None:
    """Measure all, and print it as tables."""
    print("| cloud | s to load | CPU s, ours + database | MB | longest hold, ms | µs of CPU a refresh |\n" + "| --- " * 6 + "|")
    for kind in kinds:
        answers: dict[tuple[str, int], Mapping[str, Asked]] = {}
        for on, size in [(on, size) for on in postgres for size in sizes]:
            with tempfile.TemporaryDirectory(prefix="kilonova-scale-") as directory:
                cloud = Cloud(Path(directory), kind, size, on)
                try:
                    await cloud.fill()
                    tell_load(cloud, await cloud.load())
                    await cloud.serve()
                    answers[cloud.database, size] = await ask(cloud, QUERIES[kind], seconds)
                finally:
                    await cloud.stop()
        tell_questions(kind, sizes, answers)


def _databases(text: str) -> Iterator[bool]:
    for name in text.split(","):
        if name not in ("sqlite", "postgresql"):
            raise argparse.ArgumentTypeError(f"{name!r} is neither sqlite nor postgresql")
        yield name == "postgresql"


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="flat,nested", help="Kinds of clouds (default: %(default)s).")
    parser.add_argument("--sizes", default=SIZES, help="Providers (default: %(default)s).")
    parser.add_argument("--databases", default="sqlite,postgresql", help="Where they are kept (default: %(default)s).")
    parser.add_argument("--seconds", type=float, default=1.0, help="How long each question is asked (default: %(default)s).")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    asyncio.run(bench(options.sets.split(","), sizes, list(_databases(options.databases)), options.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
