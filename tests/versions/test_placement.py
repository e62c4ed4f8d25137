"""The Placement API at each of its versions: never a server's error, the right headers, and exactly the right keys."""

from collections.abc import Mapping
from typing import Any

import pytest

from ..cases.cloud import Cloud
from ..cases.ledger_words import claim
from . import keys
from .keys import PLACEMENT, Keys

CACHED_SINCE = 15
CONSUMER = "c0000000-0000-4000-8000-000000000001"


@pytest.fixture
async def uuid(cloud: Cloud) -> str:
    """The provider of h1, of which a consumer holds something."""
    found = str((await cloud.provider("h1"))["uuid"])
    assert (await claim(cloud.placement, CONSUMER, found, VCPU=1)).status_code == 204
    return found


async def answers(cloud: Cloud, path: str, first: int = 0) -> Mapping[int, Any]:
    """The bodies of a GET at every version from `first` on; before, the path must not be there."""
    found = {}
    for minor in PLACEMENT:
        answer = await cloud.placement.at(f"1.{minor}").get(path)
        headers = answer.headers
        assert headers["openstack-api-version"] == f"placement 1.{minor}"
        assert headers["vary"] == "openstack-api-version"
        assert headers["x-openstack-request-id"].startswith("req-")
        assert answer.status_code == (200 if minor >= first else 404), f"{path} at 1.{minor}: {answer.text}"
        if answer.status_code == 200:
            found[minor] = answer.json()
            cached = {"last-modified", "cache-control"} & set(headers)
            assert cached == ({"last-modified", "cache-control"} if minor >= CACHED_SINCE else set()), f"{path} at 1.{minor}"
    return found


def assert_keys(found: Mapping[int, Mapping[str, Any]], right: Keys) -> None:
    """At each version what was found has these keys, and no others."""
    assert {minor: sorted(thing) for minor, thing in found.items()} == {minor: sorted(right.at(minor)) for minor in found}


async def test_providers_show_their_relations_as_versions_bring_them(cloud: Cloud, uuid: str) -> None:
    for found in (
        await answers(cloud, f"/resource_providers/{uuid}"),
        {minor: body["resource_providers"][0] for minor, body in (await answers(cloud, "/resource_providers?name=h1")).items()},
    ):
        assert_keys(found, keys.PROVIDER)
        relations = {minor: {link["rel"]: 0 for link in provider["links"]} for minor, provider in found.items()}
        assert_keys(relations, keys.PROVIDER_RELATIONS)


async def test_what_a_provider_has_is_there_from_its_version_on(cloud: Cloud, uuid: str) -> None:
    one = f"/resource_providers/{uuid}"
    found = await answers(cloud, f"{one}/inventories")
    assert_keys(found, Keys("inventories resource_provider_generation"))
    assert_keys({minor: body["inventories"]["VCPU"] for minor, body in found.items()}, keys.INVENTORY)
    found = await answers(cloud, f"{one}/inventories/VCPU")
    assert_keys(found, Keys(f"{keys.INVENTORY.always} resource_provider_generation"))
    assert_keys(await answers(cloud, f"{one}/usages"), Keys("usages resource_provider_generation"))
    assert_keys(await answers(cloud, f"{one}/aggregates", first=1), keys.AGGREGATES_OF_PROVIDER)
    assert_keys(await answers(cloud, f"{one}/traits", first=6), Keys("traits resource_provider_generation"))
    found = await answers(cloud, f"{one}/allocations")
    assert_keys(found, Keys("allocations resource_provider_generation"))
    assert_keys({minor: body["allocations"][CONSUMER] for minor, body in found.items()}, keys.HOLDING_OF_PROVIDER)


async def test_names_are_there_from_their_version_on(cloud: Cloud) -> None:
    assert_keys(await answers(cloud, "/resource_classes", first=2), Keys("resource_classes"))
    assert_keys(await answers(cloud, "/resource_classes/VCPU", first=2), Keys("name links"))
    assert_keys(await answers(cloud, "/traits", first=6), Keys("traits"))
    for minor in PLACEMENT:
        answer = await cloud.placement.at(f"1.{minor}").get("/traits/HW_CPU_X86_AVX")
        assert answer.status_code == (204 if minor >= 6 else 404)


async def test_consumers_tell_more_with_each_version(cloud: Cloud, uuid: str) -> None:
    found = await answers(cloud, f"/allocations/{CONSUMER}")
    assert_keys(found, keys.CONSUMER)
    assert_keys({minor: body["allocations"][uuid] for minor, body in found.items()}, Keys("generation resources"))
    found = await answers(cloud, "/usages?project_id=p", first=9)
    assert {minor: body["usages"] for minor, body in found.items()} == {
        minor: {"VCPU": 1} if minor < 38 else {"FOREIGN": {"consumer_count": 1, "VCPU": 1}} for minor in range(9, 40)
    }


async def test_candidates_tell_more_with_each_version(cloud: Cloud) -> None:
    found = await answers(cloud, "/allocation_candidates?resources=VCPU:1", first=10)
    assert_keys(found, Keys("allocation_requests provider_summaries"))
    assert_keys({minor: body["allocation_requests"][0] for minor, body in found.items()}, keys.CANDIDATE)
    for minor, body in found.items():
        assert isinstance(body["allocation_requests"][0]["allocations"], list if minor < 12 else dict)
    summaries = {minor: next(iter(body["provider_summaries"].values())) for minor, body in found.items()}
    assert_keys(summaries, keys.SUMMARY)
    assert_keys({minor: summary["resources"] for minor, summary in summaries.items()}, keys.CLASSES_OF_SUMMARY)


async def test_a_new_provider_is_told_of_in_the_answer_from_1_20(cloud: Cloud) -> None:
    for minor in PLACEMENT:
        answer = await cloud.placement.at(f"1.{minor}").post("/resource_providers", {"name": f"at-{minor}"})
        assert answer.status_code == (201 if minor < 20 else 200)
        assert answer.headers["location"]
        assert bool(answer.content) == (minor >= 20)


async def test_the_version_document_needs_no_version(cloud: Cloud) -> None:
    for minor in PLACEMENT:
        (version,) = (await cloud.placement.at(f"1.{minor}").read("/"))["versions"]
        assert set(version) == {"id", "max_version", "min_version", "status", "links"}
