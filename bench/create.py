"""Measures what servers cost: a burst of creates, lists, reads and deletes, on SQLite and on PostgreSQL with NATS.

CPU is that of the server's processes alone (the client is this process), so it holds on a busy machine; rates and times do not.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from burst import Burst, Figures, Load, Unsettled
from clouds import Cloud, Code, SpreadCloud, SqliteCloud

ROOT = Path(__file__).resolve().parent.parent
PHASES = ("list", "show", "delete")
UPSTREAM_NAME = "upstream nova 34 on a similar machine"
UPSTREAM = {
    "CPU per create, ms": 2100.0,
    "servers a second, create to ACTIVE": 0.84,
    "POST /servers p50, ms": 2074.0,
    "POST /servers p99, ms": 4385.0,
    "rows of a list": 200.0,
    "list p50, ms": 1573.0,
    "GET /servers/{id} p50, ms": 57.0,
    "deletes a second": 1.9,
}
"""200 creates at concurrency 8 on 5 computes, every service counted; its list had 200 rows."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    load: Load
    hosts: int
    phases: Sequence[str]
    kinds: Sequence[str]
    profile: Path | None


async def measure(kind: str, code: Code, plan: Plan) -> Figures:
    """One cloud of `kind` (`sqlite` or `postgres`) from nothing to nothing. Raises RuntimeError."""
    directory = Path(tempfile.mkdtemp(prefix="kilonova-bench-"))
    cloud: Cloud
    if kind == "sqlite":
        cloud = SqliteCloud(directory, code, plan.hosts, plan.profile)
    else:
        cloud = SpreadCloud(directory, code, plan.hosts)
    try:
        await cloud.start()
        figures = await Burst(cloud.url, plan.load, cloud.cpu).run(plan.phases)
    finally:
        await cloud.stop()
        rmtree(directory, ignore_errors=True)
    print_figures(f"{cloud.name}, {code.name}", figures)
    return figures


def print_figures(title: str, figures: Figures) -> None:
    """A table with upstream's figures beside ours."""
    print(f"\n{title}\n{'':38} {'here':>10} {'upstream':>10}")
    for name, value in figures.values.items():
        upstream = f"{UPSTREAM[name]:10.2f}" if name in UPSTREAM else f"{'':10}"
        print(f"{name:38} {value:10.2f} {upstream}")
    for phase, share in figures.shares.items():
        parts = ", ".join(f"{name} {value:.2f}" for name, value in share.items())
        print(f"CPU per {phase} by process, ms: {parts}")
    sys.stdout.flush()


def print_ratios(title: str, first: Figures, second: Figures) -> None:
    """A pair's figures as ratios: this code to the other."""
    print(f"\n{title}")
    for name, value in first.values.items():
        if second.values.get(name):
            print(f"{name:38} {value / second.values[name]:10.2f}")
    sys.stdout.flush()


@contextmanager
def checked_out(revision: str) -> Iterator[Code]:
    """The code of a commit in a work tree of its own; it runs in this environment."""
    tree = Path(tempfile.mkdtemp(prefix="kilonova-bench-tree-"))
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--detach", "--force", str(tree), revision], check=True, capture_output=True)
    try:
        yield Code(revision, tree / "src")
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=False, capture_output=True)


async def bench(plan: Plan, against: str | None, rounds: int) -> None:
    """All kinds, `rounds` times; with another commit, in pairs one after the other."""
    here = Code("this tree", ROOT / "src")
    print(f"{plan.load.servers} servers, concurrency {plan.load.concurrency}, {plan.hosts} hosts, fake driver, no network")
    print(f"column upstream: {UPSTREAM_NAME}")
    for number in range(rounds):
        for kind in plan.kinds:
            first = await measure(kind, here, plan)
            if against is None:
                continue
            with checked_out(against) as other:
                second = await measure(kind, other, plan)
            print_ratios(f"{kind}, pair {number + 1}: this tree / {against}", first, second)


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--hosts", type=int, default=5)
    parser.add_argument("--only", choices=["sqlite", "postgres"], help="one kind of cloud instead of both")
    parser.add_argument("--phases", default=",".join(PHASES), help="what follows the creates: some of list,show,delete, or none")
    parser.add_argument("--against", metavar="REV", help="measure another commit too, and print the ratios pair by pair")
    parser.add_argument("--rounds", type=int, default=1, help="how often everything is measured")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="run the SQLite cloud under cProfile")
    options = parser.parse_args()
    plan = Plan(
        load=Load(options.servers, options.concurrency),
        hosts=options.hosts,
        phases=options.phases.split(","),
        kinds=[options.only] if options.only else ["sqlite", "postgres"],
        profile=options.profile,
    )
    try:
        asyncio.run(bench(plan, options.against, options.rounds))
    except (RuntimeError, Unsettled) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
