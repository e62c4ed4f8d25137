"""Measures the placement API beside upstream's on the same clouds, in one run, one question after the other.

CPU is that of server and database (the client is this process), so it holds on a busy machine; wall times do not. The floor is a
bare HTTP server that filters as many rows and joins ready pieces to the same bytes.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

from placement_data import DATASETS, Dataset
from placement_measure import Measured, claims_of, measure, measure_claims, read_answer
from placement_queries import QUERIES, Query
from placement_sides import Floor, Ours, Side
from upstream_placement import PROCESSES, Upstream, cache_directory, install

PLAN: Final = (("flat", 1000), ("flat", 10_000), ("nested", 1000), ("shared", 1000))
"""What is measured when nothing else is asked for: data sets and their numbers of hosts."""
CLIENTS: Final = (1, 8)
CLAIM_WARM_UPS: Final = 10


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for. Numbers of claims are for upstream and for us."""

    upstream: bool
    sqlite: bool
    seconds: float
    only: str
    claims: tuple[int, int]


@dataclass(slots=True)
class Row:
    """One line of the table: figures by side, and how the answers compare."""

    name: str
    figures: dict[str, Measured] = field(default_factory=dict)
    floor: Measured | None = None
    answers: str = ""


class Bench:
    """One data set, loaded on every side."""

    def __init__(self, dataset: Dataset, sides: Sequence[Side], directory: Path, options: Options) -> None:
        self._dataset = dataset
        self._sides = sides
        self._directory = directory
        self._options = options

    async def run(self, queries: Sequence[Query]) -> list[Row]:
        """Start every side, ask every question, make claims. Raises RuntimeError."""
        try:
            for side in self._sides:
                await side.start(self._dataset)
            rows = [await self._query(query) for query in queries if self._options.only in query.name]
            return rows + [row async for row in self._claims() if self._options.only in row.name]
        finally:
            for side in self._sides:
                await side.stop()

    async def _query(self, query: Query) -> Row:
        row = Row(query.name)
        for side in self._sides:
            row.figures[side.name] = await measure(side.asker, side.cpu, query.target, self._options.seconds)
        ours = self._sides[-1]
        row.floor = await self._floor((await ours.asker.must("GET", query.target)).body)
        row.answers = await self._compare(query)
        return row

    async def _floor(self, answer: bytes) -> Measured:
        floor = Floor(self._directory)
        try:
            await floor.start(answer, len(self._dataset.providers))
            return await measure(floor.asker, floor.cpu, "/", self._options.seconds)
        finally:
            await floor.stop()

    async def _compare(self, query: Query) -> str:
        """How what the first side says compares with what the others say, when nothing is cut by a limit."""
        first, *others = [await side.asker.ask("GET", query.path) for side in self._sides]
        if first.status != 200:
            return f"HTTP {first.status}"
        said = read_answer(first)
        if said is None:
            return ""
        verdicts = [_verdict(said, read_answer(reply) or frozenset()) for reply in others]
        return ", ".join(dict.fromkeys(verdicts)) or f"{len(said):,}"

    async def _claims(self) -> Any:
        source = claims_of(self._dataset)
        for at_once in CLIENTS:
            row = Row(f"PUT /allocations/{{new}}, {at_once} at once")
            for side in self._sides:
                count = self._options.claims[0] if isinstance(side, Upstream) else self._options.claims[1]
                await measure_claims(side.asker, side.cpu, list(islice(source, CLAIM_WARM_UPS)), at_once)
                row.figures[side.name] = await measure_claims(side.asker, side.cpu, list(islice(source, count)), at_once)
            yield row


def _verdict(first: frozenset[Any], second: frozenset[Any]) -> str:
    if first == second:
        return f"same {len(first):,}"
    return f"{len(first):,} and {len(second):,}, {len(first & second):,} in both"


def print_rows(title: str, rows: Sequence[Row]) -> None:
    """A table: CPU (server + database) and wall p50/p99 by side, how many times less than the first, and the floor."""
    names = list(rows[0].figures) if rows else []
    first, others = names[:1], names[1:]
    head = ["", *first, *[column for name in others for column in (name, "times less")], "floor", "over it", "answers"]
    print(f"\n{title}: CPU ms per request, server + database · wall p50 / p99 ms\n")
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for row in rows:
        print(f"| {' | '.join([row.name, *_cells(row)])} |")
    sys.stdout.flush()


def _cells(row: Row) -> Iterator[str]:
    (_, first), *others = row.figures.items()
    yield _shown(first)
    for _, figure in others:
        yield _shown(figure)
        yield f"{first.total / figure.total:,.0f}" if first.cpu and figure.total else ""
    last = (others or [("", first)])[0][1]
    yield f"{row.floor.total:.2f}" if row.floor else ""
    yield f"{last.total / row.floor.total:.1f}" if row.floor and row.floor.total else ""
    yield row.answers


def _shown(figure: Measured) -> str:
    if not figure.cpu:
        return f"HTTP {figure.status}"
    parts = " + ".join(f"{value:.2f}" for value in figure.cpu.values())
    return f"{parts} · {figure.p50:.1f} / {figure.p99:.1f}"


def sides_of(directory: Path, options: Options, programs: Path | None) -> list[Side]:
    """The sides that are asked for, upstream first."""
    sides: list[Side] = [Upstream(directory / "upstream", programs)] if programs else []
    sides.append(Ours(directory / "postgresql", "Kilonova, PostgreSQL", postgres=True))
    if options.sqlite:
        sides.append(Ours(directory / "sqlite", "Kilonova, SQLite", postgres=False))
    return sides


async def bench(plan: Sequence[tuple[str, int]], options: Options) -> None:
    """Every data set of the plan, each on fresh servers. Raises RuntimeError."""
    programs = await asyncio.to_thread(install, cache_directory()) if options.upstream else None
    if programs:
        print(f"upstream: openstack-placement 16.0.0, {PROCESSES} uwsgi processes; its tables are filled directly")
    for name, hosts in plan:
        dataset = DATASETS[name](hosts)
        directory = Path(tempfile.mkdtemp(prefix="kilonova-bench-"))
        try:
            rows = await Bench(dataset, sides_of(directory, options, programs), directory, options).run(QUERIES[name])
        finally:
            rmtree(directory, ignore_errors=True)
        print_rows(dataset.name, rows)


def plan_of(sets: Sequence[str], hosts: int | None) -> list[tuple[str, int]]:
    """PLAN, or the part of it that is asked for, with another number of hosts."""
    if hosts is None:
        return [(name, number) for name, number in PLAN if name in sets]
    return [(name, hosts) for name in sets]


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, help="hosts of each data set; else 1,000, and flat ones with 10,000 too")
    parser.add_argument("--sets", default=",".join(DATASETS), help="some of flat,nested,shared")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows that have this in their name")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each question is asked; three times at least")
    parser.add_argument("--claims", type=int, nargs=2, default=(100, 2000), metavar=("UPSTREAM", "OURS"), help="how many claims")
    parser.add_argument("--sqlite", action="store_true", help="measure Kilonova on SQLite too")
    parser.add_argument("--no-upstream", action="store_true", help="measure Kilonova alone")
    asked = parser.parse_args()
    options = Options(not asked.no_upstream, asked.sqlite, asked.seconds, asked.only, tuple(asked.claims))
    try:
        asyncio.run(bench(plan_of(asked.sets.split(","), asked.hosts), options))
    except (RuntimeError, OSError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
