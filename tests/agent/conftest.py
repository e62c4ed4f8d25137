"""A bus, a conductor and a host for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kilonova.bus.in_process import InProcessBus
from tests.agent.agent_site import Conductor, Site


@pytest.fixture
async def bus() -> AsyncIterator[InProcessBus]:
    made = InProcessBus()
    yield made
    await made.close()


@pytest.fixture
async def conductor(bus: InProcessBus) -> Conductor:
    made = Conductor(bus)
    await made.start()
    return made


@pytest.fixture
async def site(bus: InProcessBus, conductor: Conductor, tmp_path: Path) -> AsyncIterator[Site]:
    made = Site(bus, tmp_path)
    await made.start()
    yield made
    await made.close()
