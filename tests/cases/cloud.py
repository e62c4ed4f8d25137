"""A whole cloud in this process, as `kilonova up` joins it, seen through its HTTP faces only.

What every test wants is made once, over HTTP, and copied: database and state directory. Hosts h1, h2, h3 report to each copy.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx
from sqlalchemy import text

from kilonova import assembly
from kilonova.agent.journal import Journal
from kilonova.agent.process import Agent
from kilonova.bus.chaos import ChaosRules
from kilonova.bus.in_process import InProcessBus
from kilonova.operations.reads import HostReads
from kilonova.reconcilers.audit import audit
from kilonova.reconcilers.housekeeping import dead_cards
from kilonova.settings import AgentOptions, ConductorSettings, FakeSettings, Settings, StateSettings
from kilonova.storage import operations
from kilonova.storage.database import Database
from kilonova.storage.statement import Statement

from .doors import Door

URL: Final = "http://cloud"
HOSTS: Final = ("h1", "h2", "h3")
COMPUTE: Final = ("/compute/v2.1", "compute", "2.104")
PLACEMENT: Final = ("/placement", "placement", "1.39")
BOUND: Final = 30.0
"""Seconds in which everything must have ended."""

SETTINGS: Final = Settings(
    conductor=ConductorSettings(lease_seconds=0.5, poll_seconds=0.05, retry_seconds=0.05, resend_seconds=0.1, accept_seconds=1.0),
    agent=AgentOptions(beat_seconds=0.2),
    fake=FakeSettings(vcpus=4, memory_mb=4096, disk_gb=40),
)
_UNFINISHED: Final = Statement(
    text("SELECT id, vm_state, task_state FROM servers WHERE NOT deleted AND (task_state IS NOT NULL OR vm_state = 'building')")
)


def changed(settings: Settings, changes: Mapping[str, Mapping[str, Any]]) -> Settings:
    """The settings with some knobs of some sections set otherwise."""
    return replace(settings, **{section: replace(getattr(settings, section), **knobs) for section, knobs in changes.items()})


@dataclass(frozen=True)
class Kit:
    """What was made once: tokens and ids that are good in every copy."""

    admin: str
    member: str
    other: str
    project: str
    user: str
    other_user: str
    images: tuple[str, str]


@dataclass
class Cloud:
    """One copy of the cloud. `user` is a member of the project P, `other` another one, `admin` the administrator."""

    database: Database
    state: Path
    settings: Settings
    kit: Kit
    bus: InProcessBus = field(default_factory=InProcessBus)
    chaos: ChaosRules = field(default_factory=ChaosRules)
    agents: dict[str, Agent] = field(default_factory=dict)

    # ---- processes ----

    async def start(self, hosts: tuple[str, ...] = HOSTS) -> None:
        self.ground = assembly.make_ground(self.settings, self.database, self.bus, self.chaos)
        self.companions = await assembly.open_companions(self.ground)
        self.reads = HostReads(self.bus, 5)
        self.conductor = assembly.make_conductor(self.ground, self.companions.networks)
        await self.conductor.start()
        self.journal = Journal(self.state / "agents.sqlite")
        for name in hosts:
            await self.start_host(name)
        await self.ground.cloud.refresh()
        self.restart_api()
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(app=self._serve), base_url=URL)
        self.admin, self.user, self.other = (
            Door(self.http, token, *COMPUTE) for token in (self.kit.admin, self.kit.member, self.kit.other)
        )
        self.placement = Door(self.http, self.kit.admin, *PLACEMENT)
        self.rules = Door(self.http, self.kit.admin, "/chaos")

    def restart_api(self, **changes: Mapping[str, Any]) -> None:
        """The API starts anew with other settings."""
        ground = replace(self.ground, settings=changed(self.settings, changes))
        self._site = assembly.make_site(ground, self.companions, URL)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await self._site(scope, receive, send)

    async def start_host(self, name: str, cell: str = "cell1") -> None:
        place = assembly.HostPlace(name, cell, self.state)
        self.agents[name] = assembly.make_agent(self.bus, self.chaos, self.journal, place, self.settings)
        await self.agents[name].start()

    async def stop_host(self, name: str) -> None:
        """The host's agent ends; the host is not missed until it has been silent for long enough."""
        await self.agents.pop(name).stop()

    async def close(self) -> None:
        self.chaos.clear()
        await self.http.aclose()
        for agent in self.agents.values():
            await agent.stop()
        await self.conductor.drop()
        await self.journal.close()
        await self.bus.close()

    # ---- faults ----

    async def order(self, point: str, when: str, action: str = "hold", **more: Any) -> str:
        """A fault; its id."""
        rule = await self.rules.write("/rules", {"point": point, "when": when, "action": action, **more})
        return str(rule["id"])

    async def lift(self, rule: str) -> None:
        assert (await self.rules.delete(f"/rules/{rule}")).status_code == 204

    async def met(self, rule: str) -> None:
        """Wait until somebody has met the fault."""

        async def fired() -> bool:
            return any(entry["id"] == rule and entry["fired"] for entry in (await self.rules.read("/rules"))["rules"])

        await self.until(fired, f"nobody met the rule {rule}")

    # ---- servers ----

    def wish(self, **more: Any) -> dict[str, Any]:
        """The body's server: the small flavor, the first image, no network."""
        return {"name": "a", "imageRef": self.kit.images[0], "flavorRef": "f1", "networks": "none", **more}

    async def accept(self, by: Door | None = None, hints: Mapping[str, Any] | None = None, **more: Any) -> str:
        """A create that is taken; the id of the (first) server."""
        body = {"server": self.wish(**more), **({"os:scheduler_hints": hints} if hints else {})}
        return str((await (by or self.user).write("/servers", body))["server"]["id"])

    async def create(self, by: Door | None = None, hints: Mapping[str, Any] | None = None, **more: Any) -> str:
        """A server that runs; its id."""
        server_id = await self.accept(by, hints, **more)
        await self.ends(server_id, "ACTIVE")
        return server_id

    async def settled(self, server_id: str) -> dict[str, Any]:
        """Wait until nothing is done to the server. The server as administrators see it."""
        server: dict[str, Any] = {}

        async def still() -> bool:
            server.update((await self.admin.read(f"/servers/{server_id}"))["server"])
            return server["status"] != "BUILD" and server["OS-EXT-STS:task_state"] is None

        await self.until(still, f"{server_id} never ended")
        return server

    async def ends(self, server_id: str, status: str) -> dict[str, Any]:
        """As `settled`; the server must then be in the status."""
        server = await self.settled(server_id)
        assert server["status"] == status, server.get("fault")
        return server

    async def act(self, server_id: str, name: str, content: Any = None, by: Door | None = None) -> None:
        """An action that must be taken."""
        await (by or self.user).write(f"/servers/{server_id}/action", {name: content})

    async def names(self, query: str = "", by: Door | None = None) -> list[str]:
        """The names of a list, in its order."""
        return [server["name"] for server in (await (by or self.user).read(f"/servers{query}"))["servers"]]

    async def delete(self, server_id: str, by: Door | None = None) -> None:
        """Delete a server and wait until it is gone."""
        assert (await (by or self.user).delete(f"/servers/{server_id}")).status_code == 204
        await self.is_gone(server_id)

    async def is_gone(self, server_id: str) -> None:

        async def absent() -> bool:
            return (await self.admin.get(f"/servers/{server_id}")).status_code == 404

        await self.until(absent, f"{server_id} is still there")

    async def host_of(self, server_id: str) -> str:
        """The host of a server, "" without one."""
        return (await self.admin.read(f"/servers/{server_id}"))["server"]["OS-EXT-SRV-ATTR:host"] or ""

    # ---- hosts ----

    async def service(self, host: str) -> dict[str, Any]:
        """The compute service of a host."""
        (found,) = (await self.admin.read(f"/os-services?host={host}&binary=nova-compute"))["services"]
        return dict(found)

    async def host_is(self, host: str, state: str) -> None:
        """Wait until a host counts as up or down, for searches too."""

        async def known() -> bool:
            return (await self.service(host))["state"] == state and self.ground.cloud.is_up(host) == (state == "up")

        await self.until(known, f"{host} never was {state}")

    async def set_service(self, host: str, **change: Any) -> None:
        """Enable, disable or force down a host; every process knows when this returns."""
        await self.admin.write(f"/os-services/{(await self.service(host))['id']}", change, "PUT")

    async def close_hosts(self, *hosts: str) -> None:
        for host in hosts or HOSTS:
            await self.set_service(host, status="disabled")

    async def provider(self, host: str) -> dict[str, Any]:
        """The root provider of a host."""
        (found,) = (await self.placement.read(f"/resource_providers?name={host}"))["resource_providers"]
        return dict(found)

    async def usages(self, host: str) -> dict[str, int]:
        """What is used of a host, by class."""
        uuid = (await self.provider(host))["uuid"]
        return dict((await self.placement.read(f"/resource_providers/{uuid}/usages"))["usages"])

    async def allocations(self, consumer: str) -> dict[str, Any]:
        """What a consumer holds, by uuid of provider."""
        return dict((await self.placement.read(f"/allocations/{consumer}"))["allocations"])

    async def add_trait(self, host: str, trait: str) -> None:
        """Give a host a trait of its operator."""
        await self.placement.write(f"/traits/{trait}", None, "PUT")
        path = f"/resource_providers/{(await self.provider(host))['uuid']}/traits"
        known = await self.placement.read(path)
        body = {"traits": [*known["traits"], trait], "resource_provider_generation": known["resource_provider_generation"]}
        await self.placement.write(path, body, "PUT")

    async def flavor(self, name: str, vcpus: int, ram: int, **specs: str) -> str:
        """A flavor with extra specs, whose `__` stands for a colon; its id."""
        body = {"flavor": {"id": name, "name": name, "vcpus": vcpus, "ram": ram, "disk": 1}}
        await self.admin.write("/flavors", body)
        if specs:
            await self.admin.write(
                f"/flavors/{name}/os-extra_specs",
                {"extra_specs": {key.replace("__", ":"): value for key, value in specs.items()}},
            )
        return name

    async def zone(self, name: str, *hosts: str) -> int:
        """An aggregate that is an availability zone; its number."""
        made = await self.admin.write("/os-aggregates", {"aggregate": {"name": name, "availability_zone": name}})
        number = int(made["aggregate"]["id"])
        for host in hosts:
            await self.admin.write(f"/os-aggregates/{number}/action", {"add_host": {"host": host}})
        return number

    # ---- the end ----

    async def until(self, holds: Callable[[], Awaitable[bool]], otherwise: str) -> None:
        """Ask again and again, but not for ever."""
        deadline = asyncio.get_running_loop().time() + BOUND
        while not await holds():
            assert asyncio.get_running_loop().time() < deadline, otherwise
            await asyncio.sleep(0.01)

    async def is_clean(self) -> None:
        """The four invariants of every case: allocations, owners, states and quotas agree, and nothing is under way."""
        self.chaos.clear()
        found: list[Any] = []
        for _ in range(200):
            await dead_cards(self.database, self.companions.networks).work()
            async with self.database.read() as transaction:
                found = [*await operations.live(transaction), *map(tuple, await transaction.rows(_UNFINISHED))]
            found = found or list(await audit(self.database, self.reads))
            if not found:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"the cloud is not clean: {found}")


async def prepare(database: Database, state: Path) -> Kit:
    """Make in an empty database, over HTTP, what every test wants; `state` gets keys and images."""
    settings = replace(SETTINGS, state=StateSettings(str(state)))
    cloud = Cloud(database, state, settings, Kit("", "", "", "", "", "", ("", "")))
    await cloud.start(hosts=())
    admin = await _log_in(cloud, "admin", settings.identity.admin_password, "admin")
    identity = Door(cloud.http, admin, "/identity/v3")
    project = (await identity.write("/projects", {"project": {"name": "P"}}))["project"]["id"]
    roles = {role["name"]: role["id"] for role in (await identity.read("/roles"))["roles"]}
    users = []
    for name in ("member", "other"):
        users.append((await identity.write("/users", {"user": {"name": name, "password": "secret"}}))["user"]["id"])
        await identity.write(f"/projects/{project}/users/{users[-1]}/roles/{roles['member']}", None, "PUT")
    tokens = [await _log_in(cloud, name, "secret", "P") for name in ("member", "other")]
    compute = Door(cloud.http, admin, *COMPUTE)
    for name, vcpus, ram, disk in (("f1", 1, 512, 1), ("f2", 2, 1024, 2)):
        await compute.write("/flavors", {"flavor": {"id": name, "name": name, "vcpus": vcpus, "ram": ram, "disk": disk}})
    images = (await _image(cloud, admin, "img1"), await _image(cloud, admin, "img2"))
    await cloud.close()
    return Kit(admin, *tokens, project, *users, images)


async def _log_in(cloud: Cloud, name: str, password: str, project: str) -> str:
    domain = {"id": "default"}
    body = {
        "auth": {
            "identity": {
                "methods": ["password"],
                "password": {"user": {"name": name, "domain": domain, "password": password}},
            },
            "scope": {"project": {"name": project, "domain": domain}},
        }
    }
    answer = await cloud.http.post("/identity/v3/auth/tokens", json=body)
    assert answer.status_code == 201, answer.text
    return answer.headers["x-subject-token"]


async def _image(cloud: Cloud, token: str, name: str) -> str:
    door = Door(cloud.http, token, "/image/v2")
    body = {"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    image_id: str = (await door.write("/images", body))["id"]
    headers = {"x-auth-token": token, "content-type": "application/octet-stream"}
    answer = await cloud.http.put(f"/image/v2/images/{image_id}/file", content=b"0" * 1000, headers=headers)
    assert answer.status_code == 204, answer.text
    return image_id
