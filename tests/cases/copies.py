"""Clouds that are prepared once and copied for each test: the state directory and the database that goes with it."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kilonova.settings import StateSettings
from kilonova.storage.database import Database
from kilonova.storage.postgresql import PostgresqlDatabase
from kilonova.storage.sqlite import SqliteDatabase

from ..conftest import TEMPLATE, copy_of
from .cloud import SETTINGS, Cloud, Kit, changed, prepare

FILE = "kilonova.sqlite"


@dataclass(frozen=True)
class Prepared:
    """What is copied: the state directory, with SQLite's file in it or the address of a PostgreSQL database."""

    kit: Kit
    state: Path
    url: str = ""


async def prepare_sqlite(empty: Path, state: Path) -> Prepared:
    """Prepare a copy of the empty database in the file `empty`."""
    shutil.copy(empty, state / FILE)
    database = SqliteDatabase(state / FILE)
    kit = await prepare(database, state)
    await database.checkpoint()
    await database.close()
    return Prepared(kit, state)


async def prepare_postgresql(server: str, state: Path) -> Prepared:
    """Prepare a copy of the server's empty database."""
    url = await copy_of(server, TEMPLATE)
    database = await PostgresqlDatabase.connect(url, connections=4, seconds=30)
    kit = await prepare(database, state)
    await database.close()
    return Prepared(kit, state, url)


@asynccontextmanager
async def copied_cloud(prepared: Prepared, place: Path, changes: Mapping[str, Mapping[str, Any]]) -> AsyncIterator[Cloud]:
    """A running copy with its state in `place`; where all went well, its end is looked at."""
    shutil.copytree(prepared.state, place, dirs_exist_ok=True)
    database = await _copied_database(prepared, place)
    cloud = Cloud(database, place, changed(replace(SETTINGS, state=StateSettings(str(place))), changes), prepared.kit)
    await cloud.start()
    try:
        yield cloud
        await cloud.is_clean()
    finally:
        await cloud.close()
        await database.close()


async def _copied_database(prepared: Prepared, place: Path) -> Database:
    if not prepared.url:
        return SqliteDatabase(place / FILE)
    address = await copy_of(prepared.url, urlsplit(prepared.url).path[1:])
    return await PostgresqlDatabase.connect(address, connections=8, seconds=30)
