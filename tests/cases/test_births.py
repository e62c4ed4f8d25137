"""Cases of servers that are created: what is taken, what is refused, and what happens meanwhile."""

import asyncio

from .cloud import Cloud
from .conditions import with_settings
from .doors import Door


async def test_c001_a_create_that_finds_no_host_is_one_action_with_one_error(cloud: Cloud) -> None:
    await cloud.close_hosts()
    server = await cloud.ends(await cloud.accept(), "ERROR")
    assert server["hostId"] == ""
    assert server["fault"]["message"]
    (action,) = (await cloud.user.read(f"/servers/{server['id']}/os-instance-actions"))["instanceActions"]
    assert (action["action"], action["message"]) == ("create", "Error")
    one = await cloud.user.read(f"/servers/{server['id']}/os-instance-actions/{action['request_id']}")
    assert [event["result"] for event in one["instanceAction"]["events"]] == ["Error"]


async def test_c003_a_list_goes_on_behind_a_buried_server_though_less_is_left_than_asked(cloud: Cloud) -> None:
    await cloud.close_hosts()
    for name in ("a", "b", "c"):
        await cloud.ends(await cloud.accept(name=name), "ERROR")
    first, *others = (await cloud.user.read("/servers"))["servers"]
    left = (await cloud.user.read(f"/servers?marker={first['id']}&limit=3"))["servers"]
    assert [server["id"] for server in left] == [server["id"] for server in others]
    assert len(left) == 2


async def test_c005_deleting_a_server_that_never_had_a_host_returns_its_quota_once(cloud: Cloud) -> None:
    async def used() -> int:
        return int((await cloud.user.read("/limits"))["limits"]["absolute"]["totalInstancesUsed"])

    await cloud.create()
    await cloud.close_hosts()
    server = await cloud.accept()
    await cloud.ends(server, "ERROR")
    assert await used() == 2
    await cloud.delete(server)
    assert await used() == 1


async def test_c007_every_server_of_a_list_carries_its_own_tags_wherever_it_is_kept(cloud: Cloud) -> None:
    asked = {
        await cloud.create(tags=["foo", "bar"]): ["bar", "foo"],
        await cloud.create(tags=["foo"]): ["foo"],
    }
    await cloud.close_hosts()
    buried = await cloud.accept(tags=["foo"])
    await cloud.ends(buried, "ERROR")
    for query, count in (("foo,bar", 1), ("foo", 3)):
        found = (await cloud.user.read(f"/servers/detail?tags={query}"))["servers"]
        assert len(found) == count
        assert all(sorted(server["tags"]) == (asked | {buried: ["foo"]})[server["id"]] for server in found)


async def test_c009_a_rename_before_the_server_has_a_host_is_not_lost(cloud: Cloud) -> None:
    rule = await cloud.order("schedule", "before")
    server = await cloud.accept()
    await cloud.met(rule)
    await cloud.user.write(f"/servers/{server}", {"server": {"name": "new"}}, "PUT")
    waiting = (await cloud.user.read(f"/servers/{server}"))["server"]
    assert (waiting["name"], waiting["status"]) == ("new", "BUILD")
    await cloud.lift(rule)
    assert (await cloud.ends(server, "ACTIVE"))["name"] == "new"


async def test_c011_a_delete_between_claim_and_build_leaves_nothing(cloud: Cloud) -> None:
    rule = await cloud.order("create.build", "before")
    server = await cloud.accept()
    await cloud.met(rule)
    assert await cloud.allocations(server)
    await cloud.delete(server)
    assert await cloud.allocations(server) == {}
    assert [await cloud.usages(host) for host in ("h1", "h2", "h3")] == [{"VCPU": 0, "MEMORY_MB": 0, "DISK_GB": 0}] * 3
    await cloud.lift(rule)


async def test_c011_a_delete_takes_the_ports_of_a_build_that_is_under_way(cloud: Cloud) -> None:
    network = Door(cloud.http, cloud.kit.member, "/network/v2.0")
    made = (await network.write("/networks", {"network": {"name": "net"}}))["network"]["id"]
    await network.write("/subnets", {"subnet": {"network_id": made, "cidr": "10.0.0.0/24", "ip_version": 4}})
    rule = await cloud.order("agent.build", "after")
    server = await cloud.accept(networks=[{"uuid": made}])
    await cloud.met(rule)
    assert (await network.read(f"/ports?device_id={server}"))["ports"]
    await cloud.delete(server)
    assert (await network.read(f"/ports?device_id={server}"))["ports"] == []
    await cloud.lift(rule)


@with_settings(quota={"instances": 1})
async def test_c015_of_two_creates_at_the_limit_one_is_refused_and_leaves_no_record(cloud: Cloud) -> None:
    answers = await asyncio.gather(*(cloud.user.post("/servers", {"server": cloud.wish(name=name)}) for name in "ab"))
    assert sorted(answer.status_code for answer in answers) == [202, 403]
    (won,) = (answer.json()["server"]["id"] for answer in answers if answer.status_code == 202)
    await cloud.ends(won, "ACTIVE")
    assert len(await cloud.names()) == 1
    limits = (await cloud.user.read("/limits"))["limits"]["absolute"]
    assert (limits["totalInstancesUsed"], limits["totalCoresUsed"], limits["totalRAMUsed"]) == (1, 1, 512)


async def test_c017_a_port_that_is_named_twice_is_refused_and_makes_no_server(cloud: Cloud) -> None:
    network = Door(cloud.http, cloud.kit.member, "/network/v2.0")
    made = (await network.write("/networks", {"network": {"name": "net"}}))["network"]["id"]
    await network.write("/subnets", {"subnet": {"network_id": made, "cidr": "10.0.0.0/24", "ip_version": 4}})
    port = {"port": (await network.write("/ports", {"port": {"network_id": made}}))["port"]["id"]}
    answer = await cloud.user.post("/servers", {"server": cloud.wish(networks=[port, port])})
    assert answer.status_code == 400
    assert "the same port is asked for more than once" in answer.json()["badRequest"]["message"]
    assert await cloud.names() == []


async def test_c019_a_status_that_does_not_exist_finds_nothing_and_is_refused_from_2_38(cloud: Cloud) -> None:
    for person in (cloud.admin, cloud.user):
        for path in ("/servers", "/servers/detail"):
            old = await person.at("2.37").read(f"{path}?status=NOTASTATUS")
            assert old["servers"] == []
            assert (await person.at("2.38").get(f"{path}?status=NOTASTATUS")).status_code == 400


async def test_c023_a_server_that_its_first_host_refuses_runs_on_another(cloud: Cloud) -> None:
    await cloud.close_hosts("h3")
    rule = await cloud.order("agent.build", "before", "fail", times=1)
    server = await cloud.create()
    await cloud.met(rule)
    host = await cloud.host_of(server)
    (refusing,) = {"h1", "h2"} - {host}
    assert set((await cloud.usages(refusing)).values()) == {0}
    assert await cloud.allocations(server) == {
        (await cloud.provider(host))["uuid"]: {
            "generation": (await cloud.provider(host))["generation"],
            "resources": {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1},
        }
    }


async def test_c025_a_scheduler_that_fails_during_the_retry_ends_the_server_in_error(cloud: Cloud) -> None:
    held = await cloud.order("agent.build", "before", times=1)
    await cloud.order("agent.build", "before", "fail", times=1)
    server = await cloud.accept()
    await cloud.met(held)
    await cloud.order("schedule", "before", "fail")
    await cloud.lift(held)
    assert (await cloud.ends(server, "ERROR"))["fault"]["message"]
    assert await cloud.allocations(server) == {}


async def test_c027_the_config_drive_is_decided_at_create_and_outlives_the_setting(cloud: Cloud) -> None:
    cloud.restart_api(compute={"force_config_drive": True})
    forced = await cloud.create()
    cloud.restart_api()
    plain = await cloud.create()

    async def drives() -> list[str]:
        return [(await cloud.user.read(f"/servers/{server}"))["server"]["config_drive"] for server in (forced, plain)]

    assert await drives() == ["True", ""]
    cloud.restart_api(compute={"force_config_drive": True})
    for server in (forced, plain):
        await cloud.act(server, "reboot", {"type": "HARD"})
        await cloud.ends(server, "ACTIVE")
    assert await drives() == ["True", ""]


async def test_c039_one_users_limit_leaves_the_others_of_the_project_alone(cloud: Cloud) -> None:
    limit = {"quota_set": {"instances": 1}}
    await cloud.admin.write(f"/os-quota-sets/{cloud.kit.project}?user_id={cloud.kit.other_user}", limit, "PUT")
    await cloud.create()
    await cloud.create(cloud.other)
    assert (await cloud.other.post("/servers", {"server": cloud.wish()})).status_code == 403
    await cloud.create()
