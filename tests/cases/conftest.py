"""A whole cloud for each test, on SQLite and on PostgreSQL; after each test its four invariants are checked."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog

from kilonova.settings import StateSettings
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

from ..conftest import TEMPLATE, copy_of
from .cloud import SETTINGS, Cloud, Kit, changed, prepare


@dataclass(frozen=True)
class Prepared:
    """What is copied for each test: the state directory, with SQLite's file in it or the address of a PostgreSQL database."""

    kit: Kit
    state: Path
    url: str = ""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What these tests provoke is logged a hundredfold; only errors are worth reading."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def sqlite_kit(sqlite_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    state = tmp_path_factory.mktemp("sqlite-kit")
    shutil.copy(sqlite_file, state / "kilonova.sqlite")

    async def fill() -> Kit:
        database = SqliteDatabase(state / "kilonova.sqlite")
        kit = await prepare(database, state)
        await database.checkpoint()
        await database.close()
        return kit

    return Prepared(asyncio.run(fill()), state)


@pytest.fixture(scope="session")
def postgresql_kit(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    state = tmp_path_factory.mktemp("postgresql-kit")

    async def fill() -> Prepared:
        url = await copy_of(postgresql_server, TEMPLATE)
        database = await PostgresqlDatabase.connect(url, connections=4, seconds=30)
        kit = await prepare(database, state)
        await database.close()
        return Prepared(kit, state, url)

    return asyncio.run(fill())


@pytest.fixture(params=["sqlite", "postgresql"])
def prepared(request: pytest.FixtureRequest) -> Prepared:
    found: Prepared = request.getfixturevalue(f"{request.param}_kit")
    return found


@pytest.fixture
async def copied(prepared: Prepared, tmp_path: Path) -> AsyncIterator[Database]:
    """A copy of the prepared database; the state directory that goes with it is `tmp_path`."""
    shutil.copytree(prepared.state, tmp_path, dirs_exist_ok=True)
    if prepared.url:
        address = await copy_of(prepared.url, urlsplit(prepared.url).path[1:])
        database: Database = await PostgresqlDatabase.connect(address, connections=8, seconds=30)
    else:
        database = SqliteDatabase(tmp_path / "kilonova.sqlite")
    yield database
    await database.close()


@pytest.fixture
def changes() -> dict[str, dict[str, Any]]:
    """Settings of a test that are not the usual ones, by section; see `with_settings`."""
    return {}


@pytest.fixture
async def cloud(prepared: Prepared, copied: Database, changes: dict[str, dict[str, Any]], tmp_path: Path) -> AsyncIterator[Cloud]:
    """The cloud. Where a test failed already, its end is not looked at."""
    settings = changed(replace(SETTINGS, state=StateSettings(str(tmp_path))), changes)
    made = Cloud(copied, tmp_path, settings, prepared.kit)
    await made.start()
    yield made
    try:
        await made.is_clean()
    finally:
        await made.close()
