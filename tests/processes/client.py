"""A cloud as its users see it: creates many servers at once over HTTP and says what has become of them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

HEADERS: Final = {"OpenStack-API-Version": "compute 2.90"}
AT_ONCE: Final = 16
MOVING: Final = frozenset({"BUILD", "REBOOT", "HARD_REBOOT"})
Json = dict[str, Any]


@dataclass
class Client:
    """One user's way to a cloud that may answer at several addresses. Made by `log_in`."""

    urls: Sequence[str]
    token: str
    wish: Json = field(default_factory=dict)
    """What every server of this user is asked for with."""

    def __post_init__(self) -> None:
        limits = httpx.Limits(max_connections=2 * AT_ONCE)
        self._http = httpx.AsyncClient(headers={**HEADERS, "X-Auth-Token": self.token}, timeout=30, limits=limits)
        self._turn = 0

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Ask the next address in turn."""
        self._turn += 1
        return await self._http.request(method, self.urls[self._turn % len(self.urls)] + path, json=body)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer that must not be an error. What cannot be answered now is asked again, elsewhere."""
        for attempt in range(50):
            try:
                answer = await self.send(method, path, body)
            except httpx.TransportError:
                await asyncio.sleep(0.02 * (attempt + 1))
                continue
            if answer.status_code == 503 and method == "GET":
                await asyncio.sleep(0.02 * (attempt + 1))
                continue
            assert not answer.is_error, f"{method} {path}: {answer.status_code} {answer.text}"
            return answer.json() if answer.content else None
        raise AssertionError(f"{method} {path}: nobody answers")

    async def furnish(self) -> None:
        """Make what servers need: a flavor, an image with a byte in it, a network."""
        flavor = {"name": "small", "vcpus": 1, "ram": 64, "disk": 1}
        made = (await self.ask("POST", "/compute/v2.1/flavors", {"flavor": flavor}))["flavor"]
        image = {"name": "image", "disk_format": "raw", "container_format": "bare"}
        image_id = (await self.ask("POST", "/image/v2/images", image))["id"]
        await self._http.put(
            f"{self.urls[0]}/image/v2/images/{image_id}/file",
            content=b"x",
            headers={"Content-Type": "application/octet-stream"},
        )
        network = (await self.ask("POST", "/network/v2.0/networks", {"network": {"name": "net"}}))["network"]["id"]
        subnet = {"network_id": network, "cidr": "10.0.0.0/16", "ip_version": 4}
        await self.ask("POST", "/network/v2.0/subnets", {"subnet": subnet})
        self.wish = {"flavorRef": made["id"], "imageRef": image_id, "networks": [{"uuid": network}]}

    async def create(self, name: str = "one") -> str:
        """A new server's id, once it is accepted."""
        made = await self.ask("POST", "/compute/v2.1/servers", {"server": {"name": name, **self.wish}})
        return str(made["server"]["id"])

    async def create_many(self, count: int, accepted: Callable[[str], None], patience: float = 0.0) -> None:
        """Ask for servers, many at once, and tell of each that was accepted.

        For `patience` seconds one is asked for again where nobody listened or the answer was "not now". One whose answer
        was lost never is.
        """
        gate = asyncio.Semaphore(AT_ONCE)
        until = asyncio.get_running_loop().time() + patience

        async def one(number: int) -> None:
            async with gate:
                answer = await self._send_create({"name": f"s{number}", **self.wish}, until)
            if answer is not None:
                assert answer.status_code == 202, answer.text
                accepted(answer.json()["server"]["id"])

        await asyncio.gather(*(one(number) for number in range(count)))

    async def _send_create(self, server: Json, until: float) -> httpx.Response | None:
        while True:
            try:
                answer = await self.send("POST", "/compute/v2.1/servers", {"server": server})
            except httpx.ConnectError:
                answer = None
            except httpx.TransportError:
                return None
            if answer is not None and answer.status_code != 503:
                return answer
            if asyncio.get_running_loop().time() > until:
                return None
            await asyncio.sleep(0.05)

    async def act(self, server_id: str, kind: str) -> None:
        """Ask for an operation by its name in the table of operations."""
        if kind == "delete":
            await self.ask("DELETE", f"/compute/v2.1/servers/{server_id}")
            return
        body = {"start": {"os-start": None}, "stop": {"os-stop": None}, "reboot": {"reboot": {"type": "SOFT"}}}[kind]
        await self.ask("POST", f"/compute/v2.1/servers/{server_id}/action", body)

    async def servers(self) -> dict[str, Json]:
        """All servers by id."""
        found: dict[str, Json] = {}
        path = "/compute/v2.1/servers/detail?all_tenants=1&limit=500"
        while True:
            page = (await self.ask("GET", path))["servers"]
            found.update((server["id"], server) for server in page)
            if len(page) < 500:
                return found
            path = f"/compute/v2.1/servers/detail?all_tenants=1&limit=500&marker={page[-1]['id']}"

    async def settled(self, seconds: float) -> dict[str, Json]:
        """Wait until nothing is being done to any server; all servers by id."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            found = await self.servers()
            moving = [server for server in found.values() if is_moving(server)]
            if not moving:
                return found
            assert asyncio.get_running_loop().time() < deadline, f"after {seconds} s {len(moving)} are stuck: {moving[0]}"
            await asyncio.sleep(0.1)

    async def actions(self, server_id: str) -> list[tuple[str, str | None]]:
        """The kind and the message of each action on a server, oldest first."""
        path = f"/compute/v2.1/servers/{server_id}/os-instance-actions"
        found = (await self.ask("GET", path))["instanceActions"]
        return [(entry["action"], entry["message"]) for entry in reversed(found)]

    async def drift(self) -> list[Json]:
        """What the audit finds twice."""
        first = (await self.ask("GET", "/kilonova/audit"))["findings"]
        if not first:
            return []
        await asyncio.sleep(1.0)
        seen = {(entry["invariant"], entry["subject"]) for entry in first}
        again = (await self.ask("GET", "/kilonova/audit"))["findings"]
        return [entry for entry in again if (entry["invariant"], entry["subject"]) in seen]

    # ---- faults ----

    async def order(self, point: str, when: str, action: str, **more: Any) -> str:
        body = {"point": point, "when": when, "action": action, **more}
        return str((await self.ask("POST", "/chaos/rules", body))["id"])

    async def fired(self, rule: str) -> int:
        """How often a fault was met, as far as each process has heard."""
        rules = [(await self.ask("GET", "/chaos/rules"))["rules"] for _ in self.urls]
        return max(int(entry["fired"]) for found in rules for entry in found if entry["id"] == rule)

    async def met(self, rule: str, times: int = 1) -> None:
        deadline = asyncio.get_running_loop().time() + 30
        while await self.fired(rule) < times:
            assert asyncio.get_running_loop().time() < deadline, f"nobody met the rule {rule}"
            await asyncio.sleep(0.02)

    async def lift(self, rule: str) -> None:
        await self.ask("DELETE", f"/chaos/rules/{rule}")


async def log_in(urls: Sequence[str], password: str = "kilonova") -> Client:
    """The administrator."""
    user = {"name": "admin", "domain": {"id": "default"}, "password": password}
    scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
    body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
    async with httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(f"{urls[0]}/identity/v3/auth/tokens", json=body)
    assert answer.status_code == 201, answer.text
    return Client(urls, answer.headers["x-subject-token"])


def is_moving(server: Mapping[str, Any]) -> bool:
    return server["status"] in MOVING or server["OS-EXT-STS:task_state"] is not None


def judge(servers: Mapping[str, Json], accepted: Sequence[str]) -> Counter[str]:
    """How many servers are in which status. Fails for one that is in neither ACTIVE nor ERROR with a reason, or is lost."""
    lost = [server for server in accepted if server not in servers]
    assert not lost, f"{len(lost)} servers were accepted and are gone"
    for server in servers.values():
        fine = server["status"] == "ACTIVE" or (server["status"] == "ERROR" and server.get("fault", {}).get("message"))
        assert fine, f"{server['id']} is {server['status']} and has no reason"
    return Counter(str(server["status"]) for server in servers.values())
