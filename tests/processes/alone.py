"""Processes of `kilonova placement` that share a PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from .cluster import empty_database, write_config
from .programs import KILONOVA, Program, run

HEADERS: Final = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}


@dataclass
class Alone:
    """Processes that serve placement alone, and a client of each."""

    config: Path
    programs: list[Program]
    clients: list[httpx.AsyncClient] = field(default_factory=list)


@asynccontextmanager
async def placement_alone(postgresql_server: str, directory: Path, processes: int) -> AsyncIterator[Alone]:
    """So many of them on an empty database; everybody is believed."""
    settings: dict[str, dict[str, Any]] = {
        "api": {"port": 0},
        "database": {"url": await empty_database(postgresql_server)},
        "placement": {"auth_strategy": "noauth2"},
    }
    config = write_config(directory / "placement.toml", settings)
    code, said = await run("db", "upgrade", "--config", str(config))
    assert code == 0, said
    command = [KILONOVA, "placement", "--config", str(config)]
    made = Alone(config, [Program(f"placement-{number}", command, directory, {}) for number in range(processes)])
    try:
        for program in made.programs:
            program.start()
        for program in made.programs:
            made.clients.append(httpx.AsyncClient(base_url=await program.ready(), headers=HEADERS, timeout=30))
        yield made
    finally:
        for client in made.clients:
            await client.aclose()
        for program in made.programs:
            program.kill()
