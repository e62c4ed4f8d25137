"""Buses to test: the one in the process, and a real broker with two connections."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kilonova.bus import Bus
from kilonova.bus.in_process import InProcessBus
from kilonova.bus.nats import NatsBus
from kilonova.bus.nats_server import NatsServer


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[NatsServer]:
    server = NatsServer(tmp_path / "nats")
    await server.start()
    yield server
    await server.stop()


@pytest.fixture(params=["in process", "nats"])
async def buses(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Bus, Bus]]:
    """The bus as two parts see it: one object in the process, two connections on a broker."""
    if request.param == "in process":
        bus = InProcessBus()
        yield bus, bus
        await bus.close()
        return
    server = NatsServer(tmp_path / "nats")
    await server.start()
    near, far = await NatsBus.connect(server.url, "near"), await NatsBus.connect(server.url, "far")
    yield near, far
    await near.close()
    await far.close()
    await server.stop()
