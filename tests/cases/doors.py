"""How tests speak to a whole cloud: one person's way to one of its faces, at one version."""

from dataclasses import dataclass, replace
from typing import Any

import httpx


@dataclass(frozen=True)
class Door:
    """Somebody with a token before one face. `service` is the name of the version header, "" for a face without versions."""

    http: httpx.AsyncClient
    token: str
    root: str
    service: str = ""
    version: str = ""

    def at(self, version: str) -> "Door":
        """The same at another version; "" asks for none."""
        return replace(self, version=version)

    def own(self) -> "Door":
        """The same face where our own versions are advertised."""
        return replace(self, root=f"/own{self.root}")

    async def call(self, method: str, path: str, body: object = None, **more: str) -> httpx.Response:
        """`more` are further headers. A server's error never passes for an answer that a test asked for."""
        headers = {"x-auth-token": self.token, **more}
        if self.version:
            headers["openstack-api-version"] = f"{self.service} {self.version}"
        answer = await self.http.request(method, f"{self.root}{path}", json=body, headers=headers)
        assert answer.status_code != 500, f"{method} {path} at {self.version}: {answer.text}"
        return answer

    async def get(self, path: str) -> httpx.Response:
        return await self.call("GET", path)

    async def post(self, path: str, body: object) -> httpx.Response:
        return await self.call("POST", path, body)

    async def put(self, path: str, body: object = None) -> httpx.Response:
        return await self.call("PUT", path, body)

    async def delete(self, path: str) -> httpx.Response:
        return await self.call("DELETE", path)

    async def read(self, path: str) -> Any:
        """The body of a GET that must succeed."""
        answer = await self.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return answer.json()

    async def write(self, path: str, body: object, method: str = "POST") -> Any:
        """The body of a write that must succeed, None without one."""
        answer = await self.call(method, path, body)
        assert answer.status_code < 300, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None
