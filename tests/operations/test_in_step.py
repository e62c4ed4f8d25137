"""The scenarios cover every operation and every step, and pass exactly the points that they say."""

import pytest

from kilonova.agent.dispatch import COMMANDS
from kilonova.operations.table import TABLE

from .cloud import Cloud
from .scenarios import SCENARIOS, Scenario, named


def test_every_operation_has_a_scenario_for_every_step() -> None:
    covered: dict[str, set[str]] = {}
    for scenario in SCENARIOS:
        covered.setdefault(scenario.operation, set()).update(step for step, _ in scenario.points())
    assert covered == {name: set(definition.steps) for name, definition in TABLE.items()}


def test_every_command_to_a_host_is_in_a_scenario() -> None:
    assert {command for scenario in SCENARIOS for command in scenario.commands} == set(COMMANDS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
async def test_a_scenario_passes_the_points_that_it_says(cloud: Cloud, scenario: Scenario) -> None:
    server = await scenario.begin(cloud)
    rules = {
        (step, when): cloud.order(f"{scenario.operation}.{step}", when, "delay")
        for step in TABLE[scenario.operation].steps
        for when in ("before", "after")
    }
    server = await scenario.ask(cloud, server)
    await cloud.ended(server)
    await cloud.idle()
    assert {point for point, rule in rules.items() if cloud.fired(rule)} == set(scenario.points())
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()
