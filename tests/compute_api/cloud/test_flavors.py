import pytest

from .site import Cloud, Q


async def test_a_flavor_shows_what_its_version_shows(cloud: Cloud) -> None:
    await cloud.flavor("f1", description="small", **{"OS-FLV-EXT-DATA:ephemeral": 2})
    old = (await cloud.get("/flavors/f1"))["flavor"]
    assert old["swap"] == ""
    assert old["OS-FLV-EXT-DATA:ephemeral"] == 2
    assert old["links"][0]["href"] == "http://cloud/compute/v2.1/flavors/f1"
    assert old["links"][1]["href"] == "http://cloud/compute/flavors/f1"
    assert not {"description", "extra_specs"} & old.keys()
    assert (await cloud.get("/flavors/f1", at="2.55"))["flavor"]["description"] == "small"
    new = (await cloud.get("/flavors/f1", at="2.104"))["flavor"]
    assert (new["swap"], new["extra_specs"]) == (0, {})


async def test_an_id_is_made_where_none_or_auto_is_given(cloud: Cloud) -> None:
    for number, given in enumerate((None, "auto")):
        flavor = await cloud.flavor(f"n{number}", id=given)
        assert len(flavor["id"]) == 36


@pytest.mark.parametrize(
    "bad",
    [
        {"ram": 0},
        {"vcpus": "x"},
        {"disk": -1},
        {"name": " "},
        {"id": "a/b"},
        {"rxtx_factor": 0},
        {"unknown": 1},
        {"vcpus": 2**31},
    ],
)
async def test_a_flavor_that_cannot_be_is_refused(cloud: Cloud, bad: dict[str, object]) -> None:
    body = {"flavor": {"name": "f", "ram": 1, "vcpus": 1, "disk": 0, **bad}}
    assert (await cloud.call("POST", "/flavors", body)).status_code == 400


async def test_a_taken_name_or_id_is_a_conflict(cloud: Cloud) -> None:
    await cloud.flavor("f1")
    for name, flavorid in (("f1", "x"), ("x", "f1")):
        body = {"flavor": {"name": name, "id": flavorid, "ram": 1, "vcpus": 1, "disk": 0}}
        answer = await cloud.call("POST", "/flavors", body)
        assert answer.status_code == 409
        assert "f1" in answer.json()["conflictingRequest"]["message"]


async def test_only_administrators_make_flavors(cloud: Cloud) -> None:
    body = {"flavor": {"name": "f", "ram": 1, "vcpus": 1, "disk": 0}}
    assert (await cloud.call("POST", "/flavors", body, who="user")).status_code == 403


async def test_a_list_is_filtered_sorted_and_paged(cloud: Cloud) -> None:
    for name, ram, disk in (("a", 512, 1), ("b", 2048, 20), ("c", 1024, 10)):
        await cloud.flavor(name, ram=ram, disk=disk)

    async def ids(query: str) -> list[str]:
        return [flavor["id"] for flavor in (await cloud.get(f"/flavors?{query}"))["flavors"]]

    assert await ids("minRam=1000") == ["b", "c"]
    assert await ids("minDisk=15") == ["b"]
    assert await ids("sort_key=memory_mb&sort_dir=desc") == ["b", "c", "a"]
    assert await ids("sort_key=updated_at") == ["a", "b", "c"]
    assert await ids("marker=a&limit=1") == ["b"]
    page = await cloud.get("/flavors/detail?limit=2")
    assert page["flavors_links"][0]["href"].endswith("limit=2&marker=b")
    for bad in ("marker=zz", "minRam=x", "sort_key=zz", "sort_dir=up", "limit=-1", "is_public=maybe"):
        assert (await cloud.call("GET", f"/flavors?{bad}")).status_code == 400, bad


async def test_unknown_parameters_are_ignored_until_275(cloud: Cloud) -> None:
    assert (await cloud.call("GET", "/flavors?colour=red", at="2.74")).status_code == 200
    assert (await cloud.call("GET", "/flavors?colour=red", at="2.75")).status_code == 400


async def test_a_private_flavor_is_for_those_who_were_given_it(cloud: Cloud) -> None:
    await cloud.flavor("pub")
    await cloud.flavor("priv", **{"os-flavor-access:is_public": False})

    async def seen(who: str, query: str = "") -> list[str]:
        return [flavor["id"] for flavor in (await cloud.get(f"/flavors{query}", who=who))["flavors"]]

    assert await seen("other", "?is_public=None") == ["pub"]
    assert (await cloud.call("GET", "/flavors/priv", who="other")).status_code == 404
    answer = await cloud.call("POST", "/flavors/priv/action", {"addTenantAccess": {"tenant": Q}})
    assert answer.json() == {"flavor_access": [{"flavor_id": "priv", "tenant_id": Q}]}
    assert (await cloud.call("POST", "/flavors/priv/action", {"addTenantAccess": {"tenant": Q}})).status_code == 409
    assert await seen("other") == ["priv", "pub"]
    assert await seen("user") == ["pub"]
    assert await seen("admin") == ["pub"]
    assert await seen("admin", "?is_public=None") == ["priv", "pub"]
    assert await seen("admin", "?is_public=False") == ["priv"]
    assert (await cloud.get("/flavors/priv/os-flavor-access"))["flavor_access"][0]["tenant_id"] == Q
    assert (await cloud.call("POST", "/flavors/priv/action", {"removeTenantAccess": {"tenant": Q}})).status_code == 200
    assert (await cloud.call("POST", "/flavors/priv/action", {"removeTenantAccess": {"tenant": Q}})).status_code == 404
    assert (await cloud.call("GET", "/flavors/pub/os-flavor-access")).status_code == 404


async def test_access_to_a_public_flavor_is_refused_since_27(cloud: Cloud) -> None:
    await cloud.flavor("pub")
    body = {"addTenantAccess": {"tenant": Q}}
    assert (await cloud.call("POST", "/flavors/pub/action", body, at="2.7")).status_code == 409
    assert (await cloud.call("POST", "/flavors/pub/action", body, who="user")).status_code == 403
    assert (await cloud.call("POST", "/flavors/pub/action", body, at="2.6")).status_code == 200


async def test_a_description_is_edited_since_255(cloud: Cloud) -> None:
    await cloud.flavor("f1")
    body = {"flavor": {"description": "new"}}
    assert (await cloud.call("PUT", "/flavors/f1", body, at="2.54")).status_code == 404
    assert (await cloud.call("PUT", "/flavors/f1", body, at="2.55")).json()["flavor"]["description"] == "new"
    assert (await cloud.call("PUT", "/flavors/zz", body, at="2.55")).status_code == 404


async def test_a_deleted_flavor_is_gone(cloud: Cloud) -> None:
    await cloud.flavor("f1")
    assert (await cloud.call("DELETE", "/flavors/f1")).status_code == 202
    assert (await cloud.call("DELETE", "/flavors/f1")).status_code == 404
    await cloud.flavor("f1")


async def test_extra_specs_are_added_changed_and_removed(cloud: Cloud) -> None:
    await cloud.flavor("f1")
    path = "/flavors/f1/os-extra_specs"
    answer = await cloud.call("POST", path, {"extra_specs": {"hw:numa_nodes": "1", "a": 2}})
    assert answer.json() == {"extra_specs": {"hw:numa_nodes": "1", "a": "2"}}
    assert (await cloud.call("PUT", f"{path}/a", {"a": "3"})).json() == {"a": "3"}
    assert (await cloud.call("PUT", f"{path}/a", {"b": "3"})).status_code == 400
    assert await cloud.get(path, who="user") == {"extra_specs": {"hw:numa_nodes": "1", "a": "3"}}
    assert await cloud.get(f"{path}/a") == {"a": "3"}
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 200
    assert (await cloud.call("DELETE", f"{path}/a")).status_code == 404
    assert (await cloud.call("GET", f"{path}/a")).status_code == 404
    assert (await cloud.call("POST", path, {"extra_specs": {"b": "1"}}, who="user")).status_code == 403
    assert (await cloud.call("POST", path, {"extra_specs": {"b/c": "1"}})).status_code == 400


@pytest.mark.parametrize(
    ("key", "value", "right"),
    [
        ("trait:CUSTOM_BAD", "forbidden", True),
        ("trait1:HW_CPU_X86_VMX", "maybe", False),
        ("resources:VGPU", "1", True),
        ("resources_A:VGPU", "many", False),
        ("hw:cpu_policy", "dedicated", True),
        ("hw:cpu_policy", "none", False),
        ("hw:foo", "1", False),
        ("quota:disk_read_bytes_sec", "1000", True),
        ("nonsense", "1", False),
        ("my:own", "anything", True),
        ("aggregate_instance_extra_specs:ssd", "true", True),
    ],
)
async def test_extra_specs_are_checked_since_286(cloud: Cloud, key: str, value: str, right: bool) -> None:
    await cloud.flavor("f1")
    body = {"extra_specs": {key: value}}
    assert (await cloud.call("POST", "/flavors/f1/os-extra_specs", body, at="2.86")).status_code == (200 if right else 400)
    assert (await cloud.call("POST", "/flavors/f1/os-extra_specs", body, at="2.85")).status_code == 200
