"""One `kilonova up` for all tests of clients, as a newcomer starts it: a process of its own, an empty home."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The conformance script starts clouds the same way.
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from started_cloud import StartedCloud


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedCloud]:
    started = StartedCloud(tmp_path_factory.mktemp("cloud"))
    started.start()
    yield started
    started.stop()
