"""A cloud as its callers see it, and what no API of this part can put there: hosts, their providers, servers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from kilonova.domain.clock import now
from kilonova.domain.errors import Unauthorized
from kilonova.domain.flavor import Flavor
from kilonova.domain.ledger import ANY, NewProvider
from kilonova.domain.resources import Inventory, Provider
from kilonova.domain.server import Server
from kilonova.domain.wish import Wish
from kilonova.http.calls import Caller
from kilonova.http.versions import Versions
from kilonova.storage import hosts, ledger, provider_contents, provider_trees, servers
from kilonova.storage.database import Database, Transaction
from kilonova.storage.hosts import HostRecord

P, Q = "0" * 31 + "1", "0" * 31 + "2"
CALLERS: Mapping[str, Caller] = {
    "admin": Caller("u-admin", P, frozenset({"admin", "member", "reader"})),
    "user": Caller("u-user", P, frozenset({"member", "reader"})),
    "other": Caller("u-other", Q, frozenset({"member", "reader"})),
}
VERSIONS = Versions("compute", 2, 1, 104, 1003, legacy_header="x-openstack-nova-api-version")
PREFIX = "/compute/v2.1"


class Tokens:
    async def caller(self, token: str, headers: object) -> Caller:
        if token not in CALLERS:
            raise Unauthorized("no such token")
        return CALLERS[token]


@dataclass(frozen=True)
class Cloud:
    """Calls the face as somebody at a version, and puts hosts and servers where no API of this part can."""

    client: httpx.AsyncClient
    database: Database

    async def call(self, method: str, path: str, body: object = None, *, at: str = "", who: str = "admin") -> httpx.Response:
        headers = {"x-auth-token": who} | ({"openstack-api-version": f"compute {at}"} if at else {})
        return await self.client.request(method, PREFIX + path, json=body, headers=headers)

    async def get(self, path: str, *, at: str = "", who: str = "admin") -> dict[str, Any]:
        answer = await self.call("GET", path, at=at, who=who)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def flavor(self, name: str, **more: object) -> dict[str, Any]:
        body = {"flavor": {"name": name, "ram": 512, "vcpus": 1, "disk": 1, "id": name, **more}}
        answer = await self.call("POST", "/flavors", body, at="2.75")
        assert answer.status_code == 200, answer.text
        made: dict[str, Any] = answer.json()["flavor"]
        return made

    async def aggregate(self, name: str, zone: str | None = None) -> int:
        answer = await self.call("POST", "/os-aggregates", {"aggregate": {"name": name, "availability_zone": zone}})
        assert answer.status_code == 200, answer.text
        number: int = answer.json()["aggregate"]["id"]
        return number

    async def act(self, aggregate: int, action: str, **body: object) -> httpx.Response:
        return await self.call("POST", f"/os-aggregates/{aggregate}/action", {action: body})

    async def host(self, name: str) -> HostRecord:
        async def add(tx: Transaction) -> HostRecord:
            root = await provider_trees.create_provider(tx, NewProvider(str(uuid4()), name, None, "cell1"))
            amounts = {"VCPU": Inventory(4), "MEMORY_MB": Inventory(4096, reserved=96), "DISK_GB": Inventory(40)}
            await provider_contents.edit_inventories(tx, root.id, ANY, lambda present: amounts)
            record = _host(name, root.uuid, await hosts.next_number(tx))
            await hosts.insert_host(tx, record)
            return record

        return await self.database.transact(add)

    async def server(self, name: str, host: str | None = None, **more: object) -> str:
        server, wish = _server(name, host, more)

        async def add(tx: Transaction) -> None:
            await servers.insert(tx, [(server, wish)])

        await self.database.transact(add)
        return server.id

    async def provider(self, uuid: str) -> Provider:
        async with self.database.read() as tx:
            return (await ledger.providers_by_uuid(tx, [uuid]))[uuid]

    async def has_provider(self, uuid: str) -> bool:
        async with self.database.read() as tx:
            return uuid in await ledger.providers_by_uuid(tx, [uuid])


def _host(name: str, provider_uuid: str, number: int) -> HostRecord:
    return HostRecord(
        name=name,
        id=number,
        service_id=str(uuid4()),
        cell="cell1",
        provider_uuid=provider_uuid,
        epoch=1,
        incarnation="",
        alive=True,
        disabled=False,
        disabled_reason=None,
        forced_down=False,
        failed_builds=0,
        hypervisor={"type": "fake", "version": 1000000, "cpu_info": {"arch": "x86_64"}, "hostname": name, "host_ip": "10.0.0.1"},
        reported="[]",
        created_at=now(),
        updated_at=now(),
        seen_at=now(),
    )


def _server(name: str, host: str | None, more: Mapping[str, Any]) -> tuple[Server, Wish]:
    flavor = Flavor(1, "f1", "f1", vcpus=1, memory_mb=512, root_gb=1)
    wish = Wish(P, "u-user", name, name, flavor, None)
    values: dict[str, Any] = {
        "id": str(uuid4()),
        "project_id": P,
        "user_id": "u-user",
        "name": name,
        "hostname": name,
        "created_at": now(),
        "updated_at": now(),
        "deleted": False,
        "vm_state": "active",
        "power_state": 1,
        "cell": "cell1" if host else "cell0",
        "host": host,
        "generation": 0,
        "flavor": flavor,
        "image_id": "",
        "config_drive": False,
        "metadata": {},
        "system_metadata": {},
        "addresses": [],
        "security_groups": [],
        "reservation_id": "r-1",
        "launch_index": 0,
        "root_device_name": "/dev/vda",
        **more,
    }
    return Server(**{**dict.fromkeys(Server.__dataclass_fields__), **values}), wish
