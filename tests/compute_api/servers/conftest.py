"""The servers' routes as a face in this process, on a database of each kind."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from kilonova.bus.in_process import InProcessBus
from kilonova.compute_api.parts import ComputeParts
from kilonova.compute_api.policy import RULES
from kilonova.compute_api.routes import SERVERS
from kilonova.domain.flavor import Flavor
from kilonova.domain.image import Image
from kilonova.http.errors import compute_form
from kilonova.http.face import Face, FaceSettings
from kilonova.http.policy import Policy
from kilonova.settings import ApiSettings, ComputeSettings, QuotaSettings, SchedulerSettings
from kilonova.storage import flavors
from kilonova.storage.database import Database, Transaction

from .cloud import (
    COMPUTE,
    IMAGE,
    LARGE_IMAGE,
    ODD_IMAGE,
    PROJECT,
    QUEUED_IMAGE,
    TRAIT_IMAGE,
    Cloud,
    Consoles,
    Images,
    Networks,
    RecordingAcceptor,
    Tokens,
)


@pytest.fixture
async def cloud(database: Database) -> AsyncIterator[Cloud]:
    acceptor = RecordingAcceptor(database)
    images = Images(
        {
            IMAGE: Image(IMAGE, "cirros", "active", PROJECT, size_bytes=10_000_000),
            LARGE_IMAGE: Image(LARGE_IMAGE, "large", "active", PROJECT, min_ram_mb=4096),
            QUEUED_IMAGE: Image(QUEUED_IMAGE, "queued", "queued", PROJECT),
            TRAIT_IMAGE: Image(TRAIT_IMAGE, "gpu", "active", PROJECT, properties={"trait:CUSTOM_GPU": "required"}),
            ODD_IMAGE: Image(ODD_IMAGE, "odd", "active", PROJECT, properties={"trait:CUSTOM_NONE": "required"}),
        }
    )
    parts: Any = ComputeParts(
        database, acceptor, Consoles(), images, Networks(), InProcessBus(), ApiSettings(), ComputeSettings(),
        QuotaSettings(), SchedulerSettings(),
        frozenset({"COMPUTE_NODE"}),
    )  # fmt: skip
    settings = FaceSettings("compute", "/compute/v2.1", compute_form, COMPUTE, legacy_project=True)
    face: Any = Face(settings, SERVERS, parts, Tokens(), Policy(RULES))

    async def fill(transaction: Transaction) -> None:
        await flavors.insert_flavor(transaction, Flavor(0, "f1", "small", 1, 512, 1))
        await flavors.insert_flavor(transaction, Flavor(0, "secret", "secret", 1, 512, 1, is_public=False))
        await flavors.insert_flavor(transaction, Flavor(0, "nodisk", "nodisk", 1, 512, 0))

    await database.transact(fill)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=face), base_url="http://cloud") as client:
        yield Cloud(database, acceptor, client)
