"""A cloud of many processes on PostgreSQL and NATS, and a cloud of one process on SQLite; every process may be killed."""

import asyncio
import os
import random
import signal
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg

from kilonova.bus.nats_server import NatsServer, NatsUser, permissions
from tests.conftest import copy_of

from .client import Client, log_in
from .programs import KILONOVA, Program, run

RESTARTS: Final = 20
PASSWORD: Final = "secret"
COMMON: Final[dict[str, dict[str, Any]]] = {
    "quota": {"instances": -1, "cores": -1, "ram": -1},
    "fake": {"vcpus": 1000, "memory_mb": 10_000_000, "disk_gb": 1_000_000},
}
SHORT_LEASES: Final[dict[str, dict[str, Any]]] = {
    "conductor": {"lease_seconds": 2.0, "poll_seconds": 0.5, "resend_seconds": 0.5, "retry_seconds": 0.2}
}
"""For tests that wait for a lease to run out."""
SLOW_BUILDS: Final[dict[str, dict[str, Any]]] = {"fake": {"build_seconds": 0.5}}
"""For storms: most of the servers are under way when something is killed."""


def write_config(path: Path, *sections: dict[str, dict[str, Any]]) -> Path:
    """A settings file of several layers, the later winning."""
    merged: dict[str, dict[str, Any]] = {}
    for layer in sections:
        for section, values in layer.items():
            merged.setdefault(section, {}).update(values)
    lines = [
        f"[{section}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())
        for section, values in merged.items()
    ]
    path.write_text("\n".join(lines))
    return path


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Size:
    """How many processes of each kind."""

    apis: int = 2
    conductors: int = 2
    agents: int = 3


@dataclass
class Cluster:
    """APIs, conductors and agents, each a process; the broker belongs to it, PostgreSQL to somebody else."""

    directory: Path
    database_url: str
    size: Size = Size()
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    broker: NatsServer | None = None

    async def start(self) -> None:
        """Start everything and wait until every process is ready."""
        self.directory.mkdir(parents=True, exist_ok=True)
        hosts = [f"host-{number + 1}" for number in range(self.size.agents)]
        await self._start_broker(hosts)
        self.urls: list[str] = []
        for number in range(self.size.apis):
            port = free_port()
            self.urls.append(f"http://127.0.0.1:{port}")
            self._add(f"api-{number + 1}", "control", {"api": {"port": port}})
        for number in range(self.size.conductors):
            self._add(f"conductor-{number + 1}", "control", {})
        for host in hosts:
            self._add(host, host, {"agent": {"host": host, "cell": "cell1", "beat_seconds": 2.0}})
        code, said = await run("db", "upgrade", "--config", str(self._config("api-1")))
        assert code == 0, said
        for program in self.programs.values():
            program.start()
        await self.ready()
        self.client = await log_in(self.urls)

    async def close(self) -> None:
        """End every process, whatever happened before."""
        if hasattr(self, "client"):
            await self.client.close()
        for program in self.programs.values():
            program.kill()
        if self.broker is not None:
            await self.broker.stop()

    async def _start_broker(self, hosts: Sequence[str]) -> None:
        """A broker at which each host reaches its own subjects only."""
        users = [NatsUser("control", PASSWORD)]
        users += [NatsUser(host, PASSWORD, permissions(host, chaotic=True)) for host in hosts]
        self.broker = NatsServer(self.directory / "nats", users=tuple(users))
        await self.broker.start()

    def of_kind(self, kind: str) -> list[Program]:
        """The programs of "api", "conductor" or "host"."""
        return [program for name, program in self.programs.items() if name.startswith(kind)]

    async def kill_one(self, kind: str, choose: random.Random) -> str:
        """Kill one process of a kind, at random, and start it again without waiting for it; its name."""
        if kind == "broker":
            assert self.broker is not None
            await self.broker.stop()
            await self.broker.start()
            return kind
        if kind == "connections":
            await cut_connections(self.database_url)
            return kind
        if kind == "database":
            await crash_database(self.database_url)
            return kind
        program = choose.choice(self.of_kind(kind))
        program.kill()
        program.start()
        return program.name

    async def ready(self, supervised: Collection[str] = ()) -> None:
        """Wait until every process is. Those that are supervised are started again where they find no database and end."""
        await asyncio.gather(*(self._ready(program, program.name in supervised) for program in self.programs.values()))

    async def _ready(self, program: Program, supervised: bool) -> None:
        for _ in range(RESTARTS if supervised else 0):
            if await program.came_up():
                return
            await asyncio.sleep(0.5)
            program.start()
        await program.ready()

    def _config(self, name: str) -> Path:
        return self.directory / f"{name}.toml"

    def _add(self, name: str, user: str, own: dict[str, dict[str, Any]]) -> None:
        assert self.broker is not None
        shared: dict[str, dict[str, Any]] = {
            "state": {"directory": str(self.directory / "state")},
            "database": {"url": self.database_url},
            "bus": {"url": self.broker.url, "user": user, "password": PASSWORD},
        }
        config = write_config(self._config(name), COMMON, self.settings, shared, own)
        command = "agent" if name.startswith("host") else name.partition("-")[0]
        arguments = [KILONOVA, command, "--config", str(config), "--chaos", "--log", "warning"]
        self.programs[name] = Program(name, arguments, self.directory, {})


async def cut_connections(url: str) -> None:
    """End every connection to the database, as a failover would."""
    connection = await _connected(url)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.close()


async def crash_database(url: str) -> None:
    """Kill one process of PostgreSQL, which then ends all others and recovers from its log."""
    connection = await _connected(url)
    os.kill(await connection.fetchval("SELECT pg_backend_pid()"), signal.SIGKILL)
    connection.terminate()


async def _connected(url: str) -> "asyncpg.Connection[asyncpg.Record]":
    """A connection, once the database has recovered from what was done to it before."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await asyncpg.connect(url)
            except (asyncpg.CannotConnectNowError, ConnectionError):
                await asyncio.sleep(0.05)


async def empty_database(server_url: str) -> str:
    """The address of a new database without a schema."""
    return await copy_of(server_url, "template0")


@dataclass
class UpCloud:
    """`kilonova up --state DIR`: a cloud in one process on SQLite."""

    directory: Path
    flags: Sequence[str] = ("--hosts", "3")

    async def start(self) -> Client:
        """Start it, or start it again; the administrator's way in."""
        self.directory.mkdir(parents=True, exist_ok=True)
        config = write_config(self.directory / "up.toml", COMMON, SLOW_BUILDS)
        self.state = self.directory / "state"
        arguments = [KILONOVA, "up", "--port", "0", "--state", str(self.state), "--config", str(config), *self.flags]
        self.program = Program("up", arguments, self.directory, {})
        self.program.start()
        try:
            url = (await self.program.ready()).split()[0]
        except BaseException:
            self.kill()
            raise
        return Client([url], (self.state / "token").read_text())

    def kill(self) -> None:
        self.program.kill()

    async def audit(self) -> tuple[int, str]:
        """`kilonova audit`."""
        return await run("audit", "--state", str(self.state))
