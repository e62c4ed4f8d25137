"""The Compute API at each of its versions: never a server's error, the right headers, and exactly the right keys."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from ..cases.cloud import Cloud
from ..cases.doors import Door
from . import keys
from .keys import COMPUTE, Keys

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIHl2f2gPbzvpiJf8kD3yXvZ9rmGBq0Kq3sbW3rWf1Yb me"


def check_headers(answer: httpx.Response, minor: int) -> None:
    """What every answer says of itself."""
    headers = answer.headers
    assert headers["openstack-api-version"] == f"compute 2.{minor}"
    assert headers["x-openstack-nova-api-version"] == f"2.{minor}"
    assert headers["vary"] == "OpenStack-API-Version, X-OpenStack-Nova-API-Version"
    assert headers["x-compute-request-id"] == headers["x-openstack-request-id"]
    assert headers["x-compute-request-id"].startswith("req-")


async def answers(door: Door, path: str, first: int = 1, last: int = 104) -> Mapping[int, Any]:
    """The bodies of a GET at every version from `first` to `last`; before and after, the path must not be there."""
    found = {}
    for minor in COMPUTE:
        answer = await door.at(f"2.{minor}").get(path)
        check_headers(answer, minor)
        assert answer.status_code == (200 if first <= minor <= last else 404), f"{path} at 2.{minor}: {answer.text}"
        if answer.status_code == 200:
            found[minor] = answer.json()
    return found


def assert_keys(found: Mapping[int, Mapping[str, Any]], *parts: Keys) -> None:
    """At each version what was found has the keys of all parts, and no others."""
    wrong = {}
    for minor, thing in found.items():
        right = set().union(*(part.at(minor) for part in parts))
        if set(thing) != right:
            wrong[f"2.{minor}"] = {"missing": sorted(right - set(thing)), "surplus": sorted(set(thing) - right)}
    assert not wrong


def each(found: Mapping[int, Any], *path: str | int) -> dict[int, Any]:
    """What stands in each body under these keys and positions, one in the other."""
    picked = {}
    for minor, body in found.items():
        for step in path:
            body = body[step]
        picked[minor] = body
    return picked


def asked(cloud: Cloud, minor: int) -> dict[str, Any]:
    """A server with whatever its version takes."""
    more: Iterable[tuple[int, dict[str, Any]]] = (
        (1, {"metadata": {"k": "v"}, "min_count": 1, "config_drive": True}),
        (19, {"description": "d"}),
        (37, {"networks": "none"}),
        (52, {"tags": ["t"]}),
        (90, {"hostname": "host"}),
    )
    body = {"name": f"at-{minor}", "imageRef": cloud.kit.images[0], "flavorRef": "f1"}
    for since, fields in more:
        body |= fields if minor >= since else {}
    return {"server": body}


async def test_a_server_is_made_and_shown_at_every_version(cloud: Cloud) -> None:
    made = {}
    for minor in COMPUTE:
        answer = await cloud.user.at(f"2.{minor}").post("/servers", asked(cloud, minor))
        check_headers(answer, minor)
        assert answer.status_code == 202, f"2.{minor}: {answer.text}"
        made[minor] = answer.json()["server"]
        assert answer.headers["location"].endswith(f"/servers/{made[minor]['id']}")
    assert_keys(made, keys.SERVER_CREATED)
    shown, for_admin = {}, {}
    for minor, server in made.items():
        await cloud.ends(server["id"], "ACTIVE")
        path = f"/servers/{server['id']}"
        shown[minor] = (await cloud.user.at(f"2.{minor}").read(path))["server"]
        for_admin[minor] = (await cloud.admin.at(f"2.{minor}").read(path))["server"]
    assert_keys(shown, keys.SERVER_OF_MEMBER, keys.SERVER_SHOWN)
    assert_keys(for_admin, keys.SERVER_OF_MEMBER, keys.SERVER_SHOWN, keys.SERVER_FOR_ADMIN)
    await asyncio.gather(*(cloud.user.delete(f"/servers/{server['id']}") for server in made.values()))


async def test_servers_are_listed_at_every_version(cloud: Cloud) -> None:
    await cloud.create()
    found = await answers(cloud.user, "/servers")
    assert_keys(each(found, "servers", 0), Keys("id name links"))
    found = each(await answers(cloud.user, "/servers/detail"), "servers", 0)
    assert_keys(found, keys.SERVER_OF_MEMBER)
    assert_keys(each(found, "flavor"), keys.FLAVOR_OF_SERVER)
    assert_keys(each(found, "image"), keys.IMAGE_OF_SERVER)
    found = await answers(cloud.admin, "/servers/detail?all_tenants=1")
    assert_keys(each(found, "servers", 0), keys.SERVER_OF_MEMBER, keys.SERVER_FOR_ADMIN)


async def test_our_own_versions_show_what_the_newest_of_the_community_shows(cloud: Cloud) -> None:
    path = f"/servers/{await cloud.create()}"
    newest = await cloud.admin.read(path)
    for door in (cloud.admin, cloud.admin.own()):
        for version in ("2.1001", "2.1002", "2.1003"):
            shown = (await door.at(version).read(path))["server"]
            assert {**shown, "links": [], "flavor": {}, "image": {}} == {
                **newest["server"],
                "links": [],
                "flavor": {},
                "image": {},
            }


async def test_a_failed_server_shows_its_fault_and_no_progress_at_every_version(cloud: Cloud) -> None:
    await cloud.close_hosts()
    server = await cloud.accept()
    await cloud.ends(server, "ERROR")
    found = each(await answers(cloud.user, f"/servers/{server}"), "server")
    base = Keys(keys.SERVER_OF_MEMBER.always.replace("progress", "fault"), keys.SERVER_OF_MEMBER.since)
    assert_keys(found, base, keys.SERVER_SHOWN)
    assert_keys(each(found, "fault"), Keys("code created message"))


async def test_metadata_and_tags_of_a_server_are_there_at_their_versions(cloud: Cloud) -> None:
    server = await cloud.create(metadata={"k": "v"}, tags=["t"])
    found = await answers(cloud.user, f"/servers/{server}/metadata")
    assert all(body == {"metadata": {"k": "v"}} for body in found.values())
    assert set((await answers(cloud.user, f"/servers/{server}/metadata/k")).keys()) == set(COMPUTE)
    found = await answers(cloud.user, f"/servers/{server}/tags", first=26)
    assert all(body == {"tags": ["t"]} for body in found.values())


async def test_actions_and_events_are_shown_at_every_version(cloud: Cloud) -> None:
    server = await cloud.create()
    path = f"/servers/{server}/os-instance-actions"
    found = each(await answers(cloud.user, path), "instanceActions", 0)
    assert_keys(found, keys.ACTION_LISTED)
    one = f"{path}/{found[1]['request_id']}"
    for door, action, event in (
        (cloud.user, keys.ACTION_OF_MEMBER, keys.EVENT_OF_MEMBER),
        (cloud.admin, keys.ACTION_OF_ADMIN, keys.EVENT_OF_ADMIN),
    ):
        shown = each(await answers(door, one), "instanceAction")
        assert_keys(shown, action)
        told = {minor: entry for minor, entry in shown.items() if "events" in entry}
        assert_keys(each(told, "events", 0), event)


async def test_flavors_are_listed_at_every_version(cloud: Cloud) -> None:
    assert_keys(each(await answers(cloud.user, "/flavors"), "flavors", 0), keys.FLAVOR_LISTED)
    found = each(await answers(cloud.admin, "/flavors/detail"), "flavors", 0)
    assert_keys(found, keys.FLAVOR)
    assert {minor: flavor["swap"] for minor, flavor in found.items()} == {minor: "" if minor < 75 else 0 for minor in COMPUTE}
    assert_keys(each(await answers(cloud.admin, "/flavors/f1"), "flavor"), keys.FLAVOR)


async def test_keypairs_are_made_and_listed_at_every_version(cloud: Cloud) -> None:
    made = {}
    for minor in COMPUTE:
        body = {"keypair": {"name": f"key-{minor}", "public_key": KEY}}
        answer = await cloud.user.at(f"2.{minor}").post("/os-keypairs", body)
        check_headers(answer, minor)
        assert answer.status_code == (200 if minor < 2 else 201), answer.text
        made[minor] = answer.json()["keypair"]
    assert_keys(made, keys.KEYPAIR_CREATED)
    assert_keys(each(await answers(cloud.user, "/os-keypairs"), "keypairs", 0, "keypair"), keys.KEYPAIR_LISTED)
    assert_keys(each(await answers(cloud.user, "/os-keypairs/key-1"), "keypair"), keys.KEYPAIR)
    for minor in COMPUTE:
        answer = await cloud.user.at(f"2.{minor}").delete(f"/os-keypairs/key-{minor}")
        assert answer.status_code == (202 if minor < 2 else 204)


async def test_a_key_is_made_by_the_cloud_until_2_91(cloud: Cloud) -> None:
    for minor, status in ((1, 200), (2, 201), (91, 201), (92, 400), (104, 400)):
        answer = await cloud.user.at(f"2.{minor}").post("/os-keypairs", {"keypair": {"name": f"key-{minor}"}})
        assert answer.status_code == status
        assert status == 400 or set(answer.json()["keypair"]) == keys.KEYPAIR_CREATED.at(minor) | {"private_key"}


async def test_server_groups_are_made_and_shown_at_every_version(cloud: Cloud) -> None:
    made = {}
    for minor in COMPUTE:
        policy = {"policies": ["affinity"]} if minor < 64 else {"policy": "affinity"}
        answer = await cloud.user.at(f"2.{minor}").post("/os-server-groups", {"server_group": {"name": "g", **policy}})
        check_headers(answer, minor)
        assert answer.status_code == 200, f"2.{minor}: {answer.text}"
        made[minor] = answer.json()["server_group"]
    assert_keys(made, keys.SERVER_GROUP)
    path = f"/os-server-groups/{made[1]['id']}"
    assert_keys(each(await answers(cloud.user, path), "server_group"), keys.SERVER_GROUP)
    found = await answers(cloud.user, "/os-server-groups?limit=1")
    assert_keys(each(found, "server_groups", 0), keys.SERVER_GROUP)


async def test_aggregates_and_zones_are_shown_at_every_version(cloud: Cloud) -> None:
    number = await cloud.zone("az1", "h1")
    assert_keys(each(await answers(cloud.admin, "/os-aggregates"), "aggregates", 0), keys.AGGREGATE)
    assert_keys(each(await answers(cloud.admin, f"/os-aggregates/{number}"), "aggregate"), keys.AGGREGATE)
    for door, path in ((cloud.user, ""), (cloud.admin, "/detail")):
        found = await answers(door, f"/os-availability-zone{path}")
        assert_keys(each(found, "availabilityZoneInfo", 0), keys.ZONE)


async def test_services_are_named_by_number_and_then_by_uuid(cloud: Cloud) -> None:
    found = each(await answers(cloud.admin, "/os-services?host=h1"), "services", 0)
    assert_keys(found, keys.SERVICE)
    assert {minor: type(service["id"]) for minor, service in found.items()} == {
        minor: int if minor < 53 else str for minor in COMPUTE
    }


async def test_hypervisors_are_shown_at_every_version(cloud: Cloud) -> None:
    assert_keys(each(await answers(cloud.admin, "/os-hypervisors"), "hypervisors", 0), keys.HYPERVISOR_LISTED)
    found = each(await answers(cloud.admin, "/os-hypervisors/detail"), "hypervisors", 0)
    assert_keys(found, keys.HYPERVISOR)
    assert_keys(each(found, "service"), Keys("id host disabled_reason"))
    for minor, hypervisor in found.items():
        assert isinstance(hypervisor["id"], int if minor < 53 else str)
        assert minor > 87 or isinstance(hypervisor["cpu_info"], str if minor < 28 else dict)
        one = await cloud.admin.at(f"2.{minor}").read(f"/os-hypervisors/{hypervisor['id']}")
        assert one["hypervisor"] == hypervisor
    await answers(cloud.admin, "/os-hypervisors/statistics", last=87)
    await answers(cloud.admin, "/os-hypervisors/h/search", last=52)
    await answers(cloud.admin, "/os-hypervisors/h/servers", last=52)


async def test_limits_and_quotas_are_shown_at_every_version(cloud: Cloud) -> None:
    found = await answers(cloud.user, "/limits")
    assert_keys(each(found, "limits"), Keys("absolute rate"))
    assert_keys(each(found, "limits", "absolute"), keys.LIMITS)
    path = f"/os-quota-sets/{cloud.kit.project}"
    assert_keys(each(await answers(cloud.user, path), "quota_set"), keys.QUOTA_SET)
    detail = each(await answers(cloud.user, f"{path}/detail"), "quota_set")
    assert_keys(detail, keys.QUOTA_SET)
    assert_keys(each(detail, "cores"), Keys("limit in_use reserved"))
    assert_keys(each(await answers(cloud.user, f"{path}/defaults"), "quota_set"), keys.QUOTA_SET)
