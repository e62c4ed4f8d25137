import httpx

from kilonova.storage import quotas

from .site import Cloud, P, Q


async def _absolute(cloud: Cloud, query: str = "", **how: str) -> dict[str, int]:
    absolute: dict[str, int] = (await cloud.get(f"/limits{query}", **how))["limits"]["absolute"]
    return absolute


async def _set(cloud: Cloud, project: str, query: str = "", at: str = "2.57", **limits: object) -> httpx.Response:
    return await cloud.call("PUT", f"/os-quota-sets/{project}{query}", {"quota_set": limits}, at=at)


async def test_limits_lose_keys_with_versions(cloud: Cloud) -> None:
    old = await _absolute(cloud, who="user")
    assert (old["maxTotalInstances"], old["totalInstancesUsed"], old["maxTotalFloatingIps"]) == (10, 0, -1)
    assert not {"maxTotalFloatingIps", "maxSecurityGroups"} & (await _absolute(cloud, at="2.36")).keys()
    assert "maxImageMeta" in await _absolute(cloud, at="2.38")
    assert "maxImageMeta" not in await _absolute(cloud, at="2.39")
    assert "maxPersonality" in await _absolute(cloud, at="2.56")
    assert "maxPersonality" not in await _absolute(cloud, at="2.57")


async def test_administrators_see_the_limits_of_others(cloud: Cloud) -> None:
    await _set(cloud, Q, instances=3)
    assert (await _absolute(cloud, f"?tenant_id={Q}"))["maxTotalInstances"] == 3
    assert (await _absolute(cloud, "?reserved=1"))["maxTotalInstances"] == 10
    assert (await cloud.call("GET", f"/limits?tenant_id={Q}", who="user")).status_code == 403


async def test_a_quota_set_is_changed_and_forgotten(cloud: Cloud) -> None:
    answer = await _set(cloud, P, cores="40", instances=-1)
    assert answer.json()["quota_set"] == {
        "instances": -1,
        "cores": 40,
        "ram": 51200,
        "metadata_items": 128,
        "key_pairs": 3,
        "server_groups": 2,
        "server_group_members": 10,
    }
    assert (await cloud.get(f"/os-quota-sets/{P}", who="user"))["quota_set"]["cores"] == 40
    assert (await cloud.get(f"/os-quota-sets/{P}/defaults", who="user"))["quota_set"]["cores"] == 20
    detail = (await cloud.get(f"/os-quota-sets/{P}/detail", who="user"))["quota_set"]
    assert detail["cores"] == {"limit": 40, "in_use": 0, "reserved": 0}
    assert (await cloud.call("GET", f"/os-quota-sets/{Q}", who="user")).status_code == 403
    assert (await cloud.call("DELETE", f"/os-quota-sets/{P}")).status_code == 202
    assert (await cloud.get(f"/os-quota-sets/{P}"))["quota_set"]["cores"] == 20


async def test_a_limit_below_what_is_used_needs_force(cloud: Cloud) -> None:
    body = {"server_group": {"name": "g", "policies": ["affinity"]}}
    for _ in range(2):
        await cloud.call("POST", "/os-server-groups", body)
    assert (await _set(cloud, P, server_groups=1)).status_code == 400
    assert (await _set(cloud, P, server_groups=1, force=True)).status_code == 200


async def test_what_is_no_limit_is_refused(cloud: Cloud) -> None:
    for bad in ({"cores": -2}, {"cores": "x"}, {"cores": 2**31}, {"zz": 1}, {"floating_ips": 1}):
        assert (await _set(cloud, P, **bad)).status_code == 400
    assert (await _set(cloud, P, at="2.35", floating_ips=1)).status_code == 200
    assert (await cloud.call("PUT", f"/os-quota-sets/{P}", {"quota_set": {}}, who="user")).status_code == 403


async def test_one_user_of_a_project_can_be_limited(cloud: Cloud) -> None:
    assert (await _set(cloud, P, "?user_id=u-user", instances=1)).status_code == 200
    assert (await _set(cloud, P, "?user_id=u-user", instances=11)).status_code == 400
    await cloud.server("s")
    detail = (await cloud.get(f"/os-quota-sets/{P}/detail?user_id=u-user"))["quota_set"]
    assert (detail["instances"], detail["cores"]["in_use"]) == ({"limit": 1, "in_use": 1, "reserved": 0}, 1)
    assert (await cloud.get(f"/os-quota-sets/{P}"))["quota_set"]["instances"] == 10
    async with cloud.database.read() as tx:
        assert await quotas.user_limits_of(tx, P, "u-user") == {"instances": 1}
    await cloud.call("DELETE", f"/os-quota-sets/{P}?user_id=u-user")
    assert (await cloud.get(f"/os-quota-sets/{P}?user_id=u-user"))["quota_set"]["instances"] == 10


async def test_the_default_class_is_for_everybody(cloud: Cloud) -> None:
    answer = await cloud.call("PUT", "/os-quota-class-sets/default", {"quota_class_set": {"instances": 7}}, at="2.57")
    assert answer.json()["quota_class_set"]["instances"] == 7
    assert (await _absolute(cloud, who="other"))["maxTotalInstances"] == 7
    shown = await cloud.get("/os-quota-class-sets/default", at="2.49")
    assert "server_groups" not in shown["quota_class_set"]
    assert (await cloud.call("GET", "/os-quota-class-sets/zz")).status_code == 404


async def test_extensions_are_listed(cloud: Cloud) -> None:
    aliases = {entry["alias"] for entry in (await cloud.get("/extensions", who="user"))["extensions"]}
    assert "os-keypairs" in aliases
    assert (await cloud.get("/extensions/os-keypairs"))["extension"]["alias"] == "os-keypairs"
    assert (await cloud.call("GET", "/extensions/zz")).status_code == 404
