"""Resource providers and what hangs on them, over HTTP."""

from collections.abc import AsyncIterator

import httpx
import pytest

from kilonova.domain.clock import new_uuid
from kilonova.operations.ledger_index import LedgerIndex
from kilonova.placement_api.face import placement_face
from kilonova.placement_api.parts import PlacementParts
from kilonova.storage.database import Database
from tests.placement_api.placement_client import Client, FakeAuthenticator, code, holding


async def test_the_version_document_needs_no_token(client: Client) -> None:
    answer = await client.http.get("/")
    assert answer.status_code == 200
    assert answer.json()["versions"][0]["max_version"] == "1.39"


async def test_own_versions_are_advertised_where_they_are_asked_for(own_client: Client) -> None:
    assert (await own_client.http.get("/")).json()["versions"][0]["max_version"] == "1.1002"
    assert (await own_client.at("1.500").get("/resource_providers")).headers["openstack-api-version"] == "placement 1.39"


async def test_nobody_enters_without_a_token_and_readers_see_no_providers(client: Client) -> None:
    assert (await client.by("nobody").get("/resource_providers")).status_code == 401
    assert (await client.by("reader").get("/resource_providers")).status_code == 403
    assert (await client.by("service").get("/resource_providers")).status_code == 200


async def test_a_provider_is_made_shown_renamed_and_removed(client: Client) -> None:
    made = await client.at("1.19").post("/resource_providers", {"name": "one"})
    assert (made.status_code, made.content) == (201, b"")
    uuid = made.headers["location"].rpartition("/")[2]
    shown = await client.get(f"/resource_providers/{uuid}")
    assert shown.headers["cache-control"] == "no-cache"
    assert shown.json()["links"][0] == {"rel": "self", "href": f"/placement/resource_providers/{uuid}"}
    assert {name: shown.json()[name] for name in ("name", "generation", "parent_provider_uuid", "root_provider_uuid")} == {
        "name": "one",
        "generation": 0,
        "parent_provider_uuid": None,
        "root_provider_uuid": uuid,
    }
    assert (await client.put(f"/resource_providers/{uuid}", {"name": "two"})).json()["name"] == "two"
    assert (await client.delete(f"/resource_providers/{uuid}")).status_code == 204
    gone = await client.get(f"/resource_providers/{uuid}")
    assert (gone.status_code, code(gone)) == (404, "placement.resource_provider.not_found")


async def test_older_versions_know_fewer_links_and_no_parents(client: Client) -> None:
    uuid = await client.provider()
    for version, relations in (("1.0", 3), ("1.1", 4), ("1.6", 5), ("1.11", 6)):
        shown = (await client.at(version).get(f"/resource_providers/{uuid}")).json()
        assert len(shown["links"]) == relations
        assert "root_provider_uuid" not in shown
    assert "cache-control" not in (await client.at("1.14").get(f"/resource_providers/{uuid}")).headers


async def test_names_and_uuids_are_given_once(client: Client) -> None:
    uuid = await client.provider("one")
    for body in ({"name": "one"}, {"name": "other", "uuid": uuid}):
        answer = await client.post("/resource_providers", body)
        assert (answer.status_code, code(answer)) == (409, "placement.duplicate_name")
    await client.provider("two")
    assert (await client.put(f"/resource_providers/{uuid}", {"name": "two"})).status_code == 409


async def test_bad_bodies_are_refused(client: Client) -> None:
    for body in ({}, {"name": ""}, {"name": "x" * 201}, {"name": "a", "uuid": "no"}, {"name": "a", "extra": 1}):
        assert (await client.post("/resource_providers", body)).status_code == 400
    assert (await client.at("1.13").post("/resource_providers", {"name": "a", "parent_provider_uuid": None})).status_code == 400
    assert (await client.post("/resource_providers", {"name": "a", "parent_provider_uuid": new_uuid()})).status_code == 400


async def test_a_moved_tree_is_found_under_its_new_root(client: Client) -> None:
    """C137."""
    alt, parent = await client.provider("alt"), await client.provider("parent")
    child = await client.provider("child", parent)
    moved = await client.put(f"/resource_providers/{parent}", {"name": "parent", "parent_provider_uuid": alt})
    assert moved.json()["root_provider_uuid"] == alt
    assert (await client.get(f"/resource_providers/{child}")).json()["root_provider_uuid"] == alt
    tree = (await client.get(f"/resource_providers?in_tree={alt}")).json()["resource_providers"]
    assert {provider["uuid"] for provider in tree} == {alt, parent, child}
    loop = await client.put(f"/resource_providers/{alt}", {"name": "alt", "parent_provider_uuid": child})
    assert loop.status_code == 400
    again = {"name": "child", "parent_provider_uuid": alt}
    assert (await client.at("1.36").put(f"/resource_providers/{child}", again)).status_code == 400
    assert (await client.put(f"/resource_providers/{child}", again)).status_code == 200
    free = await client.put(f"/resource_providers/{child}", {"name": "child", "parent_provider_uuid": None})
    assert free.json()["root_provider_uuid"] == child


async def test_three_levels_go_leaves_first(client: Client) -> None:
    """C159."""
    root = await client.provider()
    child = await client.provider(parent=root, VCPU=1)
    leaf = await client.provider(parent=child, VCPU=1)
    refused = await client.delete(f"/resource_providers/{root}")
    assert (refused.status_code, code(refused)) == (409, "placement.resource_provider.cannot_delete_parent")
    for uuid in (leaf, child, root):
        assert (await client.delete(f"/resource_providers/{uuid}")).status_code == 204


async def test_a_provider_in_use_stays(client: Client) -> None:
    uuid = await client.provider(VCPU=4)
    await client.claim(new_uuid(), uuid, VCPU=1)
    refused = await client.delete(f"/resource_providers/{uuid}")
    assert (refused.status_code, code(refused)) == (409, "placement.resource_provider.inuse")


async def test_lists_are_filtered(client: Client) -> None:
    small, large = await client.provider("small", VCPU=2), await client.provider("large", VCPU=8, DISK_GB=10)
    await client.traits(large, "HW_CPU_X86_VMX", "CUSTOM_GOLD")
    group = new_uuid()
    await client.aggregates(large, group)
    for query, expected in (
        ("name=small", {small}),
        ("name=none", set()),
        (f"uuid={large}", {large}),
        (f"uuid={new_uuid()}", set()),
        ("resources=VCPU:2", {small, large}),
        ("resources=VCPU:3", {large}),
        ("resources=VCPU:1,DISK_GB:1", {large}),
        (f"member_of={group}", {large}),
        (f"member_of=!{group}", {small}),
        (f"member_of=in:{group},{new_uuid()}", {large}),
        ("required=CUSTOM_GOLD", {large}),
        ("required=!CUSTOM_GOLD", {small}),
        ("required=in:CUSTOM_GOLD,HW_CPU_X86_AVX2&required=HW_CPU_X86_VMX", {large}),
        (f"in_tree={small}", {small}),
        ("name=small&resources=VCPU:3", set()),
    ):
        found = (await client.get(f"/resource_providers?{query}")).json()["resource_providers"]
        assert {provider["uuid"] for provider in found} == expected, query


async def test_bad_filters_are_refused(client: Client) -> None:
    for query in (
        "unknown=1",
        "uuid=x",
        "resources=VCPU",
        "required=NO_SUCH",
        "resources=CUSTOM_NO:1",
        "member_of=x",
        "required=",
    ):
        assert (await client.get(f"/resource_providers?{query}")).status_code == 400, query
    for version, query in (("1.2", "member_of=x"), ("1.3", "resources=VCPU:1"), ("1.17", "required=HW_CPU_X86_VMX")):
        assert (await client.at(version).get(f"/resource_providers?{query}")).status_code == 400


async def test_inventories_are_replaced_and_changed_one_by_one(client: Client) -> None:
    uuid = await client.provider(VCPU=4)
    path = f"/resource_providers/{uuid}/inventories"
    added = await client.post(path, {"resource_class": "DISK_GB", "total": 10})
    assert (added.status_code, added.json()["resource_provider_generation"]) == (201, 2)
    assert (await client.post(path, {"resource_class": "DISK_GB", "total": 10})).status_code == 409
    stale = await client.put(f"{path}/VCPU", {"resource_provider_generation": 1, "total": 5})
    assert (stale.status_code, code(stale)) == (409, "placement.concurrent_update")
    await client.put(f"{path}/VCPU", {"resource_provider_generation": 2, "total": 5, "allocation_ratio": 1.5})
    assert (await client.get(f"{path}/VCPU")).json() == {
        "resource_provider_generation": 3,
        "total": 5,
        "reserved": 0,
        "min_unit": 1,
        "max_unit": 2147483647,
        "step_size": 1,
        "allocation_ratio": 1.5,
    }
    await client.claim(new_uuid(), uuid, VCPU=7)
    for answer in (await client.delete(path), await client.delete(f"{path}/VCPU")):
        assert (answer.status_code, code(answer)) == (409, "placement.inventory.inuse")
    assert (await client.delete(f"{path}/DISK_GB")).status_code == 204
    assert (await client.delete(f"{path}/DISK_GB")).status_code == 404
    assert (await client.get(f"{path}/DISK_GB")).status_code == 404
    assert (await client.at("1.4").delete(path)).status_code == 405
    usages = (await client.get(f"/resource_providers/{uuid}/usages")).json()
    assert usages == {"resource_provider_generation": 5, "usages": {"VCPU": 7}}


async def test_inventories_that_make_no_sense_are_refused(client: Client) -> None:
    uuid = await client.provider()
    for inventory in ({}, {"total": 0}, {"total": 1, "reserved": 2}, {"total": "1"}, {"total": 1, "x": 1}, {"total": 2**31}):
        body = {"resource_provider_generation": 0, "inventories": {"VCPU": inventory}}
        assert (await client.put(f"/resource_providers/{uuid}/inventories", body)).status_code == 400
    body = {"resource_provider_generation": 0, "inventories": {"CUSTOM_UNKNOWN": {"total": 1}}}
    assert (await client.put(f"/resource_providers/{uuid}/inventories", body)).status_code == 400
    reserved = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 1, "reserved": 1}}}
    assert (await client.at("1.25").put(f"/resource_providers/{uuid}/inventories", reserved)).status_code == 400
    assert (await client.at("1.26").put(f"/resource_providers/{uuid}/inventories", reserved)).status_code == 200


async def test_aggregates_know_generations_from_1_19(client: Client) -> None:
    uuid, group = await client.provider(), new_uuid()
    path = f"/resource_providers/{uuid}/aggregates"
    assert (await client.at("1.0").get(path)).status_code == 404
    assert (await client.at("1.1").put(path, [group])).json() == {"aggregates": [group]}
    assert (await client.put(path, [group])).status_code == 400
    set_again = await client.put(path, {"aggregates": [], "resource_provider_generation": 0})
    assert set_again.json() == {"aggregates": [], "resource_provider_generation": 1}
    assert (await client.put(path, {"aggregates": [], "resource_provider_generation": 0})).status_code == 409


async def test_traits_are_made_given_and_taken_away(client: Client) -> None:
    uuid = await client.provider()
    assert (await client.put("/traits/CUSTOM_A")).status_code == 201
    assert (await client.put("/traits/CUSTOM_A")).status_code == 204
    assert (await client.put("/traits/A")).status_code == 400
    assert (await client.get("/traits/CUSTOM_A")).status_code == 204
    assert (await client.get("/traits/CUSTOM_B")).status_code == 404
    await client.traits(uuid, "CUSTOM_A")
    body = {"traits": ["CUSTOM_NO"], "resource_provider_generation": 1}
    assert (await client.put(f"/resource_providers/{uuid}/traits", body)).status_code == 400
    assert (await client.get("/traits?associated=true")).json() == {"traits": ["CUSTOM_A"]}
    assert (await client.get("/traits?name=in:CUSTOM_A,HW_CPU_X86_VMX")).json() == {"traits": ["CUSTOM_A", "HW_CPU_X86_VMX"]}
    assert (await client.get("/traits?name=startswith:CUSTOM_")).json() == {"traits": ["CUSTOM_A"]}
    assert (await client.delete("/traits/CUSTOM_A")).status_code == 409
    assert (await client.delete(f"/resource_providers/{uuid}/traits")).status_code == 204
    assert (await client.delete("/traits/CUSTOM_A")).status_code == 204
    assert (await client.delete("/traits/CUSTOM_A")).status_code == 404
    assert (await client.delete("/traits/HW_CPU_X86_VMX")).status_code == 400


async def test_resource_classes_are_made_and_removed(client: Client) -> None:
    assert (await client.at("1.1").get("/resource_classes")).status_code == 404
    assert (await client.post("/resource_classes", {"name": "CUSTOM_A"})).status_code == 201
    assert (await client.post("/resource_classes", {"name": "CUSTOM_A"})).status_code == 409
    assert (await client.post("/resource_classes", {"name": "A"})).status_code == 400
    assert (await client.put("/resource_classes/CUSTOM_B")).status_code == 201
    assert (await client.put("/resource_classes/CUSTOM_B")).status_code == 204
    assert (await client.at("1.6").put("/resource_classes/CUSTOM_B", {"name": "CUSTOM_C"})).json()["name"] == "CUSTOM_C"
    listed = {entry["name"] for entry in (await client.get("/resource_classes")).json()["resource_classes"]}
    assert {"VCPU", "CUSTOM_A", "CUSTOM_C"} <= listed
    assert "CUSTOM_B" not in listed
    uuid = await client.provider(CUSTOM_A=1)
    assert (await client.delete("/resource_classes/CUSTOM_A")).status_code == 409
    await client.delete(f"/resource_providers/{uuid}/inventories")
    assert (await client.delete("/resource_classes/CUSTOM_A")).status_code == 204
    assert (await client.get("/resource_classes/CUSTOM_A")).status_code == 404
    assert (await client.delete("/resource_classes/VCPU")).status_code == 400


async def test_a_reshape_moves_inventories_with_their_allocations(client: Client) -> None:
    root = await client.provider(VCPU=4, DISK_GB=10)
    child = await client.provider(parent=root)
    consumer = new_uuid()
    await client.claim(consumer, root, VCPU=2, DISK_GB=1)
    body = {
        "inventories": {
            root: {"resource_provider_generation": 2, "inventories": {"DISK_GB": {"total": 10}}},
            child: {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 4}}},
        },
        "allocations": {consumer: holding({root: {"DISK_GB": 1}, child: {"VCPU": 2}}, 1)},
    }
    half = {**body, "allocations": {}}
    service = client.by("service")
    assert (await service.at("1.29").post("/reshaper", body)).status_code == 404
    assert (await client.post("/reshaper", body)).status_code == 403
    refused = await service.post("/reshaper", half)
    assert (refused.status_code, code(refused)) == (409, "placement.inventory.inuse")
    assert (await service.post("/reshaper", body)).status_code == 204
    assert (await client.get(f"/resource_providers/{child}/usages")).json()["usages"] == {"VCPU": 2}
    assert (await client.get(f"/resource_providers/{root}/usages")).json()["usages"] == {"DISK_GB": 1}
    stale = await service.post("/reshaper", body)
    assert (stale.status_code, code(stale)) == (409, "placement.concurrent_update")


@pytest.fixture
async def elsewhere(database: Database) -> AsyncIterator[Client]:
    """The placement face of another process."""
    face = placement_face(PlacementParts(database, LedgerIndex(database)), FakeAuthenticator())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(face), base_url="http://test/placement") as http:
        yield Client(http)


WRITES = {
    "inventories": {"inventories": {"VCPU": {"total": 4}}},
    "traits": {"traits": ["HW_CPU_X86_AVX2"]},
    "aggregates": {"aggregates": [new_uuid()]},
}


@pytest.mark.parametrize("part", WRITES)
async def test_what_another_process_did_to_a_provider_a_moment_ago_is_known_to_who_writes_to_it(
    client: Client, elsewhere: Client, part: str
) -> None:
    uuid = await elsewhere.provider("one")
    path = f"/resource_providers/{uuid}/{part}"
    body = {**WRITES[part], "resource_provider_generation": 0}
    assert (await client.put(path, body)).status_code == 200
    assert (await elsewhere.get(path)).json()["resource_provider_generation"] == 1
    assert (await elsewhere.put(path, body)).status_code == 409
    if part == "inventories":
        assert (await elsewhere.delete(path)).status_code == 204

    # when it is removed, and made anew
    assert (await elsewhere.delete(f"/resource_providers/{uuid}")).status_code == 204
    gone = await client.put(path, body)
    assert (gone.status_code, code(gone)) == (404, "placement.resource_provider.not_found")
    assert (await client.get(path)).status_code == 404
    assert (await elsewhere.post("/resource_providers", {"name": "one", "uuid": uuid})).status_code == 200
    assert (await client.get(path)).status_code == 200
    assert (await elsewhere.delete(f"/resource_providers/{uuid}")).status_code == 204
    assert (await elsewhere.post("/resource_providers", {"name": "one", "uuid": uuid})).status_code == 200
    assert (await client.put(path, body)).status_code == 200
