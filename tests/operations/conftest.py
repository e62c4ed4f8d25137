"""A cloud for each test, on SQLite unless the test's parameter says otherwise."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest
import structlog

from kilonova.companions.network.face import network_face
from kilonova.companions.network.parts import NetworkParts
from kilonova.http.calls import Caller
from kilonova.settings import Settings
from kilonova.storage.database import Database

from .cloud import PROJECT, SETTINGS, Cloud, Ground


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What these tests provoke on purpose would fill the log."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    yield
    structlog.reset_defaults()


class _Door:
    """Everybody is the project's member."""

    async def caller(self, token: str, headers: object) -> Caller:
        return Caller("user", PROJECT, frozenset({"member", "reader"}))


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Database:
    """An empty database."""
    found: Database = request.getfixturevalue(getattr(request, "param", "sqlite"))
    return found


@pytest.fixture
async def ground(store: Database) -> Ground:
    """The database with two networks, one with thousands of addresses and one with a single one."""
    face = network_face(NetworkParts(store), _Door())
    made = []
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=face), base_url="http://cloud/network/v2.0", headers={"x-auth-token": "t"}
    ) as http:
        for cidr in ("10.1.0.0/16", "10.2.0.0/30"):
            network = await http.post("/networks", json={"network": {"name": cidr}})
            made.append(network.json()["network"]["id"])
            subnet = {"network_id": made[-1], "cidr": cidr, "ip_version": 4}
            answer = await http.post("/subnets", json={"subnet": subnet})
            assert answer.status_code == 201, answer.text
    return Ground(store, *made)


@pytest.fixture
async def new_cloud(ground: Ground, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Cloud]]]:
    """Makes the test's cloud where the usual one does not do."""
    made: list[Cloud] = []

    async def make(settings: Settings = SETTINGS, host_count: int = 3) -> Cloud:
        made.append(Cloud(ground, tmp_path, settings, host_count))
        await made[-1].start()
        return made[-1]

    yield make
    for cloud in made:
        await cloud.close()


@pytest.fixture
async def cloud(new_cloud: Callable[..., Awaitable[Cloud]]) -> Cloud:
    return await new_cloud()
