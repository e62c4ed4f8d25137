"""A host's agent may end at any point of any command: the next one goes on from the journal, and nothing is doubled."""

import pytest

from .cloud import Cloud, turns
from .scenarios import CREATE, SCENARIOS, Scenario, named

COMMANDED = [(scenario, command) for scenario in SCENARIOS for command in scenario.commands]


async def _held_at(cloud: Cloud, scenario: Scenario, command: str, when: str) -> tuple[str, str]:
    """Begin the scenario and wait until a host is held at the point; server and host."""
    server = await scenario.begin(cloud)
    rules = {host: cloud.order(f"agent.{command}", when, host=host) for host in cloud.hosts}
    server = await scenario.ask(cloud, server)
    async for _ in turns("no host was asked"):
        met = [host for host, rule in rules.items() if cloud.fired(rule)]
        if met:
            break
    return server, met[0]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("scenario", "command"), COMMANDED, ids=named)
async def test_a_command_whose_agent_crashed_is_done_by_the_next(
    cloud: Cloud, scenario: Scenario, command: str, when: str
) -> None:
    server, host = await _held_at(cloud, scenario, command, when)
    await cloud.hosts[host].crash()
    for rule in cloud.chaos.list():
        if rule.action == "hold":
            cloud.lift(rule.id)
    await cloud.hosts[host].start()
    await cloud.ended(server)
    # A reboot whose report was lost is done once more: from outside nobody can tell whether it had happened.
    if command != "reboot":
        scenario.check(await cloud.facts(server))
    assert (await cloud.facts(server)).server.task_state is None
    await cloud.is_clean()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_agent_that_lost_its_journal_is_asked_again(cloud: Cloud, when: str) -> None:
    server, host = await _held_at(cloud, CREATE, "build", when)
    await cloud.hosts[host].lose_journal()
    cloud.chaos.clear()
    await cloud.hosts[host].start()
    await cloud.ended(server)
    CREATE.check(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_agent_and_conductor_may_crash_together(cloud: Cloud, when: str) -> None:
    server, host = await _held_at(cloud, CREATE, "build", when)
    await cloud.hosts[host].crash()
    await cloud.crash_conductor()
    cloud.chaos.clear()
    await cloud.start_conductor()
    await cloud.hosts[host].start()
    await cloud.ended(server)
    CREATE.check(await cloud.facts(server))
    await cloud.is_clean()
