"""Three callers, and the few steps that most tests begin with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from kilonova.companions.network.contract import Binding
from kilonova.companions.network.embedded import EmbeddedNetwork
from kilonova.domain.errors import Unauthorized
from kilonova.domain.network import AskedNetwork, ServerPort
from kilonova.http.calls import Caller
from kilonova.storage.database import Database

URL = "http://cloud/network"
CALLERS = {
    "alice": Caller("u1", "1" * 32, frozenset({"member", "reader"})),
    "bob": Caller("u2", "2" * 32, frozenset({"member", "reader"})),
    "admin": Caller("u3", "3" * 32, frozenset({"admin", "member", "reader"})),
}
ALICE, BOB, ADMIN = CALLERS.values()


class Door:
    """Knows a caller by a token that is its name."""

    async def caller(self, token: str, headers: object) -> Caller:
        if token not in CALLERS:
            raise Unauthorized("no such token")
        return CALLERS[token]


def network(network_id: str, fixed_ip: str = "") -> AskedNetwork:
    return AskedNetwork(network_id=network_id, fixed_ip=fixed_ip)


def port(port_id: str) -> AskedNetwork:
    return AskedNetwork(port_id=port_id)


@dataclass
class Neighbourhood:
    """The service, its face and its database."""

    service: EmbeddedNetwork
    http: httpx.AsyncClient
    database: Database
    token: str = "alice"
    servers: list[str] = field(default_factory=list)

    def as_(self, name: str) -> "Neighbourhood":
        return Neighbourhood(self.service, self.http, self.database, name)

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        answer = await self.http.request(method, f"{URL}/v2.0{path}", json=body, headers={"x-auth-token": self.token})
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        answer = await self.http.request(method, f"{URL}/v2.0{path}", json=body, headers={"x-auth-token": self.token})
        assert answer.status_code >= 400, answer.text
        return answer.status_code, answer.json()["NeutronError"]["type"]

    async def get(self, path: str) -> Any:
        return await self.ask("GET", path)

    async def make(self, noun: str, **body: Any) -> dict[str, Any]:
        answer = await self.ask("POST", f"/{noun.replace('_', '-')}s", {noun: body}, 201)
        return dict(answer[noun])

    async def net(self, *cidrs: str, **body: Any) -> str:
        """A network with these subnets; its id."""
        made = await self.make("network", **body)
        for cidr in cidrs:
            await self.make("subnet", network_id=made["id"], cidr=cidr, ip_version=6 if ":" in cidr else 4)
        return str(made["id"])

    async def bind(
        self, *asked: AskedNetwork, server_id: str = "", host: str = "host-1", groups: Sequence[str] = ()
    ) -> tuple[ServerPort, ...]:
        """Bind cards of a server of alice's."""
        server_id = server_id or str(uuid4())
        self.servers.append(server_id)
        return await self.service.bind(Binding(server_id, ALICE.project_id, "vm", host, "zone-1", asked, groups))
