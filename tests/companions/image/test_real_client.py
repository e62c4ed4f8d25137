import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import uvicorn
from cryptography.fernet import Fernet

from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.face import identity_face
from kilonova.companions.image.embedded import EmbeddedImages
from kilonova.companions.image.face import image_face
from kilonova.companions.image.files import ImageFiles
from kilonova.companions.image.parts import ImageParts
from kilonova.settings import IdentitySettings
from kilonova.storage.migrate import upgrade
from kilonova.storage.sqlite import SqliteDatabase


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[str]:
    """Both faces on a free port of this machine; gives their address."""
    database = SqliteDatabase(directory / "cloud.db")
    await upgrade(database)
    settings = IdentitySettings()
    identity = EmbeddedIdentity(database, [Fernet.generate_key()], settings)
    await identity.bootstrap(settings.admin_password)
    images = EmbeddedImages(database, ImageFiles(directory / "images"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        login = identity_face(identity, settings, url)
        store = image_face(ImageParts(images, 1000), identity, f"{url}/identity")

        async def both(scope: Any, receive: Any, send: Any) -> None:
            await (login if scope["path"].startswith("/identity") else store)(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(both, lifespan="off", log_level="warning"))
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield url
        finally:
            server.should_exit = True
            await running
            await database.close()


async def openstack(url: str, *arguments: str) -> Any:
    """Run the community's command line client; gives what it printed as JSON."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("OS_")},
        "OS_AUTH_URL": f"{url}/identity",
        "OS_USERNAME": "admin",
        "OS_PASSWORD": "kilonova",
        "OS_PROJECT_NAME": "admin",
        "OS_USER_DOMAIN_NAME": "Default",
        "OS_PROJECT_DOMAIN_NAME": "Default",
        "OS_IDENTITY_API_VERSION": "3",
    }
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("openstack")),
        *arguments,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    return orjson.loads(out) if out.strip() else None


async def test_the_communitys_client_logs_in_and_brings_an_image_there_and_back(tmp_path: Path) -> None:
    source, copy = tmp_path / "source.img", tmp_path / "copy.img"
    source.write_bytes(os.urandom(3 << 20))
    async with serving(tmp_path) as url:
        catalog = await openstack(url, "catalog", "list", "-f", "json")
        assert {entry["Type"] for entry in catalog} == {"identity", "compute", "placement", "image", "network"}
        made = await openstack(url, "image", "create", "--file", str(source), "--property", "a=b", "cirros", "-f", "json")
        assert (made["status"], made["size"], made["properties"]["a"]) == ("active", 3 << 20, "b")
        await openstack(url, "image", "save", "--file", str(copy), "cirros")
    assert copy.read_bytes() == source.read_bytes()
