"""`kilonova placement`: the placement API alone, as its settings and command line say."""

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from kilonova import assembly
from kilonova.settings import KeystoneSettings, PlacementSettings, Settings, SettingsError, StateSettings
from kilonova.storage.sqlite import SqliteDatabase
from tests.storage.upstream import SMALL_CLOUD, on_sqlite

from .conftest import KILONOVA, SECONDS

NEWEST = {"openstack-api-version": "placement 1.39"}
NOBODY_ASKED = PlacementSettings(auth_strategy="noauth2")
Opened = Callable[[Settings], AbstractAsyncContextManager[httpx.AsyncClient]]


def kilonova(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command run to its end."""
    return subprocess.run([KILONOVA, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.fixture
def opened(sqlite: SqliteDatabase) -> Opened:
    """A client of placement alone with some settings, on an empty database."""

    @asynccontextmanager
    async def open_with(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
        alone = assembly.make_placement_alone(settings, sqlite)
        transport = httpx.ASGITransport(assembly.make_placement_site(alone))
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=NEWEST) as client:
            yield client
        await alone.identity.close()

    return open_with


def as_reader(project: str) -> dict[str, str]:
    """The headers of a reader of a project, where everybody is believed."""
    return {"x-auth-token": f"anna:{project}", "x-roles": "reader"}


async def test_a_policy_file_opens_what_is_closed_by_default(opened: Opened, tmp_path: Path):
    path = tmp_path / "policy.yaml"
    path.write_text('"placement:resource_providers:list": "role:reader or rule:admin_api"\n')

    async with opened(Settings(placement=NOBODY_ASKED)) as client:
        assert (await client.get("/resource_providers", headers=as_reader("p"))).status_code == 403
    settings = PlacementSettings(auth_strategy="noauth2", policy_file=str(path))
    async with opened(Settings(placement=settings)) as client:
        for prefix in ("", "/placement", "/own/placement"):
            assert (await client.get(f"{prefix}/resource_providers", headers=as_reader("p"))).status_code == 200
            assert (await client.get(f"{prefix}/traits", headers=as_reader("p"))).status_code == 403


@pytest.mark.parametrize(
    "rules", ["[not, a, map]", '"placement:traits:list": "rule:nowhere"', '"placement:usages": "role:a) or (role:b"', None]
)
async def test_a_policy_file_that_cannot_be_used_is_refused(opened: Opened, tmp_path: Path, rules: str | None):
    path = tmp_path / "policy.yaml"
    if rules is not None:
        path.write_text(rules)

    with pytest.raises(SettingsError, match="policy_file"):
        async with opened(Settings(placement=PlacementSettings(auth_strategy="noauth2", policy_file=str(path)))):
            pass


async def test_pages_of_allowed_origins_may_read_answers(opened: Opened):
    settings = PlacementSettings(auth_strategy="noauth2", cors_origins=("http://ours.test",))
    async with opened(Settings(placement=settings)) as client:
        told = {
            origin: (await client.get("/traits", headers={"x-auth-token": "admin", "origin": origin})).headers.get(
                "access-control-allow-origin"
            )
            for origin in ("http://ours.test", "http://other.test")
        }
        beside = await client.get("/healthz", headers={"origin": "http://ours.test"})

    assert "access-control-allow-origin" not in beside.headers
    assert told == {"http://ours.test": "http://ours.test", "http://other.test": None}


async def test_a_process_that_believes_everybody_says_so_at_its_start(sqlite: SqliteDatabase):
    with capture_logs() as lines:
        assembly.make_placement_alone(Settings(placement=NOBODY_ASKED), sqlite)

    assert [(line["log_level"], line["event"]) for line in lines] == [("warning", "placement.everybody_is_believed")]


async def test_our_own_tokens_are_known_by_default(opened: Opened, sqlite: SqliteDatabase, tmp_path: Path):
    settings = Settings(state=StateSettings(str(tmp_path)))
    identity = assembly.make_placement_alone(settings, sqlite).identity
    assert isinstance(identity, assembly.EmbeddedIdentity)
    await identity.bootstrap("secret")
    token = await identity.issue_token("admin", "admin")

    async with opened(settings) as client:
        assert (await client.get("/resource_providers", headers={"x-auth-token": token})).status_code == 200
        assert (await client.get("/resource_providers", headers={"x-auth-token": "admin"})).status_code == 401


async def test_a_keystone_that_is_away_is_503_and_a_stranger_is_told_where_to_log_in(opened: Opened):
    settings = Settings(
        placement=PlacementSettings(auth_strategy="keystone"), keystone=KeystoneSettings(url="http://127.0.0.1:1")
    )
    async with opened(settings) as client:
        away = await client.get("/resource_providers", headers={"x-auth-token": "t"})
        stranger = await client.get("/resource_providers")
        versions = await client.get("/")

    assert (away.status_code, stranger.status_code, versions.status_code) == (503, 401, 200)
    assert stranger.headers["www-authenticate"] == "Keystone uri='http://127.0.0.1:1'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[placement]\nauth_strategy = "noauth3"\n', "auth_strategy"),
        ('[placement]\nauth_strategy = "keystone"\n', "[keystone] url"),
        ('[placement]\npolicy_file = "PATH"\n', "[placement] policy_file"),
    ],
)
def test_settings_that_cannot_work_are_told_in_one_line(tmp_path: Path, text: str, told: str):
    path = tmp_path / "placement.toml"
    (tmp_path / "policy.yaml").write_text('"placement:usages": "role:reader\n')
    text = text.replace("PATH", str(tmp_path / "policy.yaml"))
    path.write_text(f'[state]\ndirectory = "{tmp_path}"\n[api]\nport = 0\n{text}')
    assert kilonova("db", "upgrade", "--config", str(path)).returncode == 0

    ended = kilonova("placement", "--config", str(path))

    assert ended.returncode == 2
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_database_without_a_schema_is_neither_served_nor_filled(tmp_path: Path):
    path = tmp_path / "placement.toml"
    path.write_text(f'[state]\ndirectory = "{tmp_path}"\n[api]\nport = 0\n[placement]\nauth_strategy = "noauth2"\n')
    address = on_sqlite(tmp_path, *SMALL_CLOUD)

    for arguments in (["placement", "--config", str(path)], ["placement", "import", "--config", str(path), "--from", address]):
        ended = kilonova(*arguments)
        assert ended.returncode == 2
        assert "kilonova db upgrade" in ended.stderr


def test_without_a_settings_file_there_is_nothing_to_serve():
    ended = kilonova("placement")

    assert ended.returncode == 2
    assert "--config" in ended.stderr


def test_a_takeover_prints_what_came_and_every_reason_where_it_is_refused(tmp_path: Path):
    path = tmp_path / "placement.toml"
    path.write_text(f'[state]\ndirectory = "{tmp_path}"\n')
    assert kilonova("db", "upgrade", "--config", str(path)).returncode == 0
    (tmp_path / "broken").mkdir()
    broken = on_sqlite(tmp_path / "broken", *SMALL_CLOUD, "DELETE FROM users", "DELETE FROM projects")

    refused = kilonova("placement", "import", "--config", str(path), "--from", broken)
    taken = kilonova("placement", "import", "--config", str(path), "--from", on_sqlite(tmp_path, *SMALL_CLOUD))

    assert refused.returncode == 2
    assert "consumers without a project: 2" in refused.stderr
    assert "consumers without a user: 2" in refused.stderr
    assert taken.returncode == 0
    assert taken.stdout == (
        "4 providers in 2 trees\n4 inventories\n3 traits of providers, 2 memberships in aggregates\n"
        "2 custom traits, 1 custom resource classes\n2 consumers with 5 allocations\n"
        "consumers that hold nothing, which are left out: 1\n"
    )
