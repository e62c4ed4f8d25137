"""A delete is accepted at every moment, wins over whatever runs, and leaves nothing behind."""

import pytest

from .cloud import Cloud
from .scenarios import CREATE, SCENARIOS, STOP, Scenario, deleted, named, passed

CREATES = tuple(scenario for scenario in SCENARIOS if scenario.operation == "create")


async def _delete_meanwhile(cloud: Cloud, server: str, rule: str) -> None:
    """Delete a server while what runs on it is held; then let that go on."""
    await cloud.met(rule)
    await cloud.act("delete", server)
    await cloud.ended(server)
    cloud.lift(rule)
    await cloud.idle()
    await _is_gone(cloud, server)


async def _is_gone(cloud: Cloud, server: str) -> None:
    await cloud.is_clean()
    deleted(await cloud.facts(server))
    assert await cloud.quota() == (0, 0, 0)


@pytest.mark.parametrize(("scenario", "step", "when"), passed((*CREATES, STOP)), ids=named)
async def test_a_delete_wins_over_an_operation_at_any_point(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    server = await scenario.begin(cloud)
    rule = cloud.order(f"{scenario.operation}.{step}", when, times=1)
    server = await scenario.ask(cloud, server)
    await _delete_meanwhile(cloud, server, rule)


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("scenario", "step", "when"), passed((CREATE,)), ids=named)
async def test_the_same_on_postgresql(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    rule = cloud.order(f"{scenario.operation}.{step}", when, times=1)
    server = await scenario.ask(cloud, "")
    await _delete_meanwhile(cloud, server, rule)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_no_server_comes_back_to_life_when_its_build_was_held_on_the_host(cloud: Cloud, when: str) -> None:
    rule = cloud.order("agent.build", when, times=1)
    server = await CREATE.ask(cloud, "")
    await _delete_meanwhile(cloud, server, rule)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_delete_reaches_a_host_whose_agent_was_away(cloud: Cloud, when: str) -> None:
    rule = cloud.order("agent.build", when, times=1)
    server = await CREATE.ask(cloud, "")
    await cloud.met(rule)
    host = (await cloud.facts(server)).server.host
    assert host is not None
    await cloud.hosts[host].crash()
    cloud.lift(rule)
    await cloud.act("delete", server)
    await cloud.hosts[host].start()
    await cloud.ended(server)
    await _is_gone(cloud, server)


@pytest.mark.parametrize(("step", "when"), list(CREATE.points()))
async def test_a_conductor_may_crash_under_the_create_that_is_deleted(cloud: Cloud, step: str, when: str) -> None:
    rule = cloud.order(f"create.{step}", when)
    server = await CREATE.ask(cloud, "")
    await cloud.met(rule)
    await cloud.crash_conductor()
    cloud.lift(rule)
    await cloud.act("delete", server)
    await cloud.start_conductor()
    await cloud.ended(server)
    await _is_gone(cloud, server)


async def test_a_second_delete_is_no_second_operation(cloud: Cloud) -> None:
    server = await CREATE.ask(cloud, "")
    await cloud.ended(server)
    rule = cloud.order("delete.destroy", "before")
    await cloud.act("delete", server)
    await cloud.met(rule)
    await cloud.act("delete", server)
    cloud.lift(rule)
    await cloud.ended(server)
    await _is_gone(cloud, server)
    assert [kind for kind, _, _ in (await cloud.facts(server)).actions] == ["create", "delete"]
