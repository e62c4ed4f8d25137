"""The placement face over HTTP, on an empty database of each kind."""

from collections.abc import AsyncIterator

import httpx
import pytest

from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement_api.face import Mounting, placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.database import Database
from tests.placement_api.placement_client import Client, FakeAuthenticator


@pytest.fixture
def parts(database: Database) -> PlacementParts:
    return PlacementParts(database, LedgerIndex(database))


@pytest.fixture
async def client(parts: PlacementParts) -> AsyncIterator[Client]:
    face = placement_face(parts, FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        yield Client(http)


@pytest.fixture
async def own_client(parts: PlacementParts) -> AsyncIterator[Client]:
    face = placement_face(parts, FakeAuthenticator(), Mounting("/own/placement", own=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/own/placement") as http:
        yield Client(http)
