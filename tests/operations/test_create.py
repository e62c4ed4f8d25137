"""Birth and burial: what a server is, holds and says when its build fails, no host fits or the network has nothing left."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from .cloud import HOLDS, HUGE, SETTINGS, Cloud
from .scenarios import CREATE, buried, holds_nothing, runs_with

NewCloud = Callable[..., Awaitable[Cloud]]


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
async def test_a_server_that_its_first_host_refuses_runs_on_another(cloud: Cloud) -> None:
    rule = cloud.order("agent.build", "before", "fail", times=1)
    server = await cloud.create(network=cloud.ground.roomy_network)
    await cloud.ended(server)
    assert cloud.fired(rule) == 1
    facts = await cloud.facts(server)
    runs_with(1)(facts)
    claimed = [key for key, _ in facts.events if key.startswith("claim")]
    assert claimed == ["claim[0]", "claim[1]"]
    await cloud.is_clean()


@pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)
async def test_a_server_that_fits_nowhere_has_one_action_and_one_event_in_error(cloud: Cloud) -> None:
    server = await cloud.create(flavor=HUGE)
    await cloud.ended(server)
    facts = await cloud.facts(server)
    buried(facts)
    assert [key for key, _ in facts.events] == ["claim[0]"]
    assert '"error":"No valid host was found.' in str(facts.events[0][1])


async def test_deleting_a_buried_server_gives_its_quota_back_once(cloud: Cloud) -> None:
    before = await cloud.quota()
    server = await cloud.create(flavor=HUGE)
    await cloud.ended(server)
    assert await cloud.quota() == (before[0] + 1, before[1] + HUGE.vcpus, before[2] + HUGE.memory_mb)
    await cloud.act("delete", server)
    await cloud.ended(server)
    assert await cloud.quota() == before
    await cloud.is_clean()


@pytest.mark.parametrize("crashing", [False, True])
async def test_a_server_that_finds_no_second_host_says_what_was_tried(new_cloud: NewCloud, crashing: bool) -> None:
    one_host = await new_cloud(host_count=1)
    one_host.order("agent.build", "before", "fail")
    rule = one_host.order("create.release", "after")
    server = await one_host.create(network=one_host.ground.roomy_network)
    await one_host.met(rule)
    if crashing:
        await one_host.crash_conductor()
        await one_host.start_conductor()
    one_host.lift(rule)
    await one_host.ended(server)
    facts = await one_host.facts(server)
    assert facts.server.fault is not None
    assert facts.server.fault["message"].startswith("No valid host was found. 1 host was looked at")
    assert "Tried before:\nhost-1: A chaos rule made agent.build fail." in facts.server.fault["details"]
    events = dict(facts.events)
    assert "explanation" in str(events["claim[1]"])
    assert facts.server.cell == "cell1"
    holds_nothing(facts)
    await one_host.is_clean()


async def test_a_network_without_addresses_is_named_in_the_fault(cloud: Cloud) -> None:
    first = await cloud.create(network=cloud.ground.tiny_network)
    await cloud.ended(first)
    runs_with(1)(await cloud.facts(first))
    second = await cloud.create(network=cloud.ground.tiny_network)
    await cloud.ended(second)
    facts = await cloud.facts(second)
    assert facts.state == ("error", None)
    assert facts.server.fault is not None
    assert "no free IPv4 address left" in facts.server.fault["details"]
    holds_nothing(facts)
    await cloud.is_clean()
    await cloud.act("delete", first)
    await cloud.ended(first)
    third = await cloud.create(network=cloud.ground.tiny_network)
    await cloud.ended(third)
    runs_with(1)(await cloud.facts(third))


async def test_a_ledger_that_fails_during_the_retry_ends_the_server_in_error(cloud: Cloud) -> None:
    rule = cloud.order("agent.build", "before", times=1)
    cloud.order("agent.build", "before", "fail", times=1)
    server = await cloud.create(network=cloud.ground.roomy_network)
    await cloud.met(rule)
    cloud.order("create.claim", "before", "fail", times=1)
    cloud.lift(rule)
    await cloud.ended(server)
    facts = await cloud.facts(server)
    assert facts.state == ("error", None)
    assert facts.server.fault is not None
    assert facts.server.fault["message"] == "A chaos rule made create.claim fail."
    holds_nothing(facts)
    await cloud.is_clean()


async def test_many_servers_at_once_share_the_hosts_and_none_is_lost(cloud: Cloud) -> None:
    servers = await asyncio.gather(*(cloud.create(network=cloud.ground.roomy_network) for _ in range(9)))
    await cloud.ended(*servers)
    facts = [await cloud.facts(server) for server in servers]
    for entry in facts:
        runs_with(1)(entry)
    assert len({port for entry in facts for port in entry.ports}) == 9
    await cloud.is_clean()


async def test_a_host_that_dies_during_a_build_is_left_for_another(new_cloud: NewCloud) -> None:
    cloud = await new_cloud(replace(SETTINGS, conductor=replace(SETTINGS.conductor, host_down_seconds=2.0)))
    rule = cloud.order("agent.build", "after", times=1)
    server = await CREATE.ask(cloud, "")
    await cloud.met(rule)
    first = (await cloud.facts(server)).server.host
    assert first is not None
    await cloud.hosts[first].crash()
    cloud.lift(rule)
    await cloud.ended(server)
    facts = await cloud.facts(server)
    runs_with(1)(facts)
    assert facts.allocations.keys() == {facts.server.host} != {first}
    assert facts.allocations[str(facts.server.host)] == HOLDS
    # It returns with the guest that it had built, and is told to remove it before it takes anything new.
    await cloud.hosts[first].start()
    assert server not in await cloud.reads.guests(first)
    await cloud.is_clean()
