"""A step may fail at any point: the operation ends all the same, with a reason, and nothing is left half done."""

import pytest

from .cloud import Cloud
from .scenarios import SCENARIOS, Scenario, named, passed


@pytest.mark.parametrize(("scenario", "step", "when"), passed(SCENARIOS), ids=named)
async def test_an_operation_ends_whichever_step_fails(cloud: Cloud, scenario: Scenario, step: str, when: str) -> None:
    server = await scenario.begin(cloud)
    rule = cloud.order(f"{scenario.operation}.{step}", when, "fail", times=1)
    server = await scenario.ask(cloud, server)
    await cloud.met(rule)
    await cloud.ended(server)
    await cloud.idle()
    facts = await cloud.facts(server)
    assert facts.server.task_state is None
    assert facts.server.vm_state != "building"
    if facts.server.vm_state == "error":
        assert facts.server.fault is not None
        assert facts.server.fault["message"]
    await cloud.is_clean()
    if not facts.server.deleted:
        await cloud.act("delete", server)
        await cloud.ended(server)
        assert await cloud.quota() == (0, 0, 0)
        await cloud.is_clean()
