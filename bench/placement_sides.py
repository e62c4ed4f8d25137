"""Kilonova's placement as a measured side, on PostgreSQL or on SQLite; and the floor under what any server can do."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from clouds import Code
from placement_client import Asker
from placement_data import Dataset
from placement_load import Loaded, load
from placement_service import ROOT, PlacementService
from scale_data import fill, open_postgresql, open_sqlite

from processes import Child, own_cpu

MOST_BY_API: Final = 2000


class Side(Protocol):
    """A placement service that is measured."""

    name: str

    @property
    def asker(self) -> Asker:
        """Who asks it."""

    async def start(self, dataset: Dataset) -> None:
        """Run it with the data set until it answers. Raises RuntimeError."""

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""

    async def stop(self) -> None:
        """End its processes."""


class Ours:
    """`kilonova placement` in one process; `postgres` says whether on a PostgreSQL of its own or on SQLite."""

    def __init__(self, directory: Path, name: str, postgres: bool) -> None:
        self.name = name
        self._postgres = postgres
        self._service = PlacementService(directory)

    @property
    def asker(self) -> Asker:
        """Who asks it."""
        return self._service.asker

    async def start(self, dataset: Dataset) -> None:
        """Run it with the data set until it answers. Raises RuntimeError. Up to MOST_BY_API providers go through its API."""
        service = self._service
        await service.prepare(postgres=self._postgres)
        by_api = len(dataset.providers) <= MOST_BY_API
        if not by_api:
            await self._fill(dataset)
        await service.start()
        if by_api:
            before = sum(self.cpu().values())
            self._tell(await load(self.asker, dataset), before)
        if service.server:
            await asyncio.to_thread(service.server.psql, "ANALYZE")

    async def _fill(self, dataset: Dataset) -> None:
        server = self._service.server
        database = await (open_postgresql(server.get_uri()) if server else open_sqlite(self._service.file))
        try:
            await fill(database, iter(dataset.providers))
        finally:
            await database.close()

    def _tell(self, loaded: Loaded, before: float) -> None:
        cpu = (sum(self.cpu().values()) - before) / loaded.requests * 1e3
        rate = loaded.requests / loaded.seconds
        print(f"{self.name}: loaded by {loaded.requests:,} requests, {cpu:.2f} ms of CPU each, {rate:.0f} a second", flush=True)

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of server and database."""
        return self._service.cpu()

    async def stop(self) -> None:
        """End its processes."""
        await self._service.stop()


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
