"""Two APIs, two conductors and three agents as processes on PostgreSQL and NATS; conductors are frozen and killed."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kilonova.agent.dispatch import CHAOS_POINTS
from kilonova.operations.table import POINTS, TABLE

from .cluster import SHORT_LEASES, Cluster, empty_database
from .matrix import Crash, matrix, survive

pytestmark = pytest.mark.asyncio(loop_scope="module")
BOUND = 30.0
CRASH_AT = {
    "create": ("create.build", "before"),
    "delete": ("delete.release", "after"),
    "start": ("start.start", "after"),
    "stop": ("stop.stop", "before"),
    "reboot": ("reboot.reboot", "after"),
}
"""Where a conductor dies under each operation; the whole matrix is in the soak."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(postgresql_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    url = await empty_database(postgresql_server)
    made = Cluster(tmp_path_factory.mktemp("cluster"), url, settings=SHORT_LEASES)
    try:
        await made.start()
        await made.client.furnish()
        yield made
    finally:
        await made.close()


async def _is_clean(cluster: Cluster) -> None:
    assert await cluster.client.drift() == []


async def test_servers_asked_for_at_two_apis_become_active(cluster: Cluster) -> None:
    made = await asyncio.gather(*(cluster.client.create(f"s{number}") for number in range(20)))
    servers = await cluster.client.settled(BOUND)
    assert {servers[server]["status"] for server in made} == {"ACTIVE"}
    assert {servers[server]["OS-EXT-SRV-ATTR:host"] for server in made} == {"host-1", "host-2", "host-3"}
    await _is_clean(cluster)


async def test_a_conductor_frozen_past_its_lease_does_no_harm_when_it_wakes(cluster: Cluster) -> None:
    client = cluster.client
    frozen, other = cluster.of_kind("conductor")
    rule = await client.order("create.build", "before", "hold")
    other.freeze()
    made = await asyncio.gather(*(client.create() for _ in range(8)))
    await client.met(rule, 8)
    frozen.freeze()
    other.wake()
    # The other one meets the fault as well, once the leases have run out.
    await client.met(rule, 16)
    await client.lift(rule)
    servers = await client.settled(BOUND)
    frozen.wake()
    assert {servers[server]["status"] for server in made} == {"ACTIVE"}
    # It works on, alone: the other one is frozen now.
    other.freeze()
    made.append(await client.create())
    servers = await client.settled(BOUND)
    other.wake()
    assert {servers[server]["status"] for server in made} == {"ACTIVE"}
    assert [await client.actions(server) for server in made] == [[("create", None)]] * 9
    await _is_clean(cluster)


@pytest.mark.parametrize("kind", list(TABLE))
async def test_an_operation_survives_the_death_of_its_conductor(cluster: Cluster, kind: str) -> None:
    await survive(cluster, Crash(kind, *CRASH_AT[kind]))


async def test_an_operation_survives_the_death_of_its_host_s_agent(cluster: Cluster) -> None:
    await survive(cluster, Crash("create", "agent.build", "after"))


async def test_the_matrix_of_the_soak_has_every_step_and_command_on_both_sides() -> None:
    places = {(crash.point, crash.when) for crash in matrix()}
    assert places == {(point, when) for point in (*POINTS, *CHAOS_POINTS) for when in ("before", "after")}
