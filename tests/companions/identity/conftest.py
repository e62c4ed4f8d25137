from collections.abc import AsyncIterator

import httpx
import pytest

from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.face import identity_face
from kilonova.settings import IdentitySettings
from kilonova.storage.database import Database

from .cloud import KEYS, PASSWORD, URL, Cloud


@pytest.fixture
async def cloud(database: Database) -> AsyncIterator[Cloud]:
    settings = IdentitySettings()
    service = EmbeddedIdentity(database, KEYS, settings)
    await service.bootstrap(PASSWORD)
    transport = httpx.ASGITransport(app=identity_face(service, settings, URL))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http:
        made = Cloud(database, service, http)
        made.token = await service.issue_token("admin", "admin")
        yield made
