"""A client of the placement face for tests: short calls, and providers made in one line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from kilonova.domain.clock import new_uuid
from kilonova.domain.errors import Unauthorized
from kilonova.http.calls import Caller


class FakeAuthenticator:
    """The token says who it is: `admin`, `service`, or `reader` of project p1."""

    async def caller(self, token: str, headers: Mapping[str, str]) -> Caller:
        if token not in ("admin", "service", "reader"):
            raise Unauthorized("no such token")
        return Caller(user_id="u1", project_id="p1", roles=frozenset({token}))


@dataclass(frozen=True)
class Client:
    http: httpx.AsyncClient
    version: str = "1.39"
    token: str = "admin"

    def at(self, version: str) -> "Client":
        return Client(self.http, version, self.token)

    def by(self, token: str) -> "Client":
        return Client(self.http, self.version, token)

    async def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        headers = {"x-auth-token": self.token, "openstack-api-version": f"placement {self.version}"}
        return await self.http.request(method, path, json=body, headers=headers)

    async def get(self, path: str) -> httpx.Response:
        return await self.call("GET", path)

    async def put(self, path: str, body: object = None) -> httpx.Response:
        return await self.call("PUT", path, body)

    async def post(self, path: str, body: object) -> httpx.Response:
        return await self.call("POST", path, body)

    async def delete(self, path: str) -> httpx.Response:
        return await self.call("DELETE", path)

    async def provider(self, name: str = "", parent: str | None = None, **totals: int) -> str:
        """Make a provider with inventories; its uuid."""
        uuid = new_uuid()
        newest = self.at("1.39")
        made = await newest.post("/resource_providers", {"name": name or uuid, "uuid": uuid, "parent_provider_uuid": parent})
        assert made.status_code == 200, made.text
        if totals:
            inventories = {name: {"total": total} for name, total in totals.items()}
            body = {"resource_provider_generation": 0, "inventories": inventories}
            answer = await newest.put(f"/resource_providers/{uuid}/inventories", body)
            assert answer.status_code == 200, answer.text
        return uuid

    async def generation(self, uuid: str) -> int:
        return int((await self.get(f"/resource_providers/{uuid}")).json()["generation"])

    async def traits(self, uuid: str, *names: str) -> None:
        for name in names:
            if name.startswith("CUSTOM_"):
                await self.put(f"/traits/{name}")
        body = {"traits": list(names), "resource_provider_generation": await self.generation(uuid)}
        answer = await self.put(f"/resource_providers/{uuid}/traits", body)
        assert answer.status_code == 200, answer.text

    async def aggregates(self, uuid: str, *aggregates: str) -> None:
        body = {"aggregates": list(aggregates), "resource_provider_generation": await self.generation(uuid)}
        answer = await self.put(f"/resource_providers/{uuid}/aggregates", body)
        assert answer.status_code == 200, answer.text

    async def claim(self, consumer: str, provider: str, generation: int | None = None, **amounts: int) -> httpx.Response:
        return await self.put(f"/allocations/{consumer}", holding({provider: amounts} if amounts else {}, generation))


def holding(allocations: dict[str, dict[str, int]], generation: int | None = None) -> dict[str, Any]:
    """The body at 1.38 and up of what a consumer is to hold."""
    return {
        "allocations": {uuid: {"resources": amounts} for uuid, amounts in allocations.items()},
        "project_id": "p1",
        "user_id": "u1",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }


def code(answer: httpx.Response) -> str:
    """The code of an error."""
    return str(answer.json()["errors"][0]["code"])
