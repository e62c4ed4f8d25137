"""One cloud with large hosts and no quotas, whose answers are compared at every version."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ..cases.cloud import Cloud
from ..cases.copies import Prepared, copied_cloud, prepare_sqlite

CHANGES = {
    "quota": {"instances": -1, "cores": -1, "ram": -1, "key_pairs": -1, "server_groups": -1},
    "fake": {"vcpus": 200, "memory_mb": 200_000, "disk_gb": 2000},
}


@pytest.fixture(scope="session")
def kit(sqlite_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return asyncio.run(prepare_sqlite(sqlite_file, tmp_path_factory.mktemp("kit")))


@pytest.fixture
async def cloud(kit: Prepared, tmp_path: Path) -> AsyncIterator[Cloud]:
    async with copied_cloud(kit, tmp_path, CHANGES) as made:
        yield made
