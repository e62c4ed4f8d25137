import asyncio

from kilonova.storage import host_trees
from kilonova.storage.database import Transaction

from .site import Cloud


async def test_an_aggregate_may_have_no_zone(cloud: Cloud) -> None:
    answer = await cloud.call("POST", "/os-aggregates", {"aggregate": {"name": "foo", "availability_zone": None}})
    assert answer.status_code == 200
    made = answer.json()["aggregate"]
    assert made["availability_zone"] is None
    assert not {"hosts", "metadata", "uuid"} & made.keys()
    shown = (await cloud.get(f"/os-aggregates/{made['id']}", at="2.41"))["aggregate"]
    assert (shown["hosts"], shown["metadata"], len(shown["uuid"])) == ([], {}, 36)
    assert (await cloud.call("POST", "/os-aggregates", {"aggregate": {"name": "foo"}})).status_code == 409


async def test_aggregates_are_for_administrators(cloud: Cloud) -> None:
    assert (await cloud.call("GET", "/os-aggregates", who="user")).status_code == 403
    body: dict[str, object] = {"set_metadata": {"metadata": {}}}
    assert (await cloud.call("POST", "/os-aggregates/1/action", body, who="user")).status_code == 403


async def test_placement_mirrors_the_hosts_of_an_aggregate(cloud: Cloud) -> None:
    host, number = await cloud.host("h1"), await cloud.aggregate("a")
    before = await cloud.provider(host.provider_uuid)
    answer = await cloud.act(number, "add_host", host="h1")
    assert answer.json()["aggregate"]["hosts"] == ["h1"]
    uuid = (await cloud.get(f"/os-aggregates/{number}", at="2.41"))["aggregate"]["uuid"]
    inside = await cloud.provider(host.provider_uuid)
    assert inside.aggregates == {uuid}
    assert inside.generation == before.generation + 1
    assert (await cloud.act(number, "add_host", host="h1")).status_code == 409
    assert (await cloud.act(number, "remove_host", host="h1")).json()["aggregate"]["hosts"] == []
    assert (await cloud.provider(host.provider_uuid)).aggregates == frozenset()
    assert (await cloud.act(number, "remove_host", host="h1")).status_code == 404


async def test_hosts_that_nobody_knows_are_not_found(cloud: Cloud) -> None:
    number = await cloud.aggregate("a")
    for action in ("add_host", "remove_host"):
        assert (await cloud.act(number, action, host="zz")).status_code == 404
    await cloud.host("h1")
    assert (await cloud.act(number + 1, "add_host", host="h1")).status_code == 404


async def test_a_host_without_a_provider_joins_nothing(cloud: Cloud) -> None:
    host, number = await cloud.host("h1"), await cloud.aggregate("a")

    async def lose(tx: Transaction) -> None:
        await host_trees.remove_tree(tx, host.provider_uuid)

    await cloud.database.transact(lose)
    assert (await cloud.act(number, "add_host", host="h1")).status_code == 409
    assert (await cloud.get(f"/os-aggregates/{number}"))["aggregate"]["hosts"] == []


async def test_a_host_is_in_one_zone_only(cloud: Cloud) -> None:
    await cloud.host("h1")
    first, second = await cloud.aggregate("a", "az1"), await cloud.aggregate("b", "az2")
    await cloud.act(first, "add_host", host="h1")
    assert (await cloud.act(second, "add_host", host="h1")).status_code == 409
    third = await cloud.aggregate("c")
    assert (await cloud.act(third, "add_host", host="h1")).status_code == 200
    metadata = {"availability_zone": "az2"}
    assert (await cloud.act(third, "set_metadata", metadata=metadata)).status_code == 400


async def test_two_aggregates_do_not_take_a_host_into_two_zones_at_once(cloud: Cloud) -> None:
    await cloud.host("h1")
    numbers = [await cloud.aggregate("a", "az1"), await cloud.aggregate("b", "az2")]
    answers = await asyncio.gather(*[cloud.act(number, "add_host", host="h1") for number in numbers])
    assert sorted(answer.status_code for answer in answers) == [200, 409]


async def test_a_zone_with_servers_is_not_renamed(cloud: Cloud) -> None:
    await cloud.host("h1")
    number = await cloud.aggregate("a", "az1")
    await cloud.act(number, "add_host", host="h1")
    await cloud.server("s", "h1")
    update = {"aggregate": {"availability_zone": "az9"}}
    assert (await cloud.call("PUT", f"/os-aggregates/{number}", update)).status_code == 400
    for zone in ("az9", None):
        assert (await cloud.act(number, "set_metadata", metadata={"availability_zone": zone})).status_code == 400
    assert (await cloud.act(number, "remove_host", host="h1")).status_code == 409
    assert (await cloud.call("PUT", f"/os-aggregates/{number}", {"aggregate": {"name": "b"}})).status_code == 200
    assert (await cloud.act(number, "set_metadata", metadata={"ssd": "true"})).status_code == 200


async def test_metadata_is_merged_and_null_removes(cloud: Cloud) -> None:
    number = await cloud.aggregate("a", "az1")
    await cloud.act(number, "set_metadata", metadata={"ssd": "true", "x": "1"})
    answer = await cloud.act(number, "set_metadata", metadata={"x": None, "availability_zone": "az2"})
    shown = answer.json()["aggregate"]
    assert shown["metadata"] == {"ssd": "true", "availability_zone": "az2"}
    assert shown["availability_zone"] == "az2"
    assert shown["updated_at"]


async def test_an_aggregate_with_hosts_is_not_deleted(cloud: Cloud) -> None:
    await cloud.host("h1")
    number = await cloud.aggregate("a")
    await cloud.act(number, "add_host", host="h1")
    assert (await cloud.call("DELETE", f"/os-aggregates/{number}")).status_code == 409
    await cloud.act(number, "remove_host", host="h1")
    assert (await cloud.call("DELETE", f"/os-aggregates/{number}")).status_code == 200
    assert (await cloud.call("DELETE", f"/os-aggregates/{number}")).status_code == 404
    assert (await cloud.call("GET", "/os-aggregates/x")).status_code == 400


async def test_a_body_names_exactly_one_action(cloud: Cloud) -> None:
    number = await cloud.aggregate("a")
    bodies: list[dict[str, object]] = [{}, {"zz": {}}, {"add_host": {"host": "h"}, "remove_host": {"host": "h"}}]
    for body in bodies:
        assert (await cloud.call("POST", f"/os-aggregates/{number}/action", body)).status_code == 400
