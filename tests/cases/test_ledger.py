"""Cases of the placement face that write: allocations, inventories, trees."""

from uuid import uuid4

from .cloud import Cloud
from .conditions import with_settings
from .ledger_words import claim, code, holding, holding_at, make_provider, set_of_provider


async def test_c131_a_refused_first_write_leaves_no_consumer(cloud: Cloud) -> None:
    consumer, uuid = str(uuid4()), (await cloud.provider("h1"))["uuid"]
    door = cloud.placement.at("1.28")
    refused = await door.put(f"/allocations/{consumer}", holding_at("1.28", {uuid: {"VCPU": 9999}}))
    assert refused.status_code == 409
    assert await door.read(f"/allocations/{consumer}") == {"allocations": {}}
    taken = await door.put(f"/allocations/{consumer}", holding_at("1.28", {uuid: {"VCPU": 1}}))
    assert (taken.status_code, taken.content) == (204, b"")
    assert (await door.read(f"/allocations/{consumer}"))["consumer_generation"] == 1


async def test_c133_a_consumer_that_gave_all_back_is_a_new_one(cloud: Cloud) -> None:
    consumer, uuid = str(uuid4()), (await cloud.provider("h1"))["uuid"]
    path = f"/allocations/{consumer}"
    for version, by in (("1.28", "PUT"), ("1.28", "DELETE"), ("1.39", "PUT"), ("1.39", "DELETE")):
        door = cloud.placement.at(version)
        first, nothing = holding_at(version, {uuid: {"VCPU": 1}}), holding_at(version, {}, 1)
        assert (await door.put(path, first)).status_code == 204
        assert (await door.call(by, path, nothing if by == "PUT" else None)).status_code == 204
        assert await door.read(path) == {"allocations": {}}
        assert (await door.put(path, first)).status_code == 204
        assert (await door.read(path))["consumer_generation"] == 1
        assert (await door.delete(path)).status_code == 204


async def test_c135_unknown_keys_are_refused_at_every_level(cloud: Cloud) -> None:
    uuid = (await cloud.provider("h1"))["uuid"]
    for version in ("1.12", "1.28", "1.34", "1.38", "1.39"):
        for level in ((), ("allocations",), ("allocations", uuid), ("allocations", uuid, "resources")):
            body = holding_at(version, {uuid: {"VCPU": 1}})
            place = body
            for key in level:
                place = place[key]
            place["surplus"] = 1
            refused = await cloud.placement.at(version).put(f"/allocations/{uuid4()}", body)
            assert refused.status_code == 400
            assert "surplus" in refused.json()["errors"][0]["detail"]
    assert (await cloud.usages("h1"))["VCPU"] == 0


async def test_c137_a_tree_that_is_moved_has_the_new_root_to_its_leaves(cloud: Cloud) -> None:
    door = cloud.placement
    alt, parent = await make_provider(door, "alt"), await make_provider(door, "parent")
    child = await make_provider(door, "child", parent)
    moved = await door.write(f"/resource_providers/{parent}", {"name": "parent", "parent_provider_uuid": alt}, "PUT")
    assert (moved["parent_provider_uuid"], moved["root_provider_uuid"]) == (alt, alt)
    below = await door.read(f"/resource_providers/{child}")
    assert (below["parent_provider_uuid"], below["root_provider_uuid"]) == (parent, alt)
    tree = (await door.read(f"/resource_providers?in_tree={alt}"))["resource_providers"]
    assert {provider["uuid"] for provider in tree} == {alt, parent, child}


async def test_c139_a_write_that_lowers_or_keeps_an_overload_is_taken(cloud: Cloud) -> None:
    door = cloud.placement
    uuid, first, second = await make_provider(door, VCPU=10), str(uuid4()), str(uuid4())
    for consumer in (first, second):
        assert (await claim(door, consumer, uuid, VCPU=4)).status_code == 204
    generation = (await door.read(f"/resource_providers/{uuid}"))["generation"]
    less = {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": 10, "reserved": 6}}}
    await door.write(f"/resource_providers/{uuid}/inventories", less, "PUT")
    told = [
        (await claim(door, first, uuid, 1, VCPU=4)).status_code,
        (await claim(door, first, uuid, 2, VCPU=2)).status_code,
        (await claim(door, first, uuid, 3, VCPU=3)).status_code,
        (await claim(door, str(uuid4()), uuid, VCPU=1)).status_code,
    ]
    assert told == [204, 204, 409, 409]
    assert (await door.read(f"/resource_providers/{uuid}/usages"))["usages"] == {"VCPU": 6}


async def test_c153_a_path_that_does_not_exist_is_told_in_what_is_accepted(cloud: Cloud) -> None:
    for accept in (None, "application/json", "text/html"):
        request = cloud.http.build_request("GET", "/placement/no-such-path", headers={"x-auth-token": cloud.kit.admin})
        del request.headers["accept"]
        if accept is not None:
            request.headers["accept"] = accept
        answer = await cloud.http.send(request)
        assert answer.status_code == 404
        assert answer.headers["content-type"].partition(";")[0] == (accept or "application/json")
        if accept == "text/html":
            assert "<html" in answer.text.lower()
            assert "could not be found" in answer.text
        else:
            assert answer.json()["errors"][0]["status"] == 404


async def test_c155_conflicts_are_told_apart_by_code(cloud: Cloud) -> None:
    uuid, consumer = await make_provider(cloud.placement, VCPU=10), str(uuid4())
    path = f"/resource_providers/{uuid}/inventories"
    units = {"resource_provider_generation": 1, "inventories": {"VCPU": {"total": 10, "min_unit": 2, "step_size": 2}}}
    await cloud.placement.write(path, units, "PUT")
    assert (await claim(cloud.placement, consumer, uuid, VCPU=2)).status_code == 204
    for version, full, unit in (
        ("1.39", "placement.undefined_code", "placement.undefined_code"),
        ("1.1002", "kilonova.over_capacity", "kilonova.bad_amount"),
    ):
        door = cloud.placement.at(version)
        several = {consumer: holding({uuid: {"VCPU": 4}}, 1), str(uuid4()): holding({uuid: {"VCPU": 8}})}
        told = [
            await claim(door, consumer, uuid, 7, VCPU=2),
            await door.put(path, units),
            await claim(door, consumer, uuid, 1, VCPU=100),
            await door.post("/allocations", several),
            await claim(door, consumer, uuid, 1, VCPU=3),
            await claim(door, str(uuid4()), uuid, VCPU=1),
        ]
        assert [answer.status_code for answer in told] == [409] * 6
        stale = "placement.concurrent_update"
        assert [code(answer) for answer in told] == [stale, stale, full, full, unit, unit]
    assert (await cloud.placement.read(f"/resource_providers/{uuid}/usages"))["usages"] == {"VCPU": 2}


@with_settings(fake={"pci_devices": ("CUSTOM_GPU:2",)}, conductor={"host_down_seconds": 0.6})
async def test_c159_a_deleted_host_takes_its_whole_tree_along(cloud: Cloud) -> None:
    root = (await cloud.provider("h1"))["uuid"]
    tree = (await cloud.placement.read(f"/resource_providers?in_tree={root}"))["resource_providers"]
    child = next(provider["uuid"] for provider in tree if provider["uuid"] != root)
    grandchild = await make_provider(cloud.placement, "deep", child, VCPU=1)
    await set_of_provider(cloud.placement, grandchild, "aggregates", str(uuid4()))
    await cloud.stop_host("h1")
    await cloud.host_is("h1", "down")
    assert (await cloud.admin.delete(f"/os-services/{(await cloud.service('h1'))['id']}")).status_code == 204
    for uuid in (root, child, grandchild):
        assert (await cloud.placement.get(f"/resource_providers/{uuid}")).status_code == 404


async def test_c159_a_tree_of_three_levels_goes_leaves_first_and_no_other_way(cloud: Cloud) -> None:
    door = cloud.placement
    root = await make_provider(door, VCPU=1)
    children = [await make_provider(door, "", root, VCPU=1) for _ in range(2)]
    leaves = [await make_provider(door, "", child, VCPU=1) for child in children for _ in range(2)]
    for parent in (root, *children):
        refused = await door.delete(f"/resource_providers/{parent}")
        assert (refused.status_code, code(refused)) == (409, "placement.resource_provider.cannot_delete_parent")
    for uuid in (*leaves, *children, root):
        assert (await door.delete(f"/resource_providers/{uuid}")).status_code == 204
    assert (await door.read(f"/resource_providers?in_tree={root}"))["resource_providers"] == []
