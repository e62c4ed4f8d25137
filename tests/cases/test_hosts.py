"""Cases of services, aggregates and zones, and of hosts that are away."""

import pytest

from .cloud import Cloud
from .conditions import with_settings


async def test_c109_a_host_that_has_a_server_is_not_deleted(cloud: Cloud) -> None:
    host = await cloud.host_of(await cloud.create())
    service = (await cloud.service(host))["id"]
    assert (await cloud.admin.delete(f"/os-services/{service}")).status_code == 409
    assert (await cloud.service(host))["id"] == service
    assert (await cloud.provider(host))["name"] == host


@with_settings(conductor={"host_down_seconds": 0.6})
async def test_c113_a_host_that_was_deleted_is_known_again_when_it_returns(cloud: Cloud) -> None:
    await cloud.close_hosts("h2", "h3")
    await cloud.stop_host("h1")
    await cloud.host_is("h1", "down")
    before = (await cloud.service("h1"))["id"]
    assert (await cloud.admin.delete(f"/os-services/{before}")).status_code == 204
    assert (await cloud.admin.read("/os-services?host=h1"))["services"] == []
    await cloud.start_host("h1")
    await cloud.host_is("h1", "up")
    assert (await cloud.service("h1"))["id"] != before
    assert await cloud.host_of(await cloud.create()) == "h1"


async def test_c117_a_zone_with_servers_is_not_renamed(cloud: Cloud) -> None:
    number = await cloud.zone("az1", "h1")
    await cloud.create(availability_zone="az1")
    renames = (
        ("PUT", f"/os-aggregates/{number}", {"aggregate": {"availability_zone": "az2"}}),
        ("POST", f"/os-aggregates/{number}/action", {"set_metadata": {"metadata": {"availability_zone": "az2"}}}),
    )
    for method, path, body in renames:
        assert (await cloud.admin.call(method, path, body)).status_code == 400
    assert (await cloud.admin.read(f"/os-aggregates/{number}"))["aggregate"]["availability_zone"] == "az1"


async def test_c119_aggregates_of_hosts_and_of_providers_agree(cloud: Cloud) -> None:
    made = (await cloud.admin.write("/os-aggregates", {"aggregate": {"name": "fast", "availability_zone": None}}))["aggregate"]
    action = f"/os-aggregates/{made['id']}/action"
    path = f"/resource_providers/{(await cloud.provider('h1'))['uuid']}/aggregates"

    async def both() -> tuple[list[str], list[str]]:
        hosts = (await cloud.admin.read(f"/os-aggregates/{made['id']}"))["aggregate"]["hosts"]
        return hosts, (await cloud.placement.read(path))["aggregates"]

    assert (await cloud.admin.post(action, {"add_host": {"host": "h1"}})).status_code == 200
    assert await both() == (["h1"], [made["uuid"]])
    assert (await cloud.admin.post(action, {"add_host": {"host": "h1"}})).status_code == 409
    assert (await cloud.admin.post(action, {"add_host": {"host": "nobody"}})).status_code == 404
    assert await both() == (["h1"], [made["uuid"]])
    assert (await cloud.admin.post(action, {"remove_host": {"host": "h1"}})).status_code == 200
    assert await both() == ([], [])
    assert (await cloud.admin.post(action, {"remove_host": {"host": "h1"}})).status_code == 404


async def test_c121_an_aggregate_may_be_made_without_a_zone(cloud: Cloud) -> None:
    answer = await cloud.admin.post("/os-aggregates", {"aggregate": {"name": "foo", "availability_zone": None}})
    assert answer.status_code == 200
    assert answer.json()["aggregate"]["availability_zone"] is None


@with_settings(conductor={"host_down_seconds": 0.6})
async def test_a_host_that_falls_silent_counts_as_down_and_takes_no_servers_until_it_is_back(cloud: Cloud) -> None:
    await cloud.close_hosts("h2", "h3")
    await cloud.stop_host("h1")
    await cloud.host_is("h1", "down")
    fault = (await cloud.ends(await cloud.accept(), "ERROR"))["fault"]
    assert "1 is down" in fault["message"]
    await cloud.start_host("h1")
    await cloud.host_is("h1", "up")
    assert await cloud.host_of(await cloud.create()) == "h1"


@with_settings(conductor={"host_down_seconds": 0.6})
async def test_a_delete_ends_though_the_host_is_down_and_the_guest_goes_when_it_returns(cloud: Cloud) -> None:
    server = await cloud.create()
    host = await cloud.host_of(server)
    await cloud.stop_host(host)
    await cloud.host_is(host, "down")
    await cloud.delete(server)
    assert await cloud.allocations(server) == {}
    assert set((await cloud.usages(host)).values()) == {0}
    await cloud.start_host(host)
    await cloud.host_is(host, "up")


@pytest.fixture
async def across(cloud: Cloud) -> str:
    """A server in a second cell, beside one in the first; the second cell is then cut off."""
    await cloud.start_host("h4", "cell2")
    await cloud.host_is("h4", "up")
    await cloud.create(name="near")
    far = await cloud.create(cloud.admin, name="far", host="h4")
    await cloud.rules.write("/rules", {"cell": 2, "action": "cut"})
    return far


@with_settings(conductor={"host_down_seconds": 0.6})
async def test_c123_lists_are_whole_though_a_cell_is_cut_off(cloud: Cloud, across: str) -> None:
    assert across
    await cloud.host_is("h4", "down")
    for path in ("/servers", "/servers/detail"):
        found = (await cloud.admin.read(f"{path}?all_tenants=1"))["servers"]
        assert {server["name"] for server in found} == {"near", "far"}
    assert len((await cloud.admin.read("/os-services?binary=nova-compute"))["services"]) == 4


async def test_c125_a_server_of_a_cell_that_is_cut_off_is_shown_whole(cloud: Cloud, across: str) -> None:
    for version in ("2.68", "2.69", "2.104"):
        server = (await cloud.admin.at(version).read(f"/servers/{across}"))["server"]
        assert (server["name"], server["status"], server["OS-EXT-SRV-ATTR:host"]) == ("far", "ACTIVE", "h4")


@with_settings(quota={"instances": 1})
async def test_c127_quota_does_not_grow_while_a_cell_is_away(cloud: Cloud, across: str) -> None:
    assert across
    assert (await cloud.admin.post("/servers", {"server": cloud.wish()})).status_code == 403


async def test_c129_the_api_starts_while_a_cell_is_away(cloud: Cloud, across: str) -> None:
    cloud.restart_api()
    assert (await cloud.admin.read(f"/servers/{across}"))["server"]["status"] == "ACTIVE"
    await cloud.create()
