from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from kilonova.companions.image.embedded import EmbeddedImages
from kilonova.companions.image.face import image_face
from kilonova.companions.image.files import ImageFiles
from kilonova.companions.image.parts import ImageParts
from kilonova.storage.database import Database

from .cloud import URL, ImageCloud, Names


@pytest.fixture
async def cloud(database: Database, tmp_path: Path) -> AsyncIterator[ImageCloud]:
    service = EmbeddedImages(database, ImageFiles(tmp_path / "images"))
    transport = httpx.ASGITransport(app=image_face(ImageParts(service, 1000), Names(), f"{URL}/identity"))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http:
        yield ImageCloud(service, tmp_path / "images", http)
