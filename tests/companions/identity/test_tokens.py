from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.tokens import load_keys
from kilonova.domain.errors import Unauthorized
from kilonova.settings import IdentitySettings

from .cloud import KEYS, PASSWORD, URL, Cloud, on


async def test_anybody_may_ask_which_versions_there_are(cloud: Cloud) -> None:
    choice = await cloud.ask("GET", "", token="")
    assert choice.status_code == 300
    assert choice.json()["versions"]["values"][0]["links"] == [{"rel": "self", "href": f"{URL}/identity/v3/"}]
    assert (await cloud.ask("GET", "/v3", token="")).json()["version"]["status"] == "stable"


async def test_a_login_on_a_project_gives_roles_catalog_and_a_token(cloud: Cloud) -> None:
    answer = await cloud.log_in("admin", PASSWORD, on("admin"))
    assert answer.status_code == 201
    token = answer.json()["token"]
    assert {role["name"] for role in token["roles"]} == {"admin", "manager", "member", "reader"}
    assert token["project"]["name"] == "admin"
    urls = {entry["type"]: entry["endpoints"][0]["url"] for entry in token["catalog"]}
    assert urls == {
        "identity": f"{URL}/identity",
        "compute": f"{URL}/compute/v2.1",
        "placement": f"{URL}/placement",
        "image": f"{URL}/image",
        "network": f"{URL}/network",
    }
    assert {endpoint["interface"] for endpoint in token["catalog"][0]["endpoints"]} == {"public", "internal", "admin"}
    assert datetime.fromisoformat(token["expires_at"]) > datetime.now(UTC)
    caller = await cloud.service.caller(answer.headers["X-Subject-Token"])
    assert caller.is_admin
    assert caller.project_name == "admin"


async def test_without_a_scope_a_login_is_for_the_users_own_project(cloud: Cloud) -> None:
    assert (await cloud.log_in("admin", PASSWORD)).json()["token"]["project"]["name"] == "admin"
    unscoped = (await cloud.log_in("admin", PASSWORD, "unscoped")).json()["token"]
    assert not {"project", "roles", "catalog"} & set(unscoped)


async def test_a_login_on_the_system_is_known_as_such(cloud: Cloud) -> None:
    answer = await cloud.log_in("admin", PASSWORD, {"system": {"all": True}})
    assert answer.json()["token"]["system"] == {"all": True}
    caller = await cloud.service.caller(answer.headers["X-Subject-Token"])
    assert caller.system
    assert caller.project_id == ""


@pytest.mark.parametrize(
    ("name", "password", "scope"),
    [
        ("admin", "wrong", None),
        ("nobody", PASSWORD, None),
        ("admin", PASSWORD, on("service")),
        ("admin", PASSWORD, on("nowhere")),
        ("admin", PASSWORD, {"project": {"id": "system"}}),
        ("admin", PASSWORD, {"domain": {"id": "default"}}),
    ],
)
async def test_a_login_that_is_not_right_is_refused(cloud: Cloud, name: str, password: str, scope: object) -> None:
    answer = await cloud.log_in(name, password, scope)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == 401


@pytest.mark.parametrize(
    "auth",
    [{}, {"identity": {"methods": []}}, {"identity": {"methods": ["password"]}}, {"identity": {"methods": "password"}}],
)
async def test_a_malformed_login_is_a_bad_request(cloud: Cloud, auth: object) -> None:
    assert (await cloud.ask("POST", "/v3/auth/tokens", {"auth": auth}, token="")).status_code == 400


async def test_a_token_made_from_a_token_ends_with_it(cloud: Cloud) -> None:
    first = await cloud.log_in("admin", PASSWORD, "unscoped")
    identity = {"methods": ["token"], "token": {"id": first.headers["X-Subject-Token"]}}
    second = await cloud.ask("POST", "/v3/auth/tokens", {"auth": {"identity": identity, "scope": on("admin")}}, token="")
    assert second.status_code == 201
    assert second.json()["token"]["expires_at"] == first.json()["token"]["expires_at"]
    assert second.json()["token"]["audit_ids"][1] == first.json()["token"]["audit_ids"][0]


async def test_a_token_can_be_looked_at_and_revoked_at_once(cloud: Cloud) -> None:
    token = (await cloud.log_in("admin", PASSWORD)).headers["X-Subject-Token"]
    await cloud.service.caller(token)
    subject = {"X-Subject-Token": token}
    assert (await cloud.ask("GET", "/v3/auth/tokens", **subject)).json()["token"]["user"]["name"] == "admin"
    assert "catalog" not in (await cloud.ask("GET", "/v3/auth/tokens?nocatalog", **subject)).json()["token"]
    assert (await cloud.ask("HEAD", "/v3/auth/tokens", **subject)).status_code == 200
    assert (await cloud.ask("DELETE", "/v3/auth/tokens", **subject)).status_code == 204
    assert (await cloud.ask("GET", "/v3/auth/tokens", **subject)).status_code == 404
    assert (await cloud.ask("GET", "/v3/projects", token=token)).status_code == 401


async def test_another_process_learns_of_a_revocation_from_the_database(cloud: Cloud) -> None:
    other = EmbeddedIdentity(cloud.database, KEYS, IdentitySettings())
    await cloud.service.revoke(await cloud.service.session(cloud.token))
    with pytest.raises(Unauthorized):
        await other.caller(cloud.token)


async def test_a_users_token_is_not_shown_to_another_user(cloud: Cloud) -> None:
    await cloud.new_user("ann", "red", "member")
    token = (await cloud.log_in("ann", PASSWORD, on("red"))).headers["X-Subject-Token"]
    answer = await cloud.ask("GET", "/v3/auth/tokens", token=token, **{"X-Subject-Token": cloud.token})
    assert answer.status_code == 403


async def test_an_expired_token_is_nobodys(cloud: Cloud) -> None:
    service = EmbeddedIdentity(cloud.database, KEYS, IdentitySettings(token_seconds=0))
    with pytest.raises(Unauthorized):
        await service.caller(await service.issue_token("admin", "admin"))


async def test_an_old_key_still_reads_tokens_and_a_foreign_one_does_not(cloud: Cloud) -> None:
    settings = IdentitySettings()
    rotated = EmbeddedIdentity(cloud.database, [Fernet.generate_key(), *KEYS], settings)
    assert (await rotated.caller(cloud.token)).user_name == "admin"
    with pytest.raises(Unauthorized):
        await EmbeddedIdentity(cloud.database, [Fernet.generate_key()], settings).caller(cloud.token)
    with pytest.raises(Unauthorized):
        await cloud.service.caller("nonsense-\u00fc")


def test_the_key_file_is_made_once_and_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "tokens.keys"
    keys = load_keys(path)
    assert load_keys(path) == keys
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["tokens.keys"]


async def test_bootstrap_leaves_what_is_there(cloud: Cloud) -> None:
    await cloud.service.bootstrap("another password")
    assert (await cloud.log_in("admin", PASSWORD)).status_code == 201
    assert len((await cloud.ask("GET", "/v3/projects")).json()["projects"]) == 2
