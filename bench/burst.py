"""The measured work: a burst of creates until all servers run, lists, single reads, and the deletion of all."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from http_client import Connection, Reply

POLL_SECONDS = 0.1
SETTLE_SECONDS = 300.0
LIST_REPEATS = 20
SHOW_REPEATS = 300
SERVERS = "/compute/v2.1/servers"
IMAGE = "/image/v2/images"

ReadCpu = Callable[[], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked for: `servers` of them, by `concurrency` clients at once."""

    servers: int
    concurrency: int


@dataclass(slots=True)
class Figures:
    """What was measured, by name, in the units that the name says; `shares` has the CPU per server by process."""

    values: dict[str, float] = field(default_factory=dict)
    shares: dict[str, Mapping[str, float]] = field(default_factory=dict)


class Unsettled(RuntimeError):
    """The servers did not all reach the state that they were to reach."""


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


class Burst:
    """One measurement of one cloud."""

    def __init__(self, url: str, load: Load, cpu: ReadCpu) -> None:
        self.figures = Figures()
        self._url = url
        self._load = load
        self._cpu = cpu
        self._headers: dict[str, str] = {}
        self._connections: list[Connection] = []

    async def run(self, phases: Sequence[str]) -> Figures:
        """Create always; then those of `list`, `show` and `delete` that are asked for. Raises Unsettled."""
        self._connections = [await Connection.open(self._url) for _ in range(self._load.concurrency)]
        try:
            await self._log_in()
            # A cloud that has done something once has its statements prepared, as a cloud in use has.
            await self._create_all("warm", await self._server_body(), self._load.concurrency, {})
            identifiers = await self._measure_create()
            if "list" in phases:
                await self._measure_list()
            if "show" in phases:
                await self._measure_show(identifiers)
            if "delete" in phases:
                await self._measure_delete()
        finally:
            for connection in self._connections:
                await connection.close()
        return self.figures

    async def _ask(self, method: str, target: str, body: Any = None) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()
        return expect_success(await self._connections[0].ask(method, target, self._headers, content), method, target)

    async def _log_in(self) -> None:
        user = {"name": "admin", "password": "kilonova", "domain": {"id": "default"}}
        identity = {"methods": ["password"], "password": {"user": user}}
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        reply = await self._ask("POST", "/identity/v3/auth/tokens", {"auth": {"identity": identity, "scope": scope}})
        self._headers = {"X-Auth-Token": reply.headers["x-subject-token"], "OpenStack-API-Version": "compute 2.100"}

    async def _server_body(self) -> dict[str, Any]:
        flavor = {"name": f"bench-{time.time_ns()}", "vcpus": 1, "ram": 512, "disk": 1}
        flavor_id = (await self._ask("POST", "/compute/v2.1/flavors", {"flavor": flavor})).json()["flavor"]["id"]
        image = {"name": "bench", "disk_format": "raw", "container_format": "bare"}
        image_id = (await self._ask("POST", IMAGE, image)).json()["id"]
        headers = {**self._headers, "Content-Type": "application/octet-stream"}
        target = f"{IMAGE}/{image_id}/file"
        expect_success(await self._connections[0].ask("PUT", target, headers, b"\0" * 512), "PUT", target)
        self._body = {"imageRef": image_id, "flavorRef": flavor_id, "networks": "none"}
        return self._body

    async def _spread(self, count: int, work: Callable[[Connection, int], Any]) -> None:
        """Do `work` `count` times, each connection taking the next number when it is free."""
        numbers = iter(range(count))

        async def client(connection: Connection) -> None:
            for number in numbers:
                await work(connection, number)

        async with asyncio.TaskGroup() as group:
            for connection in self._connections:
                group.create_task(client(connection))

    async def _create_all(self, prefix: str, body: Mapping[str, Any], count: int, seconds: dict[str, float]) -> float:
        """Create `count` servers; fills `seconds` with the time of each POST by server id. When all run, the time."""

        async def create(connection: Connection, number: int) -> None:
            content = json.dumps({"server": {"name": f"{prefix}-{number}", **body}}).encode()
            reply = expect_success(await connection.ask("POST", SERVERS, self._headers, content), "POST", SERVERS)
            seconds[reply.json()["server"]["id"]] = reply.seconds

        await self._spread(count, create)
        await self._wait_for_none(f"{SERVERS}?status=BUILD&limit=1")
        return time.perf_counter()

    async def _wait_for_none(self, target: str) -> None:
        """Wait until a list is empty; few questions, each of one row, so that asking costs next to nothing."""
        begun = time.monotonic()
        while time.monotonic() - begun < SETTLE_SECONDS:
            if not (await self._ask("GET", target)).json()["servers"]:
                return
            await asyncio.sleep(POLL_SECONDS)
        raise Unsettled(f"{target} is not empty after {SETTLE_SECONDS:.0f} s")

    async def _measure_create(self) -> list[str]:
        seconds: dict[str, float] = {}
        before, begun = self._cpu(), time.perf_counter()
        ended = await self._create_all("bench", self._body, self._load.servers, seconds)
        self._share("create", before, self._load.servers)
        broken = (await self._ask("GET", f"{SERVERS}?status=ERROR")).json()["servers"]
        if broken:
            raise Unsettled(f"{len(broken)} servers are in ERROR, the first is {broken[0]['id']}")
        self.figures.values |= {
            "servers a second, create to ACTIVE": self._load.servers / (ended - begun),
            "POST /servers p50, ms": percentile(list(seconds.values()), 0.5) * 1e3,
            "POST /servers p99, ms": percentile(list(seconds.values()), 0.99) * 1e3,
        }
        return list(seconds)

    async def _measure_list(self) -> None:
        target = f"{SERVERS}/detail?limit=1000"
        rows = len((await self._ask("GET", target)).json()["servers"])
        before = self._cpu()
        replies = [await self._ask("GET", target) for _ in range(LIST_REPEATS)]
        self._share("list", before, LIST_REPEATS)
        self.figures.values["rows of a list"] = rows
        self.figures.values["list p50, ms"] = percentile([reply.seconds for reply in replies], 0.5) * 1e3

    async def _measure_show(self, identifiers: Sequence[str]) -> None:
        before = self._cpu()
        targets = [f"{SERVERS}/{identifiers[number % len(identifiers)]}" for number in range(SHOW_REPEATS)]
        replies = [await self._ask("GET", target) for target in targets]
        self._share("show", before, SHOW_REPEATS)
        self.figures.values["GET /servers/{id} p50, ms"] = percentile([reply.seconds for reply in replies], 0.5) * 1e3

    async def _measure_delete(self) -> None:
        identifiers: list[str] = []
        marker = ""
        while page := (await self._ask("GET", f"{SERVERS}?limit=1000{marker}")).json()["servers"]:
            identifiers += [server["id"] for server in page]
            marker = f"&marker={identifiers[-1]}"

        async def delete(connection: Connection, number: int) -> None:
            target = f"{SERVERS}/{identifiers[number]}"
            expect_success(await connection.ask("DELETE", target, self._headers), "DELETE", target)

        before, begun = self._cpu(), time.perf_counter()
        await self._spread(len(identifiers), delete)
        await self._wait_for_none(f"{SERVERS}?limit=1")
        self.figures.values["deletes a second"] = len(identifiers) / (time.perf_counter() - begun)
        self._share("delete", before, len(identifiers))

    def _share(self, phase: str, before: Mapping[str, float], count: int) -> None:
        """Record the CPU of a phase, divided by how often its work was done."""
        share = {name: (cpu - before.get(name, 0.0)) / count * 1e3 for name, cpu in self._cpu().items()}
        self.figures.shares[phase] = share
        self.figures.values[f"CPU per {phase}, ms"] = sum(share.values())


def expect_success(reply: Reply, method: str, target: str) -> Reply:
    """The reply itself. Raises RuntimeError for any status that is not a success."""
    if reply.status >= 300:
        raise RuntimeError(f"{method} {target} answered {reply.status}: {reply.body[:300]!r}")
    return reply
