"""A network service on an empty database of each kind, and its face with a door that knows three callers."""

from collections.abc import AsyncIterator

import httpx
import pytest

from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.companions.network.face import network_face
from kilonova.companions.network.parts import NetworkParts
from kilonova.storage.database import Database

from .neighbourhood import URL, Door, Neighbourhood


@pytest.fixture
async def near(database: Database) -> AsyncIterator[Neighbourhood]:
    face = network_face(NetworkParts(database), Door())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), base_url=URL) as http:
        yield Neighbourhood(EmbeddedNetwork(database), http, database)
