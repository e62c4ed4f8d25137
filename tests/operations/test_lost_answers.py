"""A transaction may be committed and its answer lost: whoever asked cannot know, asks again, and nothing is done twice."""

from collections.abc import Awaitable, Callable

import pytest

from .cloud import Cloud
from .databases import LossyDatabase
from .scenarios import SCENARIOS, Scenario, named, runs_with

BARE = next(scenario for scenario in SCENARIOS if scenario.name == "without networks")


async def _lossy_conductor(cloud: Cloud) -> LossyDatabase:
    await cloud.crash_conductor()
    lossy = LossyDatabase(cloud.database)
    await cloud.start_conductor(lossy)
    return lossy


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
async def test_an_operation_ends_as_ever_when_answers_are_lost(cloud: Cloud, scenario: Scenario) -> None:
    server = await scenario.begin(cloud)
    lossy = await _lossy_conductor(cloud)
    server = await scenario.ask(cloud, server)
    await cloud.ended(server)
    await cloud.idle()
    assert {name.split(".")[0] for name in lossy.lost} >= {"Engine", "Ender"}
    scenario.check(await cloud.facts(server))
    await cloud.is_clean()


@pytest.mark.parametrize("host_count", [1, 3])
async def test_a_crash_after_a_lost_claim_finds_one_place_on_record(
    new_cloud: Callable[..., Awaitable[Cloud]], host_count: int
) -> None:
    cloud = await new_cloud(host_count=host_count)
    await _lossy_conductor(cloud)
    rule = cloud.order("create.build", "before")
    server = await BARE.ask(cloud, "")
    await cloud.met(rule)
    await cloud.crash_conductor()
    cloud.lift(rule)
    await cloud.start_conductor()
    await cloud.ended(server)
    runs_with(0)(await cloud.facts(server))
    await cloud.is_clean()
