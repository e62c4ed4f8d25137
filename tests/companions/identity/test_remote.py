"""Callers known by a Keystone elsewhere: our own identity service, served over HTTP as a Keystone would be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from kilonova.cli import serving
from kilonova.companions.identity.embedded import EmbeddedIdentity
from kilonova.companions.identity.face import identity_face
from kilonova.companions.identity.remote import RemoteIdentity
from kilonova.domain.errors import Unauthorized, Unavailable
from kilonova.settings import ApiSettings, IdentitySettings, KeystoneSettings, SettingsError
from kilonova.storage.sqlite import SqliteDatabase
from tests.processes.cluster import free_port

from .cloud import KEYS, PASSWORD, Cloud, on

SECONDS = 10.0


@dataclass
class Keystone:
    """An identity service on a port of this machine; `asked` are the method and path of every request that it got."""

    face: Callable[..., Awaitable[None]]
    port: int = field(default_factory=free_port)
    asked: list[tuple[str, str]] = field(default_factory=list)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    """Requests wait until it is set."""

    def __post_init__(self) -> None:
        self.hold.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/identity"

    @property
    def questions(self) -> int:
        """How often somebody asked what a token means."""
        return sum(method == "GET" for method, _ in self.asked)

    @property
    def logins(self) -> int:
        return sum(method == "POST" for method, _ in self.asked)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append((scope["method"], scope["path"]))
        self.was_asked.set()
        await self.hold.wait()
        await self.face(scope, receive, send)

    async def start(self) -> None:
        self.server = serving.make_server(self, ApiSettings(shutdown_seconds=1))
        listener = serving.listen(ApiSettings(port=self.port))
        self.running = asyncio.create_task(self.server.serve(sockets=[listener]))

    async def stop(self) -> None:
        self.hold.set()
        self.server.should_exit = True
        await self.running


@dataclass
class Elsewhere:
    """A Keystone, its administrator's client, and our way to it."""

    keystone: Keystone
    cloud: Cloud
    remote: RemoteIdentity
    settings: KeystoneSettings

    async def token(self, name: str = "admin", scope: object = None) -> str:
        answer = await self.cloud.log_in(name, PASSWORD, scope or on("admin"))
        assert answer.status_code == 201, answer.text
        return answer.headers["x-subject-token"]


@pytest.fixture
async def elsewhere(sqlite: SqliteDatabase) -> AsyncIterator[Elsewhere]:
    identity = IdentitySettings()
    service = EmbeddedIdentity(sqlite, KEYS, identity)
    await service.bootstrap(PASSWORD)
    keystone = Keystone(identity_face(service, identity, "http://127.0.0.1"))
    await keystone.start()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{keystone.port}", timeout=SECONDS) as http:
        cloud = Cloud(sqlite, service, http, await service.issue_token("admin", "admin"))
        await cloud.new_user("placement", "services", "service")
        settings = KeystoneSettings(
            url=keystone.url, username="placement", password=PASSWORD, project_name="services", call_seconds=SECONDS
        )
        remote = RemoteIdentity(settings)
        keystone.asked.clear()
        yield Elsewhere(keystone, cloud, remote, settings)
        await remote.close()
    await keystone.stop()


async def test_a_token_of_a_project_is_its_user_with_the_roles_there(elsewhere: Elsewhere):
    user_id, project_id = await elsewhere.cloud.new_user("anna", "p1", "reader")

    caller = await elsewhere.remote.caller(await elsewhere.token("anna", on("p1")))

    assert (caller.user_id, caller.user_name) == (user_id, "anna")
    assert (caller.project_id, caller.project_name) == (project_id, "p1")
    assert (caller.roles, caller.domain_id, caller.system) == ({"reader"}, "default", False)


async def test_a_token_of_the_system_belongs_to_no_project(elsewhere: Elsewhere):
    caller = await elsewhere.remote.caller(await elsewhere.token(scope={"system": {"all": True}}))

    assert caller.system
    assert caller.project_id == ""
    assert "admin" in caller.roles


async def test_a_token_without_a_scope_has_no_roles(elsewhere: Elsewhere):
    caller = await elsewhere.remote.caller(await elsewhere.token(scope="unscoped"))

    assert (caller.user_name, caller.project_id, caller.roles) == ("admin", "", frozenset())


@pytest.mark.parametrize("token", ["nonsense", "with a space", "with\nlines", "ünicode", "x" * 5000])
async def test_what_is_no_token_is_unauthorized(elsewhere: Elsewhere, token: str):
    with pytest.raises(Unauthorized):
        await elsewhere.remote.caller(token)


async def test_an_answer_is_remembered_and_the_service_logs_in_once(elsewhere: Elsewhere):
    token, other = await elsewhere.token(), await elsewhere.token()
    elsewhere.keystone.asked.clear()

    for _ in range(3):
        await elsewhere.remote.caller(token)
        await elsewhere.remote.caller(other)

    assert (elsewhere.keystone.logins, elsewhere.keystone.questions) == (1, 2)


async def test_a_refusal_is_remembered_too(elsewhere: Elsewhere):
    for _ in range(3):
        with pytest.raises(Unauthorized):
            await elsewhere.remote.caller("nonsense")

    assert elsewhere.keystone.questions == 1


async def test_calls_that_come_together_are_one_question_and_survive_the_first_one_s_end(elsewhere: Elsewhere):
    token = await elsewhere.token()
    await elsewhere.remote.caller(await elsewhere.token())
    elsewhere.keystone.asked.clear()
    elsewhere.keystone.was_asked.clear()
    elsewhere.keystone.hold.clear()
    calls = [asyncio.create_task(elsewhere.remote.caller(token)) for _ in range(20)]
    await asyncio.wait_for(elsewhere.keystone.was_asked.wait(), SECONDS)

    calls[0].cancel()
    elsewhere.keystone.hold.set()
    found = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(found[0], asyncio.CancelledError)
    assert {caller.user_name for caller in found[1:]} == {"admin"}
    assert elsewhere.keystone.questions == 1


async def test_without_a_cache_a_revoked_token_is_refused_at_once(elsewhere: Elsewhere):
    remote = RemoteIdentity(replace(elsewhere.settings, cache_seconds=0.0))
    token = await elsewhere.token()
    await remote.caller(token)

    revoked = await elsewhere.cloud.ask("DELETE", "/v3/auth/tokens", **{"X-Subject-Token": token})
    assert revoked.status_code == 204

    with pytest.raises(Unauthorized):
        await remote.caller(token)
    await remote.close()


async def test_no_more_tokens_are_remembered_than_allowed(elsewhere: Elsewhere):
    remote = RemoteIdentity(replace(elsewhere.settings, cached_tokens=2))
    tokens = [await elsewhere.token() for _ in range(3)]
    for token in tokens:
        await remote.caller(token)
    elsewhere.keystone.asked.clear()

    await remote.caller(tokens[2])
    await remote.caller(tokens[1])
    assert elsewhere.keystone.questions == 0
    await remote.caller(tokens[0])
    assert elsewhere.keystone.questions == 1
    await remote.close()


async def test_a_service_token_that_was_revoked_is_replaced(elsewhere: Elsewhere):
    await elsewhere.remote.caller(await elsewhere.token())
    user = (await elsewhere.cloud.ask("GET", "/v3/users?name=placement")).json()["users"][0]["id"]
    # A new password ends every token of the user; the same one again keeps our settings right.
    for password in ("another one", PASSWORD):
        changed = await elsewhere.cloud.ask("PATCH", f"/v3/users/{user}", {"user": {"password": password}})
        assert changed.status_code == 200, changed.text
    token = await elsewhere.token()
    elsewhere.keystone.asked.clear()

    assert (await elsewhere.remote.caller(token)).user_name == "admin"
    assert (elsewhere.keystone.logins, elsewhere.keystone.questions) == (1, 2)


async def test_a_wrong_password_of_ours_is_said_and_not_tried_again_at_once(elsewhere: Elsewhere):
    remote = RemoteIdentity(replace(elsewhere.settings, password="wrong"))
    token = await elsewhere.token()
    elsewhere.keystone.asked.clear()

    for _ in range(3):
        with pytest.raises(Unavailable, match=r"\[keystone\]"):
            await remote.caller(token)

    assert elsewhere.keystone.logins == 1
    await remote.close()


async def test_a_service_user_that_may_not_look_at_tokens_is_said(elsewhere: Elsewhere):
    await elsewhere.cloud.new_user("nobody", "p2", "reader")
    remote = RemoteIdentity(replace(elsewhere.settings, username="nobody", project_name="p2"))
    token = await elsewhere.token()

    with pytest.raises(Unavailable, match="role service or admin"):
        await remote.caller(token)
    await remote.close()


async def test_a_keystone_that_does_not_answer_costs_no_more_than_the_limit(elsewhere: Elsewhere):
    remote = RemoteIdentity(replace(elsewhere.settings, call_seconds=0.2))
    token = await elsewhere.token()
    elsewhere.keystone.hold.clear()

    async with asyncio.timeout(SECONDS):
        with pytest.raises(Unavailable):
            await remote.caller(token)

    elsewhere.keystone.hold.set()
    await remote.close()


async def test_a_keystone_that_went_away_is_unavailable_and_known_tokens_go_on(elsewhere: Elsewhere):
    known, unknown = await elsewhere.token(), await elsewhere.token()
    await elsewhere.remote.caller(known)

    await elsewhere.keystone.stop()

    assert (await elsewhere.remote.caller(known)).user_name == "admin"
    with pytest.raises(Unavailable):
        await elsewhere.remote.caller(unknown)
    await elsewhere.keystone.start()
    assert (await elsewhere.remote.caller(unknown)).user_name == "admin"


async def test_an_answer_that_is_no_token_is_unavailable(elsewhere: Elsewhere):
    async def other(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"x-subject-token", b"t")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": b"<html>a web site</html>"})

    elsewhere.keystone.face = other

    with pytest.raises(Unavailable, match="no token document"):
        await elsewhere.remote.caller("t")


@pytest.mark.parametrize("url", ["", "keystone:5000", "ftp://keystone", "http://", "http:///v3", "http://keystone:port"])
async def test_settings_without_an_address_are_refused(url: str):
    with pytest.raises(SettingsError, match="url"):
        RemoteIdentity(KeystoneSettings(url=url))


async def test_a_file_of_authorities_that_is_not_there_is_refused():
    with pytest.raises(SettingsError, match="ca_file"):
        RemoteIdentity(KeystoneSettings(url="https://127.0.0.1", ca_file="/nowhere.pem"))
