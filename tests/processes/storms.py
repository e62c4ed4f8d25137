"""Processes killed amid a crowd of creates, round after round, and what must be true after each round."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .client import Client, judge
from .cluster import Cluster, UpCloud
from .programs import until

STORM: Final = 120.0
"""Seconds that the creates of a round may take."""
BOUND: Final = 30.0
"""Seconds after which every server must have come to an end."""


@dataclass(frozen=True)
class Round:
    """What one round did and found. `seconds` is how long the last server took after everything ran again."""

    killed: tuple[str, ...]
    accepted: int
    found: int
    active: int
    error: int
    seconds: float

    def row(self) -> str:
        return (
            f"{self.accepted:9d} {self.found:6d} {self.active:7d} {self.error:6d} {self.seconds:8.2f}  {', '.join(self.killed)}"
        )


TITLE: Final = " accepted  found  ACTIVE  ERROR  seconds  killed"


async def storm_up(cloud: UpCloud, count: int, choose: random.Random) -> Round:
    """Kill `up` at a random moment of `count` concurrent creates and start it again. Fails where a promise is broken."""
    client = await cloud.start()
    accepted: list[str] = []
    fatal = choose.randrange(count // 10, count * 9 // 10)

    def count_in(server_id: str) -> None:
        accepted.append(server_id)
        if len(accepted) == fatal:
            cloud.kill()

    try:
        await client.furnish()
        before = len(await client.servers())
        await client.create_many(count, count_in)
    finally:
        cloud.kill()
        await client.close()
    client = await cloud.start()
    try:
        begun = time.monotonic()
        servers = await client.settled(BOUND)
        took = time.monotonic() - begun
        states = judge(servers, accepted)
        code, said = await cloud.audit()
        assert code == 0, said
    finally:
        cloud.kill()
        await client.close()
    return Round((f"up at {fatal}",), len(accepted), len(servers) - before, states["ACTIVE"], states["ERROR"], took)


async def storm_cluster(cluster: Cluster, count: int, kinds: Sequence[str], choose: random.Random) -> Round:
    """Kill one process of each of `kinds`, in random order, amid `count` creates. Fails where a promise is broken."""
    client = cluster.client
    before = len(await client.servers())
    accepted: list[str] = []
    storm = asyncio.create_task(client.create_many(count, accepted.append, STORM / 2))
    try:
        killed = await _kill_amid(cluster, kinds, choose, _Storm(storm, accepted, count))
        await storm
    finally:
        storm.cancel()
        await asyncio.gather(storm, return_exceptions=True)
    await cluster.ready({name for name, _, _ in (entry.partition(" ") for entry in killed)})
    begun = time.monotonic()
    servers = await client.settled(BOUND)
    took = time.monotonic() - begun
    states = judge(servers, accepted)
    drift = await drift_within(client, BOUND)
    assert not drift, drift
    assert all(program.is_running for program in cluster.programs.values())
    return Round(tuple(killed), len(accepted), len(servers) - before, states["ACTIVE"], states["ERROR"], took)


@dataclass(frozen=True)
class _Storm:
    """Creates under way: how many are accepted by now, of how many."""

    task: "asyncio.Task[None]"
    accepted: Sequence[str]
    count: int

    async def reach(self, moment: int) -> None:
        """Wait until so many are accepted, or no more will come."""
        await until(lambda: len(self.accepted) >= moment or self.task.done(), STORM, "the creates do not come on")


async def _kill_amid(cluster: Cluster, kinds: Sequence[str], choose: random.Random, storm: _Storm) -> list[str]:
    killed = []
    moments = sorted(choose.sample(range(1, storm.count), len(kinds)))
    for moment, kind in zip(moments, choose.sample(list(kinds), len(kinds)), strict=True):
        await storm.reach(moment)
        killed.append(f"{await cluster.kill_one(kind, choose)} at {len(storm.accepted)}")
    return killed


async def drift_within(client: Client, seconds: float) -> list[dict[str, Any]]:
    """What the audit still finds after a while: chores that clean up after late calls have a timer."""
    deadline = time.monotonic() + seconds
    while True:
        drift = await client.drift()
        if not drift or time.monotonic() > deadline:
            return drift
        await asyncio.sleep(1.0)
