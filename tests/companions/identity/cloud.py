from dataclasses import dataclass
from typing import Any

import httpx
from cryptography.fernet import Fernet

from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.storage.sqlite import SqliteDatabase

URL = "http://cloud.test"
PASSWORD = "correct horse"
KEYS = [Fernet.generate_key()]


@dataclass
class Cloud:
    """A cloud with nothing but an identity service, and a client that holds its administrator's token."""

    database: SqliteDatabase
    service: EmbeddedIdentity
    http: httpx.AsyncClient
    token: str = ""

    async def ask(self, method: str, path: str, body: object = None, token: str | None = None, **headers: str) -> httpx.Response:
        sent = {"X-Auth-Token": self.token if token is None else token, **headers}
        return await self.http.request(method, f"/identity{path}", json=body, headers=sent)

    async def log_in(self, name: str, password: str, scope: object = None) -> httpx.Response:
        user = {"name": name, "domain": {"id": "default"}, "password": password}
        auth: dict[str, Any] = {"identity": {"methods": ["password"], "password": {"user": user}}}
        if scope is not None:
            auth["scope"] = scope
        return await self.ask("POST", "/v3/auth/tokens", {"auth": auth}, token="")

    async def new_user(self, name: str, project: str, role: str) -> tuple[str, str]:
        made = await self.ask("POST", "/v3/users", {"user": {"name": name, "password": PASSWORD}})
        user_id = made.json()["user"]["id"]
        made = await self.ask("POST", "/v3/projects", {"project": {"name": project}})
        project_id = made.json()["project"]["id"]
        role_id = (await self.ask("GET", f"/v3/roles?name={role}")).json()["roles"][0]["id"]
        given = await self.ask("PUT", f"/v3/projects/{project_id}/users/{user_id}/roles/{role_id}")
        assert given.status_code == 204
        return user_id, project_id


def on(project: str) -> dict[str, Any]:
    return {"project": {"name": project, "domain": {"name": "Default"}}}
