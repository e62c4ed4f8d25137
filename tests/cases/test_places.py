"""Cases of where servers go: groups, hints, traits, zones; and of what is told when there is no place."""

from .cloud import Cloud
from .conditions import with_settings


@with_settings(scheduler={"ram_weight_multiplier": -1.0})
async def test_c037_two_servers_of_one_request_keep_apart_though_one_host_is_preferred(cloud: Cloud) -> None:
    await cloud.close_hosts("h3")
    await cloud.create()
    group = {"server_group": {"name": "g", "policy": "anti-affinity"}}
    group_id = (await cloud.user.write("/os-server-groups", group))["server_group"]["id"]
    await cloud.create(hints={"group": group_id}, name="pair", min_count=2)
    pair = (await cloud.user.read("/servers?name=pair"))["servers"]
    assert len(pair) == 2
    for server in pair:
        await cloud.ends(server["id"], "ACTIVE")
    assert {await cloud.host_of(server["id"]) for server in pair} == {"h1", "h2"}


@with_settings(scheduler={"max_placement_results": 1})
async def test_c041_a_cap_on_results_does_not_hide_the_only_legal_host(cloud: Cloud) -> None:
    first = await cloud.create()
    for _ in range(3):
        apart = await cloud.create(hints={"different_host": [first]})
        together = await cloud.create(hints={"same_host": [first]})
        assert await cloud.host_of(apart) != await cloud.host_of(first)
        assert await cloud.host_of(together) == await cloud.host_of(first)
        await cloud.delete(apart)
        await cloud.delete(together)


@with_settings(fake={"vcpus": 8})
async def test_c043_a_forbidden_trait_counts_though_it_is_the_only_condition(cloud: Cloud) -> None:
    await cloud.close_hosts("h3")
    await cloud.add_trait("h1", "CUSTOM_BAD")
    flavor = await cloud.flavor("good", 1, 64, trait__CUSTOM_BAD="forbidden")
    for _ in range(5):
        assert await cloud.host_of(await cloud.create(flavorRef=flavor)) == "h2"


async def test_c049_a_fault_counts_for_users_and_names_for_administrators_why_each_host_fell(cloud: Cloud) -> None:
    await cloud.create(cloud.admin, flavorRef="f2", host="h1")
    await cloud.add_trait("h1", "CUSTOM_X")
    await cloud.close_hosts("h3")
    flavor = await cloud.flavor("wide", 1, 4000, trait__CUSTOM_X="required")
    server = await cloud.accept(flavorRef=flavor)
    told = (await cloud.ends(server, "ERROR"))["fault"]
    seen = (await cloud.user.read(f"/servers/{server}"))["server"]["fault"]
    assert set(told) == {"code", "created", "message", "details"}
    assert set(seen) == {"code", "created", "message"}
    assert seen["message"] == told["message"]
    message = seen["message"]
    assert message.startswith("No valid host was found. 3 hosts were looked at:")
    for part in ("1 lacks MEMORY_MB (4000 asked, the most free is 3072)", "1 lacks the trait CUSTOM_X", "1 is disabled"):
        assert part in message
    assert not any(host in message for host in ("h1", "h2", "h3"))
    for host, reason in (("h1", "MEMORY_MB"), ("h2", "CUSTOM_X"), ("h3", "disabled")):
        assert any(host in line and reason in line for line in told["details"].splitlines()), told["details"]


async def test_c049_the_same_stands_in_the_action_and_in_our_own_explanation(cloud: Cloud) -> None:
    await cloud.close_hosts()
    server = await cloud.accept()
    fault = (await cloud.ends(server, "ERROR"))["fault"]
    (action,) = (await cloud.admin.read(f"/servers/{server}/os-instance-actions"))["instanceActions"]
    one = await cloud.admin.read(f"/servers/{server}/os-instance-actions/{action['request_id']}")
    assert one["instanceAction"]["events"][0]["details"] == fault["message"]
    answer = await cloud.http.get(f"/kilonova/explanations/{server}", headers={"x-auth-token": cloud.kit.admin})
    (decision,) = answer.json()["explanation"]["decisions"]
    assert (decision["message"], decision["details"]) == (fault["message"], fault["details"])


@with_settings(api={"show_amounts": False})
async def test_c049_a_cloud_may_keep_its_amounts_from_users(cloud: Cloud) -> None:
    server = await cloud.accept(flavorRef=await cloud.flavor("wide", 6, 64))
    fault = (await cloud.ends(server, "ERROR"))["fault"]
    assert fault["message"] == "No valid host was found. 3 hosts were looked at: 3 lack VCPU."
    assert "6 asked" in fault["details"]


async def test_c075_a_server_without_a_host_shows_the_zone_that_was_asked_for_and_no_other(cloud: Cloud) -> None:
    await cloud.zone("az1", "h1", "h2", "h3")
    assert (await cloud.ends(await cloud.create(), "ACTIVE"))["OS-EXT-AZ:availability_zone"] == "az1"
    await cloud.close_hosts()
    for asked, shown in (({}, ""), ({"availability_zone": "az1"}, "az1")):
        server = await cloud.ends(await cloud.accept(**asked), "ERROR")
        assert server["OS-EXT-AZ:availability_zone"] == shown
        assert server["pinned_availability_zone"] == (shown or None)


async def test_c101_a_server_that_was_refused_in_one_zone_shows_the_zone_where_it_runs(cloud: Cloud) -> None:
    await cloud.close_hosts("h3")
    await cloud.zone("az1", "h1")
    await cloud.zone("az2", "h2")
    await cloud.create(cloud.admin, host="h2")
    rule = await cloud.order("agent.build", "before", "fail", host="h1")
    server = await cloud.ends(await cloud.create(), "ACTIVE")
    await cloud.met(rule)
    assert server["OS-EXT-SRV-ATTR:host"] == "h2"
    assert server["OS-EXT-AZ:availability_zone"] == "az2"
