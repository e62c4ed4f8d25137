import pytest

from .cloud import PASSWORD, Cloud, on


async def test_a_project_is_made_shown_changed_and_deleted(cloud: Cloud) -> None:
    made = await cloud.ask("POST", "/v3/projects", {"project": {"name": "red", "description": None, "tags": []}})
    assert made.status_code == 201
    project = made.json()["project"]
    path = f"/v3/projects/{project['id']}"
    assert (await cloud.ask("GET", path)).json()["project"] == project
    assert [item["name"] for item in (await cloud.ask("GET", "/v3/projects?name=red")).json()["projects"]] == ["red"]
    changed = await cloud.ask("PATCH", path, {"project": {"enabled": False}})
    assert changed.json()["project"] == {**project, "enabled": False}
    assert (await cloud.ask("GET", "/v3/projects?name=red&enabled=true")).json()["projects"] == []
    assert (await cloud.ask("DELETE", path)).status_code == 204
    assert (await cloud.ask("GET", path)).status_code == 404


async def test_a_name_is_given_once(cloud: Cloud) -> None:
    for path, body in (
        ("/v3/projects", {"project": {"name": "admin"}}),
        ("/v3/users", {"user": {"name": "admin"}}),
        ("/v3/roles", {"role": {"name": "admin"}}),
    ):
        assert (await cloud.ask("POST", path, body)).status_code == 409


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v3/projects", {"project": {}}, "project"),
        ("/v3/projects", {"project": {"name": " "}}, "project/name"),
        ("/v3/projects", {"project": {"name": "a\0b"}}, "project/name"),
        ("/v3/projects", {"project": {"name": "x", "parent_id": "other"}}, "project/parent_id"),
        ("/v3/users", {"user": {"name": "x", "enabled": "yes"}}, "user/enabled"),
        ("/v3/users", {"user": {"name": "x", "shoe_size": 42}}, "user"),
    ],
)
async def test_a_bad_body_is_refused_with_the_name_of_the_field(cloud: Cloud, path: str, body: object, field: str) -> None:
    answer = await cloud.ask("POST", path, body)
    assert answer.status_code == 400
    assert f"field/attribute {field}." in answer.json()["error"]["message"]


async def test_a_members_token_knows_its_roles_and_may_not_administer(cloud: Cloud) -> None:
    user_id, project_id = await cloud.new_user("ann", "red", "member")
    login = await cloud.log_in("ann", PASSWORD, on("red"))
    token = login.headers["X-Subject-Token"]
    assert {role["name"] for role in login.json()["token"]["roles"]} == {"member", "reader"}
    for path in ("/v3/projects", "/v3/users", "/v3/role_assignments", "/v3/users/other/projects"):
        assert (await cloud.ask("GET", path, token=token)).status_code == 403
    assert (await cloud.ask("GET", f"/v3/projects/{project_id}", token=token)).status_code == 200
    assert (await cloud.ask("GET", f"/v3/users/{user_id}", token=token)).json()["user"]["name"] == "ann"
    for path in ("/v3/auth/projects", f"/v3/users/{user_id}/projects"):
        shown = (await cloud.ask("GET", path, token=token)).json()["projects"]
        assert [project["id"] for project in shown] == [project_id]
    assert (await cloud.ask("GET", "/v3/auth/system", token=token)).json()["system"] == []
    assert len((await cloud.ask("GET", "/v3/auth/catalog", token=token)).json()["catalog"]) == 5


async def test_taking_a_role_works_at_once(cloud: Cloud) -> None:
    user_id, project_id = await cloud.new_user("ann", "red", "member")
    token = (await cloud.log_in("ann", PASSWORD, on("red"))).headers["X-Subject-Token"]
    assert (await cloud.service.caller(token)).roles == {"member", "reader"}
    given = f"/v3/projects/{project_id}/users/{user_id}/roles"
    role_id = (await cloud.ask("GET", given)).json()["roles"][0]["id"]
    assert (await cloud.ask("HEAD", f"{given}/{role_id}")).status_code == 204
    assert (await cloud.ask("DELETE", f"{given}/{role_id}")).status_code == 204
    assert (await cloud.ask("GET", f"{given}/{role_id}")).status_code == 404
    assert (await cloud.ask("GET", "/v3/auth/projects", token=token)).status_code == 401


async def test_a_changed_password_ends_the_tokens_made_before(cloud: Cloud) -> None:
    user_id, _ = await cloud.new_user("ann", "red", "member")
    token = (await cloud.log_in("ann", PASSWORD, on("red"))).headers["X-Subject-Token"]
    path = f"/v3/users/{user_id}/password"
    wrong = {"user": {"original_password": "guess", "password": "new"}}
    assert (await cloud.ask("POST", path, wrong, token=token)).status_code == 401
    right = {"user": {"original_password": PASSWORD, "password": "new"}}
    assert (await cloud.ask("POST", path, right)).status_code == 403
    assert (await cloud.ask("POST", path, right, token=token)).status_code == 204
    assert (await cloud.ask("GET", "/v3/auth/projects", token=token)).status_code == 401
    assert (await cloud.log_in("ann", PASSWORD, on("red"))).status_code == 401
    assert (await cloud.log_in("ann", "new", on("red"))).status_code == 201


async def test_a_disabled_user_and_one_without_a_password_cannot_log_in(cloud: Cloud) -> None:
    user_id, _ = await cloud.new_user("ann", "red", "member")
    await cloud.ask("PATCH", f"/v3/users/{user_id}", {"user": {"enabled": False, "description": None}})
    assert (await cloud.log_in("ann", PASSWORD)).status_code == 401
    await cloud.ask("PATCH", f"/v3/users/{user_id}", {"user": {"enabled": True, "password": None}})
    assert (await cloud.log_in("ann", PASSWORD)).status_code == 401
    assert (await cloud.ask("DELETE", f"/v3/users/{user_id}")).status_code == 204
    assert (await cloud.ask("GET", f"/v3/role_assignments?user.id={user_id}")).json()["role_assignments"] == []


async def test_assignments_are_narrowed_named_and_widened(cloud: Cloud) -> None:
    user_id, project_id = await cloud.new_user("ann", "red", "manager")
    path = f"/v3/role_assignments?user.id={user_id}&include_names=true"
    (shown,) = (await cloud.ask("GET", path)).json()["role_assignments"]
    assert (shown["user"]["name"], shown["role"]["name"]) == ("ann", "manager")
    assert shown["scope"]["project"]["id"] == project_id
    effective = (await cloud.ask("GET", f"{path}&effective")).json()["role_assignments"]
    assert {item["role"]["name"] for item in effective} == {"manager", "member", "reader"}
    system = (await cloud.ask("GET", "/v3/role_assignments?scope.system=all")).json()["role_assignments"]
    assert [item["scope"] for item in system] == [{"system": {"all": True}}]


async def test_a_role_on_the_system_is_given_and_taken(cloud: Cloud) -> None:
    user_id, _ = await cloud.new_user("ann", "red", "member")
    role_id = (await cloud.ask("GET", "/v3/roles?name=reader")).json()["roles"][0]["id"]
    path = f"/v3/system/users/{user_id}/roles"
    assert (await cloud.ask("PUT", f"{path}/{role_id}")).status_code == 204
    assert (await cloud.ask("PUT", f"{path}/{role_id}")).status_code == 204
    assert [role["name"] for role in (await cloud.ask("GET", path)).json()["roles"]] == ["reader"]
    token = (await cloud.log_in("ann", PASSWORD, {"system": {"all": True}})).headers["X-Subject-Token"]
    assert (await cloud.ask("GET", "/v3/users", token=token)).status_code == 200
    assert (await cloud.ask("DELETE", f"{path}/{role_id}")).status_code == 204


async def test_roles_that_policies_name_are_fixed_and_others_are_free(cloud: Cloud) -> None:
    fixed = (await cloud.ask("GET", "/v3/roles?name=member")).json()["roles"][0]["id"]
    assert (await cloud.ask("DELETE", f"/v3/roles/{fixed}")).status_code == 403
    made = (await cloud.ask("POST", "/v3/roles", {"role": {"name": "auditor"}})).json()["role"]["id"]
    renamed = await cloud.ask("PATCH", f"/v3/roles/{made}", {"role": {"name": "watcher"}})
    assert renamed.json()["role"]["name"] == "watcher"
    assert (await cloud.ask("DELETE", f"/v3/roles/{made}")).status_code == 204
    assert (await cloud.ask("GET", f"/v3/roles/{made}")).status_code == 404


async def test_what_is_fixed_can_be_read(cloud: Cloud) -> None:
    for word in ("domain", "region", "service", "endpoint"):
        items = (await cloud.ask("GET", f"/v3/{word}s")).json()[f"{word}s"]
        assert (await cloud.ask("GET", f"/v3/{word}s/{items[0]['id']}")).json()[word] == items[0]
        assert (await cloud.ask("GET", f"/v3/{word}s/none")).status_code == 404
    (compute,) = (await cloud.ask("GET", "/v3/services?type=compute")).json()["services"]
    endpoints = (await cloud.ask("GET", f"/v3/endpoints?service_id={compute['id']}&interface=public")).json()
    assert endpoints["endpoints"][0]["url"].endswith("/compute/v2.1")
