"""What a server that found no host can do and cannot, and what its going gives back (behaviour.md, section 1 and 9)."""

import asyncio
from typing import Any

import pytest

from .cloud import Cloud
from .conditions import with_settings
from .doors import Door


@pytest.fixture
async def buried(cloud: Cloud) -> str:
    """A server that found no host."""
    await cloud.close_hosts()
    server = await cloud.accept()
    await cloud.ends(server, "ERROR")
    return server


async def test_a_buried_server_is_shown_listed_tagged_renamed_and_given_metadata(cloud: Cloud, buried: str) -> None:
    await cloud.user.write(f"/servers/{buried}", {"server": {"name": "new"}}, "PUT")
    await cloud.user.write(f"/servers/{buried}/tags/blue", None, "PUT")
    await cloud.user.write(f"/servers/{buried}/metadata", {"metadata": {"k": "v"}})
    shown = (await cloud.user.read(f"/servers/{buried}"))["server"]
    assert (shown["name"], shown["tags"], shown["metadata"]) == ("new", ["blue"], {"k": "v"})
    assert await cloud.names("?status=ERROR&tags=blue") == ["new"]


@pytest.mark.parametrize("action", ["os-start", "os-stop", "reboot", "os-getConsoleOutput"])
async def test_what_needs_a_host_is_a_conflict_that_says_why(cloud: Cloud, buried: str, action: str) -> None:
    content: Any = {"type": "HARD"} if action == "reboot" else {} if action == "os-getConsoleOutput" else None
    answer = await cloud.user.post(f"/servers/{buried}/action", {action: content})
    assert answer.status_code == 409
    assert "host" in answer.json()["conflictingRequest"]["message"]
    assert (await cloud.user.read(f"/servers/{buried}"))["server"]["status"] == "ERROR"


async def test_a_buried_server_is_not_declared_active(cloud: Cloud, buried: str) -> None:
    answer = await cloud.admin.post(f"/servers/{buried}/action", {"os-resetState": {"state": "active"}})
    assert answer.status_code == 409


async def test_deleting_a_buried_server_frees_its_ports_and_quota(cloud: Cloud) -> None:
    network = Door(cloud.http, cloud.kit.member, "/network/v2.0")
    made = (await network.write("/networks", {"network": {"name": "net"}}))["network"]["id"]
    await network.write("/subnets", {"subnet": {"network_id": made, "cidr": "10.0.0.0/24", "ip_version": 4}})
    port = (await network.write("/ports", {"port": {"network_id": made}}))["port"]["id"]
    await cloud.close_hosts()
    server = await cloud.accept(networks=[{"port": port}])
    await cloud.ends(server, "ERROR")
    await cloud.delete(server)
    assert (await network.read(f"/ports/{port}"))["port"]["device_id"] == ""
    assert (await cloud.user.read("/limits"))["limits"]["absolute"]["totalInstancesUsed"] == 0
    for host in ("h1", "h2", "h3"):
        await cloud.set_service(host, status="enabled")
    await cloud.create(networks=[{"port": port}])


@pytest.mark.parametrize("point", ["schedule", "create.claim", "create.build", "agent.build"])
async def test_a_delete_wins_over_a_create_at_any_point(cloud: Cloud, point: str) -> None:
    rule = await cloud.order(point, "before")
    server = await cloud.accept()
    await cloud.met(rule)
    assert (await cloud.user.delete(f"/servers/{server}")).status_code == 204
    await cloud.lift(rule)
    await cloud.is_gone(server)
    assert await cloud.allocations(server) == {}


async def test_a_delete_wins_over_a_stop_and_both_stand_in_the_history(cloud: Cloud) -> None:
    server = await cloud.create()
    rule = await cloud.order("agent.stop", "before")
    await cloud.act(server, "os-stop")
    await cloud.met(rule)
    assert (await cloud.user.post(f"/servers/{server}/action", {"os-start": None})).status_code == 409
    assert (await cloud.user.delete(f"/servers/{server}")).status_code == 204
    await cloud.lift(rule)
    await cloud.is_gone(server)
    actions = (await cloud.admin.read(f"/servers/{server}/os-instance-actions"))["instanceActions"]
    assert [(action["action"], action["message"]) for action in actions] == [
        ("delete", None),
        ("stop", "Error"),
        ("create", None),
    ]


@with_settings(quota={"instances": -1, "cores": -1, "ram": -1})
async def test_no_claim_takes_a_host_over_its_capacity_whatever_is_asked_at_once(cloud: Cloud) -> None:
    servers = await asyncio.gather(*(cloud.accept(name=f"s{number}") for number in range(15)))
    statuses = [(await cloud.settled(server))["status"] for server in servers]
    assert (statuses.count("ACTIVE"), statuses.count("ERROR")) == (12, 3)
    assert [(await cloud.usages(host))["VCPU"] for host in ("h1", "h2", "h3")] == [4, 4, 4]


async def test_a_host_that_shrank_below_its_use_lets_go_and_takes_nothing_new(cloud: Cloud) -> None:
    await cloud.close_hosts("h2", "h3")
    servers = [await cloud.create() for _ in range(3)]
    uuid = (await cloud.provider("h1"))["uuid"]
    path = f"/resource_providers/{uuid}/inventories/VCPU"
    body = {"resource_provider_generation": (await cloud.provider("h1"))["generation"], "total": 4, "reserved": 2}
    await cloud.placement.write(path, body, "PUT")
    assert "1 lacks VCPU" in (await cloud.ends(await cloud.accept(), "ERROR"))["fault"]["message"]
    for server in servers:
        await cloud.delete(server)
    assert (await cloud.usages("h1"))["VCPU"] == 0
    await cloud.create()
