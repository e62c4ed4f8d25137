"""The compute API's face in this process, on an empty database of each kind."""

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest

from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.policy import RULES
from kilonova.compute_api.routes import CLOUD
from kilonova.http.errors import compute_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.settings import ApiSettings, ComputeSettings, QuotaSettings, SchedulerSettings
from kilonova.storage.database import Database

from .site import PREFIX, VERSIONS, Cloud, Tokens


@pytest.fixture
async def cloud(database: Database) -> AsyncIterator[Cloud]:
    nobody = cast(Any, None)
    parts = ComputeParts(
        database=database,
        acceptor=nobody,
        reads=nobody,
        images=nobody,
        networks=nobody,
        bus=nobody,
        api=ApiSettings(),
        compute=ComputeSettings(),
        quota=QuotaSettings(key_pairs=3, server_groups=2),
        scheduler=SchedulerSettings(),
        traits=frozenset(),
    )
    settings = FaceSettings("compute", PREFIX, compute_form, VERSIONS)
    face = Face(settings, CLOUD, parts, Tokens(), Policy(RULES))
    transport = httpx.ASGITransport(app=cast(Any, face))
    async with httpx.AsyncClient(transport=transport, base_url="http://cloud") as client:
        yield Cloud(client, database)
