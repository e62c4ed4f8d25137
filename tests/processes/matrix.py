"""A real kill -9 at one point of one operation: whoever stands there dies, is started again, and the operation still ends."""

from dataclasses import dataclass
from typing import Final

from kilonova.agent.dispatch import CHAOS_POINTS
from kilonova.operations.table import TABLE

from .cluster import Cluster
from .programs import until
from .storms import drift_within

BOUND: Final = 30.0
ENDS: Final = {"create": "ACTIVE", "delete": None, "start": "ACTIVE", "stop": "SHUTOFF", "reboot": "ACTIVE"}
"""The status in which an operation leaves its server; None for gone."""
# These two are reached only when builds fail: the first one, or all of them.
FAILING_BUILDS: Final = {"create.destroy": {"times": 1}, "create.release": {}}


@dataclass(frozen=True)
class Crash:
    """One place in the matrix: the operation that is asked for, the point that is deadly, and on which side of its effect."""

    kind: str
    point: str
    when: str

    @property
    def end(self) -> str | None:
        """The status that the server must have in the end."""
        return "ERROR" if self.point == "create.release" else ENDS[self.kind]


def matrix() -> list[Crash]:
    """Every step of every operation and every command of a host, before and after its effect."""
    steps = [(definition.kind.name, point) for definition in TABLE.values() for point in definition.points]
    kinds = {"agent.build": "create", "agent.destroy": "delete"}
    commands = [(kinds.get(point, point.removeprefix("agent.")), point) for point in CHAOS_POINTS]
    return [Crash(kind, point, when) for kind, point in steps + commands for when in ("before", "after")]


async def survive(cluster: Cluster, crash: Crash) -> None:
    """Ask for the operation, have its process die there once, and wait for the right end. Fails where a promise is broken."""
    client = cluster.client
    server = "" if crash.kind == "create" else await _standing(cluster, crash.kind)
    rules = [await client.order(crash.point, crash.when, "crash", times=1)]
    if crash.point in FAILING_BUILDS:
        rules.append(await client.order("agent.build", "before", "fail", **FAILING_BUILDS[crash.point]))
    if crash.kind == "create":
        server = await client.create()
    else:
        await client.act(server, crash.kind)
    programs = list(cluster.programs.values())
    await until(lambda: not all(program.is_running for program in programs), BOUND, f"nobody died at {crash.point}")
    for program in programs:
        if not program.is_running:
            program.start()
            await program.ready()
    servers = await client.settled(BOUND)
    assert (servers[server]["status"] if server in servers else None) == crash.end
    for rule in rules:
        await client.lift(rule)
    drift = await drift_within(client, BOUND)
    assert not drift, drift


async def _standing(cluster: Cluster, kind: str) -> str:
    """A server to which an operation of this kind may be done."""
    server = await cluster.client.create()
    await cluster.client.settled(BOUND)
    if kind == "start":
        await cluster.client.act(server, "stop")
        await cluster.client.settled(BOUND)
    return server
