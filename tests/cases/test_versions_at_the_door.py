"""What versions mean: the latest, those between the community's and ours, and ours (behaviour.md, section 0)."""

import pytest

from .cloud import Cloud


@pytest.mark.parametrize("face", ["compute", "placement"])
async def test_latest_means_the_communitys_newest(cloud: Cloud, face: str) -> None:
    door = cloud.admin if face == "compute" else cloud.placement
    path = "/servers" if face == "compute" else "/resource_providers"
    answer = await door.at("latest").get(path)
    assert answer.headers["openstack-api-version"] == f"{face} {door.version}"
    assert (await door.at("").get(path)).headers["openstack-api-version"] == f"{face} {'2.1' if face == 'compute' else '1.0'}"


@pytest.mark.parametrize(
    ("face", "version", "status", "served"),
    [
        ("compute", "2.0", 406, ""),
        ("compute", "2.105", 406, ""),
        ("compute", "2.1000", 406, ""),
        ("compute", "2.1001", 200, "2.1001"),
        ("compute", "2.1003", 200, "2.1003"),
        ("compute", "2.1004", 406, ""),
        ("compute", "3.1", 406, ""),
        ("compute", "two", 400, ""),
        ("placement", "1.40", 406, ""),
        ("placement", "1.1001", 200, "1.1001"),
        ("placement", "1.1002", 200, "1.1002"),
        ("placement", "1.1003", 406, ""),
        ("placement", "one", 400, ""),
        ("own compute", "2.105", 200, "2.104"),
        ("own compute", "2.999", 200, "2.104"),
        ("own compute", "2.1003", 200, "2.1003"),
        ("own compute", "latest", 200, "2.1003"),
        ("own placement", "1.40", 200, "1.39"),
        ("own placement", "1.999", 200, "1.39"),
        ("own placement", "latest", 200, "1.1002"),
    ],
)
async def test_what_is_asked_is_served_or_refused(cloud: Cloud, face: str, version: str, status: int, served: str) -> None:
    door = cloud.admin if face.endswith("compute") else cloud.placement
    door = door.own() if face.startswith("own") else door
    answer = await door.at(version).get("/servers" if face.endswith("compute") else "/resource_providers")
    assert answer.status_code == status
    if served:
        assert answer.headers["openstack-api-version"].split() == [door.service, served]


async def test_each_face_advertises_what_it_calls_latest(cloud: Cloud) -> None:
    for root, newest in (("/compute/v2.1/", "2.104"), ("/own/compute/v2.1/", "2.1003")):
        version = (await cloud.http.get(root)).json()["version"]
        assert (version["min_version"], version["version"]) == ("2.1", newest)
    for root, newest in (("/placement/", "1.39"), ("/own/placement/", "1.1002")):
        (version,) = (await cloud.http.get(root)).json()["versions"]
        assert (version["min_version"], version["max_version"]) == ("1.0", newest)


async def test_the_older_header_is_understood_and_answered(cloud: Cloud) -> None:
    headers = {"x-auth-token": cloud.kit.admin, "x-openstack-nova-api-version": "2.42"}
    answer = await cloud.http.get("/compute/v2.1/servers", headers=headers)
    assert answer.headers["x-openstack-nova-api-version"] == "2.42"
    assert answer.headers["openstack-api-version"] == "compute 2.42"
