"""A conductor may end at any point of any operation: whoever takes it over brings it to the same end, and nothing is doubled."""

import pytest

from .cloud import Cloud
from .scenarios import MAIN, SCENARIOS, Scenario, named, passed


async def _crash_at(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    server = await scenario.begin(cloud)
    rule = cloud.order(f"{scenario.operation}.{step}", when)
    server = await scenario.ask(cloud, server)
    await cloud.met(rule)
    await cloud.crash_conductor()
    cloud.lift(rule)
    await cloud.start_conductor()
    await cloud.ended(server)
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize(("scenario", "step", "when"), passed(SCENARIOS), ids=named)
async def test_an_operation_whose_conductor_crashed_is_finished_by_the_next(
    cloud: Cloud, scenario: Scenario, step: str, when: str
) -> None:
    await _crash_at(cloud, scenario, step, when)


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("scenario", "step", "when"), passed(MAIN), ids=named)
async def test_the_same_on_postgresql(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    await _crash_at(cloud, scenario, step, when)


async def test_a_conductor_that_stops_in_good_order_lets_others_go_on_at_once(cloud: Cloud) -> None:
    rule = cloud.order("create.build", "before", times=1)
    server = await cloud.create()
    await cloud.met(rule)
    await cloud.start_conductor()
    await cloud.conductors.pop(0).stop()
    await cloud.ended(server)
    assert (await cloud.facts(server)).state == ("active", None)
    await cloud.is_clean()
