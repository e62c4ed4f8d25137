from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from kilonova.companions.image.embedded import EmbeddedImages
from kilonova.domain.errors import Unauthorized
from kilonova.http.calls import Caller

URL = "http://cloud.test"
PATCH = "application/openstack-images-v2.1-json-patch"
OCTETS = "application/octet-stream"

CALLERS = {
    "admin": Caller("admin", "operations", frozenset({"admin", "member", "reader"})),
    "red": Caller("ann", "red", frozenset({"member", "reader"})),
    "blue": Caller("bob", "blue", frozenset({"member", "reader"})),
    "looker": Caller("eve", "red", frozenset({"reader"})),
}
"""Callers by their tokens."""


class Names:
    """Knows callers by the names above."""

    async def caller(self, token: str, headers: object) -> Caller:
        if token not in CALLERS:
            raise Unauthorized("Nobody has this name.")
        return CALLERS[token]


@dataclass
class ImageCloud:
    """A cloud with nothing but an image service."""

    service: EmbeddedImages
    directory: Path
    http: httpx.AsyncClient

    async def ask(self, method: str, path: str, token: str = "red", **more: Any) -> httpx.Response:
        headers = {"X-Auth-Token": token, **more.pop("headers", {})}
        return await self.http.request(method, f"/image{path}", headers=headers, **more)

    async def new(self, token: str = "red", data: bytes | None = None, **body: object) -> dict[str, Any]:
        body = {"name": "cirros", "disk_format": "raw", "container_format": "bare", **body}
        made = await self.ask("POST", "/v2/images", token, json=body)
        assert made.status_code == 201, made.text
        image: dict[str, Any] = made.json()
        if data is not None:
            assert (await self.upload(image["id"], data, token)).status_code == 204
        return image

    async def upload(self, image_id: str, data: bytes, token: str = "red") -> httpx.Response:
        path = f"/v2/images/{image_id}/file"
        return await self.ask("PUT", path, token, content=data, headers={"Content-Type": OCTETS})

    async def patch(self, image_id: str, *changes: object, token: str = "red") -> httpx.Response:
        path = f"/v2/images/{image_id}"
        return await self.ask("PATCH", path, token, json=changes, headers={"Content-Type": PATCH})

    async def names(self, query: str = "", token: str = "red") -> list[str]:
        answer = await self.ask("GET", f"/v2/images{query}", token)
        assert answer.status_code == 200, answer.text
        return [image["name"] for image in answer.json()["images"]]
