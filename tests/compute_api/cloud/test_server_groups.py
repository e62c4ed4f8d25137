from typing import Any

from .site import Cloud, P

BODY = {"server_group": {"name": "g", "policy": "anti-affinity", "rules": {"max_server_per_host": "3"}}}


async def _made(cloud: Cloud, who: str = "user") -> dict[str, Any]:
    answer = await cloud.call("POST", "/os-server-groups", BODY, at="2.64", who=who)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()["server_group"]
    return made


async def test_a_group_shows_policies_before_and_a_policy_since_264(cloud: Cloud) -> None:
    group = await _made(cloud)
    assert (group["policy"], group["rules"], group["project_id"]) == ("anti-affinity", {"max_server_per_host": 3}, P)
    assert not {"policies", "metadata"} & group.keys()
    old = (await cloud.get(f"/os-server-groups/{group['id']}", who="user"))["server_group"]
    assert (old["policies"], old["metadata"]) == (["anti-affinity"], {})
    assert not {"policy", "rules", "project_id", "user_id"} & old.keys()


async def test_soft_policies_came_with_215(cloud: Cloud) -> None:
    body = {"server_group": {"name": "g", "policies": ["soft-affinity"]}}
    assert (await cloud.call("POST", "/os-server-groups", body, at="2.14", who="user")).status_code == 400
    assert (await cloud.call("POST", "/os-server-groups", body, at="2.15", who="user")).status_code == 200


async def test_rules_are_for_anti_affinity(cloud: Cloud) -> None:
    body = {"server_group": {**BODY["server_group"], "policy": "affinity"}}
    assert (await cloud.call("POST", "/os-server-groups", body, at="2.64", who="user")).status_code == 400


async def test_members_are_the_live_servers(cloud: Cloud) -> None:
    group = await _made(cloud)
    live = await cloud.server("a", group_id=group["id"])
    await cloud.server("b", group_id=group["id"], deleted=True)
    shown = await cloud.get(f"/os-server-groups/{group['id']}", who="user")
    assert shown["server_group"]["members"] == [live]


async def test_a_project_sees_its_own_groups(cloud: Cloud) -> None:
    mine, theirs = await _made(cloud), await _made(cloud, "other")
    assert (await cloud.call("GET", f"/os-server-groups/{theirs['id']}", who="user")).status_code == 404
    assert (await cloud.call("DELETE", f"/os-server-groups/{theirs['id']}", who="user")).status_code == 404

    async def listed(who: str, query: str = "") -> list[str]:
        return [group["id"] for group in (await cloud.get(f"/os-server-groups{query}", who=who))["server_groups"]]

    assert await listed("user", "?all_projects=1") == [mine["id"]]
    assert await listed("admin", "?all_projects=1") == [mine["id"], theirs["id"]]
    assert await listed("admin", "?all_projects=1&limit=1&offset=1") == [theirs["id"]]


async def test_a_deleted_group_is_gone_and_quota_holds(cloud: Cloud) -> None:
    first, _ = await _made(cloud), await _made(cloud)
    assert (await cloud.call("POST", "/os-server-groups", BODY, at="2.64", who="user")).status_code == 403
    assert (await cloud.call("DELETE", f"/os-server-groups/{first['id']}", who="user")).status_code == 204
    assert (await cloud.call("DELETE", f"/os-server-groups/{first['id']}", who="user")).status_code == 404
    await _made(cloud)
