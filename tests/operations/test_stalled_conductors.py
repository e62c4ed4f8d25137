"""A conductor that stops past its lease and wakes up late does no harm: its writes fail, what it does outside changes nothing."""

import asyncio

import pytest

from .cloud import Cloud, turns
from .databases import StallingDatabase
from .scenarios import CREATE, DELETE, MAIN, SCENARIOS, Scenario, deleted, named, passed

REFUSED = next(scenario for scenario in SCENARIOS if scenario.name == "refused by every host")


async def _stall_at(cloud: Cloud, scenario: Scenario, step: str, when: str) -> str:
    """Stall a conductor at the point, let another end the operation, wake the first. The server."""
    server = await scenario.begin(cloud)
    await cloud.crash_conductor()
    slow = StallingDatabase(cloud.database)
    await cloud.start_conductor(slow)
    rule = cloud.order(f"{scenario.operation}.{step}", when, times=1)
    server = await scenario.ask(cloud, server)
    await cloud.met(rule)
    slow.gate.clear()
    await cloud.start_conductor()
    await cloud.ended(server)
    cloud.lift(rule)
    slow.gate.set()
    await cloud.idle()
    return server


@pytest.mark.parametrize(("scenario", "step", "when"), passed(MAIN), ids=named)
async def test_a_conductor_that_wakes_after_its_lease_changes_nothing(
    cloud: Cloud, scenario: Scenario, step: str, when: str
) -> None:
    server = await _stall_at(cloud, scenario, step, when)
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize(("step", "when"), list(REFUSED.points()))
async def test_what_a_late_conductor_bound_for_a_failed_server_goes_with_it(cloud: Cloud, step: str, when: str) -> None:
    server = await _stall_at(cloud, REFUSED, step, when)
    assert (await cloud.facts(server)).state == ("error", None)
    await cloud.act("delete", server)
    await cloud.ended(server)
    deleted(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("scenario", "step", "when"), passed((CREATE,)), ids=named)
async def test_the_same_on_postgresql(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    server = await _stall_at(cloud, scenario, step, when)
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize(("scenario", "step"), [(CREATE, "network"), (CREATE, "build"), (DELETE, "destroy"), (DELETE, "release")])
async def test_a_conductor_that_wakes_alone_takes_its_own_operations_anew(cloud: Cloud, scenario: Scenario, step: str) -> None:
    server = await scenario.begin(cloud)
    await cloud.crash_conductor()
    slow = StallingDatabase(cloud.database)
    await cloud.start_conductor(slow)
    rule = cloud.order(f"{scenario.operation}.{step}", "after", times=1)
    server = await scenario.ask(cloud, server)
    await cloud.met(rule)
    slow.gate.clear()
    await cloud.leases_end()
    slow.gate.set()
    await cloud.ended(server)
    await cloud.idle()
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()


async def test_a_conductor_that_takes_its_own_operation_anew_ends_the_run_from_before(cloud: Cloud) -> None:
    await cloud.crash_conductor()
    slow = StallingDatabase(cloud.database)
    await cloud.start_conductor(slow)
    rule = cloud.order("agent.build", "before", times=1)
    server = await CREATE.ask(cloud, "")
    await cloud.met(rule)
    slow.gate.clear()
    await cloud.leases_end()
    slow.gate.set()
    await cloud.taken(server, 2)
    cloud.lift(rule)
    await cloud.ended(server)
    async for _ in turns("an operation that has ended is still being run"):
        if not _runs():
            break
    CREATE.check(await cloud.facts(server))


def _runs() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("operation:")]


async def test_an_operation_that_broke_is_taken_anew_though_its_conductor_is_busy(cloud: Cloud) -> None:
    server = await DELETE.begin(cloud)
    busy = cloud.order("create.build", "before")
    await cloud.create()
    await cloud.met(busy)
    cloud.order("delete.release", "before", "fail", times=1)
    await cloud.act("delete", server)
    await cloud.ended(server)
    deleted(await cloud.facts(server))
