"""A whole cloud for each test, on SQLite and on PostgreSQL; after each test its four invariants are checked."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from .cloud import Cloud
from .copies import Prepared, copied_cloud, prepare_postgresql, prepare_sqlite


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What these tests provoke is logged a hundredfold; only errors are worth reading."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def sqlite_kit(sqlite_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return asyncio.run(prepare_sqlite(sqlite_file, tmp_path_factory.mktemp("sqlite-kit")))


@pytest.fixture(scope="session")
def postgresql_kit(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return asyncio.run(prepare_postgresql(postgresql_server, tmp_path_factory.mktemp("postgresql-kit")))


@pytest.fixture(params=["sqlite", "postgresql"])
def prepared(request: pytest.FixtureRequest) -> Prepared:
    found: Prepared = request.getfixturevalue(f"{request.param}_kit")
    return found


@pytest.fixture
def changes() -> dict[str, dict[str, Any]]:
    """Settings of a test that are not the usual ones, by section; see `with_settings`."""
    return {}


@pytest.fixture
async def cloud(prepared: Prepared, changes: dict[str, dict[str, Any]], tmp_path: Path) -> AsyncIterator[Cloud]:
    async with copied_cloud(prepared, tmp_path, changes) as made:
        yield made
